"""What the Cost page remembers: every control under a key that is its parameter in the URL.

Most are bound by Streamlit, which leaves a default out of the URL. Where requests/h come from and
which benchmark have no default that is the same everywhere: they are always in it.
"""

from __future__ import annotations

import re

from specviz.analysis.cost.prices import GpuPrice, gpu_prices

TABLE, BY_CONCURRENCY = "published: cost table", "published: by concurrency"
MEASURED, TYPED = "measured here", "typed"
SOURCES = (TABLE, BY_CONCURRENCY, MEASURED, TYPED)

SOURCE = "cost_source"
BENCHMARK = "cost_benchmark"
AGAINST = "cost_against"
TECHNIQUE = "cost_technique"
CONCURRENCY = "cost_concurrency"
GPU = "cost_gpu"
GPU_MEASURED = "cost_gpu_measured"
"""Of what was measured on hardware without a list price; with one, its name follows."""
GPUS = "cost_gpus"
PRICE = "cost_price"
TRAFFIC = "cost_traffic"
TRAINING_BY = "cost_training_by"
TRAINING = "cost_training"
HOURS = "cost_training_hours"
RETRAINS = "cost_retrains"
UPDATES = "cost_updates"
TOKENS = "cost_tokens"
RATE_BASELINE, RATE_METHOD = "cost_rate_baseline", "cost_rate_method"
SECTION = "cost_section"
SPAN = "cost_span"


def price_of(title: str) -> GpuPrice:
    """The offer of that title."""
    return next(offer for offer in gpu_prices() if offer.title == title)


def key_of(key: str, of: str) -> str:
    """A field with a separate default, and so a key, for each offer and method."""
    return f"{key}_{re.sub('[^a-z0-9]+', '-', of.lower()).strip('-')}"
