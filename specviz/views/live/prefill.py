"""A stored run put back into the Live page's controls."""

from __future__ import annotations

from collections.abc import Sequence

from specviz.config import EngineKind, RunConfig, Sampling
from specviz.views.runs.rerun import asked
from specviz.views.shared.arm_choice import (
    ACCEPTANCES,
    ASK,
    DTYPES,
    SHAPES,
    ArmChoice,
    Place,
    usual_shape,
)

LONGEST, LARGEST_SEED, LARGEST_TOP_K = 4096, 2**31 - 1, 1000
"""What Live's fields take."""

USUAL_SEED = 7
USUAL = Sampling(seed=USUAL_SEED)
"""What they begin with."""


def arm_choice(config: RunConfig) -> ArmChoice:
    """The controls of an arm that come nearest to the configuration."""
    wanted = asked(config)
    method = wanted.method.value if wanted.method else ASK
    options = wanted.options
    return ArmChoice(
        place=_place(wanted),
        method=method,
        k=wanted.k or ArmChoice().k,
        url=wanted.server_url or "",
        shape=_among(options.get("shape"), SHAPES, usual_shape(method)),
        acceptance=_among(options.get("acceptance"), ACCEPTANCES, ACCEPTANCES[0]),
        dtype=_among(options.get("dtype"), DTYPES, DTYPES[0]),
        draft=wanted.draft or "",
    )


def live_sampling(sampling: Sampling) -> Sampling:
    """The sampling that Live's fields can be set to."""
    seed = sampling.seed if sampling.seed is not None else USUAL_SEED
    return Sampling(
        temperature=sampling.temperature,
        top_p=max(0.01, sampling.top_p),
        top_k=min(sampling.top_k, LARGEST_TOP_K),
        max_tokens=min(sampling.max_tokens, LONGEST),
        seed=seed if 0 <= seed <= LARGEST_SEED else USUAL_SEED,
    )


def model_of(configs: Sequence[RunConfig]) -> str | None:
    """The model of the first arm that opens one, None for the default; a server has its own."""
    wanted = (asked(config) for config in configs)
    return next((one.model for one in wanted if one.server_url is None), None)


def on_live(config: RunConfig, model: str | None) -> RunConfig:
    """The configuration that Live would ask for with a model in its field."""
    return arm_choice(config).config(live_sampling(config.sampling), model)


def _place(wanted: RunConfig) -> Place:
    if wanted.engine is EngineKind.EMBEDDED:
        return Place.EMBEDDED
    started = Place.LLAMA_CPP if wanted.engine is EngineKind.LLAMA_CPP else Place.VLLM
    return Place.URL if wanted.server_url else started


def _among(value: str | None, offered: Sequence[str], usual: str) -> str:
    return value if value is not None and value in offered else usual
