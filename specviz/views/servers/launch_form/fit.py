"""Whether the draft fits its target, where both are folders of this machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from specviz.checkpoints.check import check_pair
from specviz.checkpoints.finding import Finding, Verdict
from specviz.checkpoints.frameworks import ENGINES
from specviz.deploy.frameworks import framework_of
from specviz.deploy.request import Request
from specviz.models.kept import kept
from specviz.views.shared.caller import is_own_user
from specviz.views.shared.text import escaped

_ICONS = {
    Verdict.REFUSED: ":red[:material/block:]",
    Verdict.WARNING: ":orange[:material/warning:]",
    Verdict.OK: ":green[:material/check_circle:]",
}


def show_fit(request: Request) -> None:
    """Headers only: a form answers at once, however large the weights are."""
    if request.draft is None or not is_own_user():
        return
    pair = [kept(name) or Path(name).expanduser() for name in (request.draft, request.model)]
    if all(path.exists() for path in pair):
        found = check_pair(*pair, values=False)
        elsewhere = ENGINES - {framework_of(request.framework, request.backend).title}
        st.markdown("  \n".join(_lines([one for one in found if one.subject not in elsewhere])))


def _lines(found: Sequence[Finding]) -> list[str]:
    """What is wrong, each in its sentence, then what was looked at and is right, in one."""
    wrong = [one for one in found if one.verdict is not Verdict.OK]
    lines = [f"{_ICONS[one.verdict]} {escaped(one.sentence)}" for one in wrong]
    right = list(dict.fromkeys(one.subject for one in found if one.verdict is Verdict.OK))
    if right:
        fits = "The draft fits" if not wrong else "In order"
        lines.append(f"{_ICONS[Verdict.OK]} {fits}: {escaped(', '.join(right))}.")
    return lines
