"""What each arm holds in memory beyond plain decoding."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go

from specviz.analysis.text import size_text, unit_of
from specviz.figures.style import plain, styled
from specviz.palette import BONUS, DRAFTING, RECOVERED
from specviz.trace import ExtraBytes

PARTS = (("weights", BONUS), ("KV cache", DRAFTING), ("buffers", RECOVERED))
ARM_PX = 44


def extra_memory(arms: Mapping[str, ExtraBytes]) -> go.Figure:
    """One bar per arm, its parts side by side, in the unit that fits the largest arm."""
    unit, size = unit_of(max((extra.total for extra in arms.values()), default=0))
    figure = go.Figure()
    titles = [plain(title) for title in arms]
    for (name, colour), counts in zip(
        PARTS,
        zip(*((e.weights, e.kv_cache, e.buffers) for e in arms.values()), strict=True),
        strict=False,
    ):
        figure.add_bar(
            y=titles, x=[count / size for count in counts], name=name, orientation="h",
            marker_color=colour, hovertext=[f"{name}: {size_text(count)}" for count in counts],
            hoverinfo="text",
        )  # fmt: skip
    for title, extra in zip(titles, arms.values(), strict=True):
        figure.add_annotation(
            x=extra.total / size, y=title, text=f" {size_text(extra.total)}", showarrow=False,
            xanchor="left",
        )  # fmt: skip
    styled(figure, x_title=f"beyond plain decoding, {unit}", y_title="")
    figure.update_layout(
        barmode="stack", height=130 + ARM_PX * len(arms), margin={"l": 8, "t": 30},
        legend={"traceorder": "normal", "y": 1.02, "yanchor": "bottom"},
    )  # fmt: skip
    figure.update_yaxes(autorange="reversed", automargin=True, showgrid=False)
    largest = max((extra.total for extra in arms.values()), default=0) / size
    figure.update_xaxes(range=[0, largest * 1.15 or 1])
    return figure
