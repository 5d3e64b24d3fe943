"""Remarks on a launch or a schedule, as lines of Markdown."""

from __future__ import annotations

from specviz.deploy.launch import Remark
from specviz.views.shared.text import escaped

_ICONS = {
    "": ":gray[:material/info:]",
    "changed": ":gray[:material/info:]",
    "untested": ":gray[:material/help:]",
}
_WARNING = ":orange[:material/warning:]"


def remark_line(remark: Remark) -> str:
    """A remark as Markdown: how bad it is, what happens, where that was read."""
    source = escaped(remark.source)
    link = f"[{source}]({remark.url})" if remark.url else source
    return f"{_ICONS.get(remark.effect, _WARNING)} {escaped(remark.text)} :small[:gray[{link}]]"
