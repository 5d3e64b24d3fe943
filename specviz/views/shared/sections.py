"""The sections of a page, one at a time: those that are not shown would be computed too."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from specviz.views.shared.url_controls import bound, keep_among


def chosen_section(
    key: str, names: Sequence[str], first: str | None = None, *, label: str = "Section"
) -> str:
    """The section that is chosen, of `names`; it is in the URL unless it is `first`.

    `label` is for screen readers; `first` is the first of `names` if it is not given.
    """
    keep_among(key, names)
    chosen: str = st.segmented_control(
        label,
        names,
        default=first or names[0],
        required=True,
        label_visibility="collapsed",
        **bound(key),
    )
    return chosen
