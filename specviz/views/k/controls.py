"""The K page's controls: method, place of measurement, formula, memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from specviz.analysis.benchmark.families import Family, families
from specviz.analysis.benchmark.informative import Need
from specviz.analysis.k.answers import step_ms
from specviz.store import Store
from specviz.sweep.curves import Place
from specviz.views.k import state
from specviz.views.k.chosen import Chosen
from specviz.views.shared.benchmark.choice import choose_benchmark, offered
from specviz.views.shared.benchmark.results import Opened, open_results, temperatures
from specviz.views.shared.sample import offer_sample
from specviz.views.shared.url_controls import bound, keep_among

ALL = "all prompts"


@dataclass(frozen=True, slots=True)
class Asked:
    """What the controls say. `chosen` is None where no stored benchmark has a method with a K;
    `alpha` and `cost` are the formula's; `memory_gb` None: no limit."""

    chosen: Chosen | None
    place: Place
    alpha: float
    cost: float
    memory_gb: float | None


def ask(store: Store) -> Asked:
    """Draws the controls. Raises StoreError."""
    chosen = _chosen(store)
    place = _place(chosen) if chosen else Place()
    if chosen:
        _follow(chosen, place)
    st.markdown("**Formula**")
    state.begin()
    alpha = st.slider("α, acceptance per token", 0.0, 1.0, step=0.01, **bound(state.ALPHA))
    cost = st.slider(
        "c, a draft token in plain steps", 0.0, 1.0, step=0.01, **bound(state.COST),
        help="What one draft token adds to a step, drafting and verifying, as a share of the "
        "time of a plain decoding step.",
    )  # fmt: skip
    memory_gb = st.number_input(
        "Memory to spare, GB", min_value=0.0, value=None, step=0.5, placeholder="no limit",
        help="Ks that take more beyond plain decoding are left out of the optimum.",
        **bound(state.MEMORY),
    )  # fmt: skip
    return Asked(chosen, place, alpha, cost, memory_gb)


def with_a_k(opened: Opened) -> list[Family]:
    """The methods of a benchmark that were measured with a K."""
    return [
        family
        for family in families(opened.results.arms)
        if not (family.is_baseline or family.is_at_zero) and all(arm.k for arm in family.arms)
    ]


def _chosen(store: Store) -> Chosen | None:
    found = offered(store, Need.KS)
    if found.first is None:
        offer_sample()
        return None
    opened = open_results(store, choose_benchmark(found, state.BENCHMARK))
    named = {family.label: family for family in with_a_k(opened)}
    if not named:
        st.caption("This benchmark has no method with a K: choose another one.")
        return None
    widest = max(named, key=lambda label: len(named[label].arms))
    keep_among(state.FAMILY, [*named])
    label = st.selectbox("Method", [*named], index=[*named].index(widest), **bound(state.FAMILY))
    return Chosen(opened, named[label])


def _place(chosen: Chosen) -> Place:
    arms = {arm.arm_index for arm in chosen.family.arms}
    cells = [cell for cell in chosen.opened.results.cells if cell.arm_index in arms]
    categories = sorted(
        {cell.category for cell in chosen.opened.results.categories if cell.category}
    )
    category = _one("Prompts", [ALL, *categories], state.CATEGORY)
    temperature = _one("Temperature", [f"{t:g}" for t in temperatures(cells)], state.TEMPERATURE)
    loads = sorted({cell.concurrency for cell in cells if cell.concurrency})
    concurrency = _one("Concurrency", [str(load) for load in loads], state.CONCURRENCY)
    return Place(
        None if category in (ALL, None) else category,
        float(temperature or 0.0),
        int(concurrency or 1),
    )


def _one(label: str, options: Sequence[str], key: str) -> str | None:
    """One of several; the only one without asking."""
    if len(options) < 2:
        return options[0] if options else None
    keep_among(key, options)
    chosen: str = st.selectbox(label, options, **bound(key))
    return chosen


def _follow(chosen: Chosen, place: Place) -> None:
    """The formula begins with what the run at the largest K measured."""
    known = chosen.evidence(place)
    if known is None or known.cost is None:
        return
    plain_ms = step_ms(list(known.plain.values()))
    accepted = known.alpha
    if not plain_ms or accepted is None:
        return
    run = f"{chosen.opened.row.benchmark_id} {chosen.family.label} {place}"
    state.follow(run, accepted, known.cost.share(plain_ms))
