"""Under the curves of the K page: the optimum elsewhere, a policy, a check, a sweep to start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pandas as pd
import streamlit as st

from specviz.analysis.benchmark.results import Cell
from specviz.analysis.k.curves import KCurve, Source
from specviz.analysis.k.predict import Estimate
from specviz.sweep.curves import Place
from specviz.views.k import state
from specviz.views.k.chosen import Chosen
from specviz.views.k.controls import Asked
from specviz.views.k.measure import measure_this
from specviz.views.k.policy.section import show_policy
from specviz.views.k.ranges import k_text, ranges_text
from specviz.views.k.redraft import redraft_this
from specviz.views.shared.sections import chosen_section
from specviz.views.shared.tables import show_table
from specviz.views.shared.text import escaped

MEASURE = "Measure this"


def sections(asked: Asked) -> None:
    """The chosen one; without a benchmark there is one only."""
    names = [MEASURE] if asked.chosen is None else [*SECTIONS]
    SECTIONS[chosen_section(state.SECTION, names)](asked)


def by_place(asked: Asked) -> None:
    """The best K per category, temperature and concurrency."""
    assert asked.chosen is not None
    table = best_by_place(asked.chosen, asked.place, asked.memory_gb)
    if table.empty:
        st.info("This benchmark has one category, one temperature and one concurrency only.")
        return
    st.caption(
        "The best K where one thing differs from the place above. Predicted figures come from the "
        "largest K measured there."
    )
    show_table(table)


def best_by_place(chosen: Chosen, at: Place, memory_gb: float | None) -> pd.DataFrame:
    """One line per category, temperature and concurrency that was measured."""
    axes = (
        {f"category {name}": replace(at, category=name) for name in _categories(chosen)},
        {f"temperature {t:g}": replace(at, temperature=t) for t in _temperatures(chosen)},
        {f"concurrency {c}": replace(at, concurrency=c) for c in _concurrencies(chosen)},
    )
    places = {name: place for axis in axes if len(axis) > 1 for name, place in axis.items()}
    lines = []
    for name, place in places.items():
        curves = {
            curve.source: curve for curve in (chosen.measured(place), *chosen.computed(place))
        }
        lines.append(
            {
                "where": name,
                **_best("measured", curves.get(Source.MEASURED), memory_gb),
                **_best("redrafted", curves.get(Source.REDRAFTED), memory_gb),
                **_best("predicted", curves.get(Source.PREDICTED), memory_gb),
            }
        )
    return pd.DataFrame(lines).dropna(axis="columns", how="all")


def for_policy(asked: Asked) -> None:
    """K by temperature and load, and how servers take it."""
    assert asked.chosen is not None
    show_policy(asked.chosen)


def check(asked: Asked) -> None:
    """What the one run predicted, compared with what was measured."""
    assert asked.chosen is not None
    measured = asked.chosen.measured(asked.place)
    computed = asked.chosen.computed(asked.place)
    redraft_this(asked.chosen)
    if len(measured.points) < 2 or not computed:
        st.info("A check needs a run at the largest K, its baseline, and runs at smaller Ks.")
        return
    for curve in computed:
        st.markdown(f"**{curve.source.value.capitalize()}**")
        show_table(errors(curve, measured))
        st.caption(escaped(curve.note))


def errors(curve: KCurve, measured: KCurve) -> pd.DataFrame:
    """Predicted and measured figures side by side, with their difference."""
    predicted = {point.k: point for point in curve.points}
    lines = []
    for point in measured.points:
        other = predicted.get(point.k)
        if (
            other is None
            or point.mean_acceptance_length is None
            or other.mean_acceptance_length is None
        ):
            continue
        line = {"K": str(point.k)} | _side_by_side(
            "tok/step", "", other.mean_acceptance_length, point.mean_acceptance_length
        )
        if point.speedup and other.speedup:
            line |= _side_by_side("speed-up", "×", other.speedup, point.speedup)
        lines.append(line)
    return pd.DataFrame(lines)


def _side_by_side(name: str, unit: str, predicted: Estimate, measured: Estimate) -> dict[str, str]:
    return {
        f"{name} predicted": f"{predicted.value:.2f}{unit}{_interval(predicted)}",
        f"{name} measured": f"{measured.value:.2f}{unit}",
        f"{name} off by": f"{100 * (predicted.value / measured.value - 1):+.1f} %",
    }


def _interval(figure: Estimate) -> str:
    if figure.low is None or figure.high is None:
        return ""
    return f" ({figure.low:.2f} to {figure.high:.2f})"


def _best(name: str, curve: KCurve | None, memory_gb: float | None) -> dict[str, str | None]:
    found = curve.optimum(memory_gb) if curve else None
    if found is None:
        return {f"{name} K": None, f"{name} speed-up": None, f"{name}, as good": None}
    return {
        f"{name} K": k_text(found),
        f"{name} speed-up": f"{found.speedup_text}, {found.verdict_text}",
        f"{name}, as good": ranges_text(found.plateau),
    }


def _categories(chosen: Chosen) -> list[str]:
    arms = {arm.arm_index for arm in chosen.family.arms}
    cells = chosen.opened.results.categories
    return sorted({cell.category for cell in cells if cell.arm_index in arms and cell.category})


def _temperatures(chosen: Chosen) -> list[float]:
    return sorted({cell.temperature for cell in _cells(chosen)})


def _concurrencies(chosen: Chosen) -> list[int]:
    return sorted({cell.concurrency for cell in _cells(chosen) if cell.concurrency is not None})


def _cells(chosen: Chosen) -> list[Cell]:
    arms = {arm.arm_index for arm in chosen.family.arms}
    return [cell for cell in chosen.opened.results.cells if cell.arm_index in arms]


SECTIONS: dict[str, Callable[[Asked], None]] = {
    "Best K elsewhere": by_place,
    "Policy": for_policy,
    "Check and redraft": check,
    MEASURE: lambda asked: measure_this(asked.chosen),
}
