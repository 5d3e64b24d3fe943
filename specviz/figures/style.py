"""One look for all charts: the strip's colours, quiet grid, no border."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import plotly.graph_objects as go

from specviz.analysis.text import shortened, token_name
from specviz.palette import BONUS, BONUS_ON_DARK

MONO = "ui-monospace, DejaVu Sans Mono, Menlo, Consolas, monospace"


@dataclass(frozen=True, slots=True)
class Ground:
    """What differs between the light and the dark page, as in .streamlit/config.toml."""

    background: str
    ink: str
    muted: str
    line: str
    bonus: str


LIGHT = Ground("#ffffff", "#121519", "#68727d", "#d5d9de", BONUS)
DARK = Ground("#0f1216", "#e8eaed", "#9aa3ad", "#3a414a", BONUS_ON_DARK)


def styled(figure: go.Figure, *, x_title: str, y_title: str) -> go.Figure:
    """Apply the style; titles name the quantity and its unit.

    The ground is the page's, by Streamlit's theme: a downloaded picture keeps it, so that the light
    words of the dark page stay readable.
    """
    figure.update_layout(
        margin={"l": 56, "r": 16, "t": 24, "b": 48},
        height=340,
        font={"size": 13},
        legend={"orientation": "h", "y": 1.12, "x": 0},
        bargap=0.3,
    )
    figure.update_xaxes(title=x_title, showgrid=False, zeroline=False)
    figure.update_yaxes(title=y_title, gridcolor="rgba(128,128,128,0.2)", zeroline=False)
    return figure


def blended(colour: str, ground: str, share: float) -> str:
    """`share` (0-1) of a colour on a ground, opaque; both as #rrggbb."""
    pairs = [(int(colour[at : at + 2], 16), int(ground[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(share * c + (1 - share) * g):02x}" for c, g in pairs)


def token_label(text: str | None, most: int = 40) -> str:
    """A token for plotly, which reads markup: spelled out, shortened and escaped."""
    return plain(shortened(token_name(text), most))


def plain(text: str) -> str:
    """Text escaped for plotly."""
    return escape(text, quote=False)
