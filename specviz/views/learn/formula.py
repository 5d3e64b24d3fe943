"""Learn: the formula for tokens per step and speed-up, and the documents' claims."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from specviz import reference
from specviz.analysis.text import digits
from specviz.analysis.theory import theory
from specviz.views.learn import state
from specviz.views.learn.figures.formula import Claim, formula_over_k
from specviz.views.shared.charts import TOOLBAR, figure_row
from specviz.views.shared.tables import show_figures
from specviz.views.shared.url_controls import bound

WORDS = r"""
A draft ends at its first rejection, so a step yields $1 + α + α^2 + … + α^K$ tokens, and costs
$cK + 1$ plain steps:

$$
\text{tokens per step} = \frac{1 - α^{K+1}}{1 - α}
\qquad
\text{speed-up} = \frac{1 - α^{K+1}}{(1 - α)(cK + 1)}
$$
"""
SOURCE = (
    "[Leviathan et al., 2211.17192, equation 1 and theorem 3.8](https://arxiv.org/abs/2211.17192), "
    "their γ is K. Every token is accepted with the same probability α, whatever came before it, "
    "and verifying K + 1 tokens takes as long as decoding one: the roofline shows where that ends."
)


def formula() -> None:
    """Sliders for acceptance and cost, both curves over K, with the documents' figures."""
    st.markdown(WORDS)
    with st.container(horizontal=True, gap="large"):
        alpha = st.slider(
            "α: share of judged tokens accepted",
            *(0.0, 1.0, 0.8, 0.01),
            **bound(state.ALPHA),
        )
        cost = st.slider(
            "c: time of one draft token, in plain steps",
            *(0.0, 1.0, 0.05, 0.01),
            **bound(state.COST),
        )
        most_k = st.slider("Largest K", 1, 32, 15, **bound(state.MOST_K))
    claims = published_claims()
    _figures(alpha, cost, most_k)
    shown = [claim for claim in claims if claim.k <= most_k]
    st.plotly_chart(
        formula_over_k(alpha, cost, most_k, shown), config=TOOLBAR, key="learn_formula_chart"
    )
    st.markdown("##### What the documents say, and what the formula gives for it")
    show_figures(claims_table(claims), words=("claim", "document"))
    st.caption(
        "implied c: the cost at which the formula gives the document's tokens and its speed-up, "
        "(tokens / speed-up − 1) / K. Blank: not reported."
    )
    st.caption(SOURCE)


def published_claims() -> list[Claim]:
    """The documents' figures that the formula speaks of, in their order."""
    headlines = reference.published("headlines")
    table = reference.published("alpha")
    passes = headlines[headlines["quantity"] == "tokens_per_step"]
    guide = passes[passes["conditions"].str.startswith("60 % acceptance, 8 draft")]
    return [
        *(
            Claim("60 % accepted, 8 drafted", row.document, 0.6, 8, float(row.high))
            for row in guide.itertuples()
        ),
        *(
            Claim(
                row.pair, row.document, float(row.alpha), 5, float(row.tokens_per_step),
                float(row.speedup),
            )
            for row in table.itertuples()
        ),
    ]  # fmt: skip


def claims_table(claims: Sequence[Claim]) -> pd.DataFrame:
    """One line per claim with the formula's figure and how far the claim is from it."""
    lines = []
    for claim in claims:
        formula = theory.expected_tokens(claim.alpha, claim.k)
        cost = claim.speedup and (claim.tokens / claim.speedup - 1) / claim.k
        lines.append(
            {
                "claim": claim.label,
                "α": f"{claim.alpha:g}",
                "K": str(claim.k),
                "document, tok/step": f"{claim.tokens:g}",
                "formula, tok/step": digits(formula),
                "difference": f"{100 * (claim.tokens / formula - 1):+.0f} %",
                "document, speed-up": claim.speedup and f"{claim.speedup:g}×",
                "implied c": cost and f"{cost:.3f}",
                "document": claim.source,
            }
        )
    return pd.DataFrame(lines)


def _figures(alpha: float, cost: float, most_k: int) -> None:
    best = theory.best_k(alpha, cost, range(most_k + 1))
    even = theory.break_even_alpha(best, cost) if best else None
    figure_row(
        {
            "best K": "0, leave it off" if best == 0 else str(best),
            "speed-up there": f"{theory.speedup(alpha, best, cost):.2f}×",
            "tokens per step there": f"{theory.expected_tokens(alpha, best):.2f}",
            "with this K it pays from an α of": "–" if even is None else f"{even:.3f}",
        }
    )
