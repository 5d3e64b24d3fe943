"""The scripts, styles and markup of the token strip, joined for pages and reports.

Streamlit serves inline assets only for a component that is not an installed package with a
manifest, and inline JavaScript cannot import its neighbours; a report is one file. So the modules
of `js/` are joined into one, each behind those it imports.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from posixpath import dirname, join, normpath

from specviz.palette import css_variables

FOLDER = Path(__file__).parent
STYLES = ("layout.css", "tokens.css", "inspector.css", "presentation.css")
MAIN = "main.js"

_IMPORT = re.compile(r"^import [^;]*? from \"(\.{1,2}/[a-z/]+\.js)\";\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default )", re.MULTILINE)


def script(replaced: Mapping[str, str] | None = None) -> str:
    """One ES module with `main.js` last; its default export mounts the strip.

    `replaced` holds sources that take the place of the strip's own modules, by path in `js/`:
    `{"socket.js": "export function follow(…) {…}"}`.
    """
    replaced = replaced or {}
    ordered: dict[str, str] = {}

    def add(name: str) -> None:
        source = replaced.get(name) or _read("js", name)
        for imported in _IMPORT.findall(source):
            needed = normpath(join(dirname(name), imported))
            if needed not in ordered:
                add(needed)
        ordered[name] = _EXPORT.sub("", _IMPORT.sub("", source))

    add(MAIN)
    return "\n".join(ordered.values())


def style() -> str:
    """The palette and all style sheets, in the order in which they may override each other."""
    return "\n".join([css_variables(".strip-root"), *(_read("css", name) for name in STYLES)])


def markup() -> str:
    """The elements that the script fills."""
    return _read("strip.html")


def _read(*parts: str) -> str:
    return FOLDER.joinpath(*parts).read_text(encoding="utf-8")
