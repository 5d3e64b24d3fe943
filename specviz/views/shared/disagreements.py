"""Where the documents disagree: both sides with their places, at the end of a page."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from specviz.reference import disagreements
from specviz.views.shared.text import escaped

TITLE = "Where the documents disagree"


def show_disagreements(page: str) -> None:
    """A closed list of what concerns the page: k, technique, cost, learn or benchmark."""
    rows = disagreements(page)
    if rows.empty:
        return
    with st.expander(f"{TITLE} ({len(rows)})", icon=":material/compare_arrows:"):
        st.table(both_sides(rows), border="horizontal", hide_index=True)


def both_sides(rows: pd.DataFrame) -> pd.DataFrame:
    """One line per disagreement, as text that Markdown shows as it is."""
    return pd.DataFrame(
        {
            "a document says": _with_place(rows["says"], rows["says_where"]),
            "but": _with_place(rows["but"], rows["but_where"]),
            "remark": [escaped(text) for text in rows["comment"].fillna("")],
        }
    )


def _with_place(texts: pd.Series, places: pd.Series) -> list[str]:
    pairs = zip(texts, places, strict=True)
    return [f"{escaped(text)} :small[:gray[({escaped(place)})]]" for text, place in pairs]
