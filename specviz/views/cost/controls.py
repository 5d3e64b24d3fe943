"""The Cost page's controls: where requests/h come from, hardware and price, traffic, training."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from specviz.analysis.benchmark.disturbance import disturbed_text
from specviz.analysis.benchmark.informative import Need
from specviz.analysis.cost.answer import Question
from specviz.analysis.cost.basis import (
    Basis,
    Way,
    mean_tokens_of_the_mix,
    measured,
    published_by_concurrency,
    published_cost,
    published_training,
    typed,
)
from specviz.analysis.cost.payback import Training
from specviz.analysis.cost.prices import OWN_MACHINE, GpuPrice, gpu_prices, list_price
from specviz.errors import UsageError
from specviz.store import Store
from specviz.store.benchmarks.rows import BenchmarkRow
from specviz.views.cost import state
from specviz.views.cost.case import Case, Unpriced
from specviz.views.shared.benchmark.choice import Offered, choose_benchmark, offered
from specviz.views.shared.benchmark.results import open_results
from specviz.views.shared.text import escaped
from specviz.views.shared.url_controls import begin_with, bound, keep_among, kept, write

TRAFFIC = 50_000
UPDATES = 4.0
DOLLARS, GPU_HOURS = "$", "GPU hours"


def choose_case(store: Store) -> Case | Unpriced:
    """Draws the controls. Raises UsageError where they do not make a case, with what to do."""
    stored = offered(store, Need.LOADS)
    begin_with(state.SOURCE, state.SOURCES, state.MEASURED if stored.first else state.TABLE)
    source = st.selectbox("Requests/h", state.SOURCES, **kept(state.SOURCE))
    write(state.SOURCE, source)
    row = None
    try:
        if source == state.MEASURED:
            row = _benchmark(stored)
        else:
            write(state.BENCHMARK, None)
        basis = _basis(store, source, row)
        way = _technique(basis)
        at = _concurrency(basis, way)
    except UsageError:
        _circumstances("", row)  # still there, with what was typed into them
        raise
    gpu, usd_per_gpu_hour, gpus, traffic, training = _circumstances(way.method, row)
    if usd_per_gpu_hour is None and row is not None:
        return Unpriced(basis, way, at, row.hardware or "unknown hardware")
    if usd_per_gpu_hour is None:
        raise UsageError("Type what an hour of one GPU costs: no list price is shipped for it.")
    # 3.26 * 4 is 13.04, not the 13.040000000000001 that floats may make of a product
    usd_per_hour = round(usd_per_gpu_hour * gpus, 9)
    question = Question(usd_per_hour, basis.baseline.served[at], way.served[at], traffic, training)
    place = None
    if row is not None and gpu not in (OWN_MACHINE, _own(row).gpu):
        place = (
            f"Measured on {row.hardware or 'unknown hardware'}: the price of {gpus} × {gpu} does "
            "not apply unless that is what it is."
        )
    curve = basis if source != state.TABLE else published_by_concurrency(mean_tokens_of_the_mix())
    disturbance = None if row is None else disturbed_text(open_results(store, row).results.cells)
    return Case(basis, way, at, question, curve, place, disturbance)


def _circumstances(
    method: str, row: BenchmarkRow | None
) -> tuple[str, float | None, int, float, Training]:
    """GPU, the price of its hour, how many; requests per day; what training costs."""
    gpu, usd_per_gpu_hour, gpus = _hardware(row)
    traffic = st.number_input(
        "Requests per day", min_value=1, value=TRAFFIC, step=10_000, **bound(state.TRAFFIC)
    )
    return gpu, usd_per_gpu_hour, gpus, float(traffic), _training(method, usd_per_gpu_hour)


def _benchmark(stored: Offered) -> BenchmarkRow:
    if stored.first is None:
        raise UsageError(
            "No benchmark is stored yet: start one on the Benchmark page, or choose a published "
            "source."
        )
    return choose_benchmark(stored, state.BENCHMARK)


def _basis(store: Store, source: str, row: BenchmarkRow | None) -> Basis:
    if source == state.TABLE:
        return published_cost()
    if source == state.BY_CONCURRENCY:
        return published_by_concurrency(_tokens(mean_tokens_of_the_mix()) or 0.0)
    if row is None:
        baseline = _rate("Requests/h without", 3200.0, state.RATE_BASELINE)
        method = _rate("Requests/h with speculation", 6400.0, state.RATE_METHOD)
        return typed(baseline, method, _tokens(None))
    bases = {basis.title: basis for basis in measured(open_results(store, row).results)}
    if not bases:
        raise UsageError(
            "This benchmark has no baseline and technique at the same fixed concurrency: measure a "
            "plan with a baseline arm."
        )
    keep_among(state.AGAINST, [*bases])
    if len(bases) == 1:
        return next(iter(bases.values()))
    return bases[st.selectbox("Compared with", [*bases], **bound(state.AGAINST))]


def _technique(basis: Basis) -> Way:
    names = [way.name for way in basis.techniques]
    keep_among(state.TECHNIQUE, names)
    first = names.index(basis.cheapest.name)
    if len(names) == 1:
        return basis.techniques[0]
    name = st.selectbox("Technique", names, index=first, **bound(state.TECHNIQUE))
    return basis.technique(name)


def _concurrency(basis: Basis, way: Way) -> int | None:
    offered = basis.concurrencies(way)
    if not offered:
        raise UsageError(
            f"{way.name} and its baseline were not measured at the same concurrency: choose "
            "another technique."
        )
    if len(offered) == 1:
        return offered[0]
    names = [str(at) for at in offered]
    keep_among(state.CONCURRENCY, names)
    first = names.index("8") if "8" in names else 0
    chosen = st.selectbox("Concurrency", names, index=first, **bound(state.CONCURRENCY))
    return offered[names.index(chosen)]


def _own(row: BenchmarkRow) -> GpuPrice:
    """The price of what was measured: a list price of its GPUs, with as many as it had, else the
    machine itself, which has none."""
    if (found := list_price(row.hardware)) is not None:
        offer, gpus = found
        return replace(offer, gpus=gpus)
    return next(offer for offer in gpu_prices() if offer.gpu == OWN_MACHINE)


def _hardware(row: BenchmarkRow | None) -> tuple[str, float | None, int]:
    """The GPU, the price of its hour (None: not typed yet), how many. What was measured begins
    with its own hardware."""
    offers = gpu_prices()
    key, own = state.GPU, offers[0]
    if row is not None:
        key, own = state.GPU_MEASURED, _own(row)
        if own.gpu != OWN_MACHINE:
            key = state.key_of(key, own.title)
    titles = [offer.title for offer in offers]
    title = st.selectbox("GPU and offer", titles, index=titles.index(own.title), **bound(key))
    offer = own if title == own.title else state.price_of(title)
    each = "machine" if offer.gpu == OWN_MACHINE else "GPU"
    left, right = st.columns(2)
    price = left.number_input(
        f"$ per {each} hour",
        min_value=0.0,
        value=offer.usd_per_gpu_hour,
        step=0.1,
        format="%.4g",
        placeholder="type it",
        **bound(state.key_of(state.PRICE, title)),
    )
    of = title if offer.gpus == state.price_of(title).gpus else f"{title} {offer.gpus}"
    gpus = right.number_input(
        "GPUs" if each == "GPU" else "Machines",
        min_value=1,
        value=offer.gpus,
        step=1,
        **bound(state.key_of(state.GPUS, of)),
    )
    details = [offer.note, f"read {offer.read_on}" if offer.read_on else "", offer.source]
    st.caption(escaped("; ".join(part for part in details if part)))
    return offer.gpu, price, int(gpus)


def _training(method: str, usd_per_gpu_hour: float | None) -> Training:
    usd, retrains = published_training(method)
    own = method or "typed"
    by = st.segmented_control(
        "Training given as", [DOLLARS, GPU_HOURS], default=DOLLARS, required=True,
        **bound(state.TRAINING_BY),
    )  # fmt: skip
    if by == GPU_HOURS:
        hours = st.number_input(
            "GPU hours of one training", min_value=0.0, value=12.0, **bound(state.HOURS)
        )
        cost = float(hours) * (usd_per_gpu_hour or 0.0)
    else:
        cost = float(
            st.number_input(
                "Cost of one training, $", min_value=0.0, value=usd, step=10.0,
                format="%.6g", **bound(state.key_of(state.TRAINING, own)),
            )
        )  # fmt: skip
    updates = st.number_input(
        "Target updates per year", min_value=0.0, value=UPDATES, step=1.0, format="%.4g",
        **bound(state.UPDATES),
    )  # fmt: skip
    again = st.toggle(
        "Trained again at every update",
        value=retrains,
        **bound(state.key_of(state.RETRAINS, own)),
    )
    return Training(cost, float(updates), bool(again))


def _rate(label: str, value: float, key: str) -> float:
    return float(st.number_input(label, min_value=0.0, value=value, step=100.0, **bound(key)))


def _tokens(value: float | None) -> float | None:
    tokens = st.number_input(
        "Output tokens per request",
        min_value=1.0,
        value=value,
        step=10.0,
        format="%.4g",
        placeholder="not known",
        help="211: the middle of the expected lengths of the published prompts.",
        **bound(state.TOKENS),
    )
    return None if tokens is None else float(tokens)
