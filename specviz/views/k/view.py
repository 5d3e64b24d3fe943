"""The K page: curves over K, the optimum of each source, and their consequences."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from specviz.analysis.k.curves import KCurve, Source, formula_curve, published_curve
from specviz.analysis.k.optimum import Optimum
from specviz.views.k import state
from specviz.views.k.controls import Asked
from specviz.views.k.figure import curves_by_k
from specviz.views.k.ranges import equivalent_text, k_text, ranges_text
from specviz.views.k.sections import sections
from specviz.views.shared.benchmark.results import show_disturbance
from specviz.views.shared.charts import chart
from specviz.views.shared.disagreements import show_disagreements
from specviz.views.shared.tables import show_figures
from specviz.views.shared.text import escaped

FORMULA_KS = tuple(range(1, 16))
WINS = (Source.MEASURED, Source.REDRAFTED, Source.PREDICTED, Source.PUBLISHED, Source.FORMULA)
"""Whose optimum is the answer: what was measured, then what follows from it."""


def show_k(asked: Asked) -> None:
    """Everything next to the controls."""
    curves = all_curves(asked)
    best = {
        curve.source: found
        for curve in curves
        if (found := curve.optimum(asked.memory_gb)) is not None
    }
    _answer(asked, best)
    if asked.chosen is not None:
        show_disturbance(asked.chosen.cells)
    wanted = st.pills(
        "Curves",
        [curve.source for curve in curves],
        selection_mode="multi",
        default=state.shown_first([curve.source for curve in curves]),
        format_func=lambda source: source.value,
        key=state.CURVES,
        label_visibility="collapsed",
    )
    shown = [curve for curve in curves if curve.source in wanted]
    if shown:
        winner = next(source for source in WINS if source in best) if best else None
        marked = best[winner].plateau if winner in wanted and winner else ()
        chart(curves_by_k(shown, marked), "What K does", "k")
        st.caption(
            "Shaded: the Ks that are not worse than the fastest beyond noise (within 2 % of it "
            "where there is no interval). Intervals: 95 %, over prompts, or blocks where they "
            "shared one; of predictions with the prediction's own error."
        )
    else:
        st.info("Choose a curve above.")
    show_figures(best_by_source(curves, best), ["source"])
    with st.container(gap=None):
        for curve in curves:
            st.caption(escaped(f"{curve.source.value.capitalize()}: {curve.note}"))
    sections(asked)
    show_disagreements("k")


def all_curves(asked: Asked) -> list[KCurve]:
    """Every source that has figures, the measured one first."""
    curves = [formula_curve(asked.alpha, asked.cost, FORMULA_KS), published_curve()]
    if asked.chosen is None:
        return curves
    measured = asked.chosen.measured(asked.place)
    return [
        *([measured] if measured.points else []),
        *asked.chosen.computed(asked.place),
        *curves,
    ]


def best_by_source(curves: Sequence[KCurve], best: dict[Source, Optimum]) -> pd.DataFrame:
    """One line per source: its K, those as good, what does not fit; no K of a single one."""
    return pd.DataFrame(
        {
            "source": curve.source.value,
            "K": k_text(best[curve.source]) if curve.source in best else None,
            "speed-up, 95 %": best[curve.source].speedup_text if curve.source in best else None,
            "verdict": best[curve.source].verdict_text if curve.source in best else None,
            "as good": ranges_text(best[curve.source].plateau) if curve.source in best else None,
            "too large": ranges_text(best[curve.source].too_large)
            if curve.source in best
            else None,
        }
        for curve in curves
    ).dropna(axis="columns", how="all")


def _answer(asked: Asked, best: dict[Source, Optimum]) -> None:
    """The K to use, in one line, and from where."""
    source = next((source for source in WINS if source in best), None)
    if source is None:
        st.warning("No K fits into this memory: allow more, or leave speculation off.")
        return
    found = best[source]
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.metric("K to use", k_text(found), width="content")
        of = "" if found.is_worth_it else f"K {found.best.k}, "
        st.metric(f"{of}compared with plain decoding", found.gain_text, width="content")
        st.space("stretch")
        with st.container(width="content"):
            if not found.is_worth_it:
                st.markdown(escaped(f"{found.verdict_text.capitalize()}."))
            if (equal := equivalent_text(found)) is not None:
                st.markdown(escaped(f"{equal}."))
            if found.low is not None:
                st.caption(
                    "Corrected for having been picked: K picked again from resampled prompts."
                )
            st.markdown(f"**{source.value.capitalize()}**")
            st.caption(escaped(_about(asked, source)))
            if found.unknown_memory:
                st.caption(f"Memory not known of K {ranges_text(found.unknown_memory)}.")


def _about(asked: Asked, source: Source) -> str:
    if asked.chosen is None or source in (Source.FORMULA, Source.PUBLISHED):
        return published_curve().note if source is Source.PUBLISHED else "from α and c"
    place = asked.place
    return " · ".join(
        [
            asked.chosen.family.label,
            place.category or "all prompts",
            f"temperature {place.temperature:g}",
            f"concurrency {place.concurrency}",
            asked.chosen.opened.row.hardware or "hardware unknown",
        ]
    )
