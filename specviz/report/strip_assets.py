"""The token strip of the Live page for a file: the same modules, fed from the page itself.

`assets/source.js` takes the place of the module that follows a WebSocket.
"""

from __future__ import annotations

import re
from pathlib import Path

STRIP = Path(__file__).parent.parent / "views" / "token_strip"
ASSETS = Path(__file__).parent / "assets"
SOCKET = "socket.js"

_IMPORT = re.compile(r"^import [^;]*? from \"\./([a-z]+\.js)\";\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (default )?", re.MULTILINE)


def script() -> str:
    """One script without imports: every module behind those it needs, `report.js` last."""
    ordered: list[str] = []
    _add("main.js", ordered)
    sources = [_source(name) for name in ordered]
    joined = [_EXPORT.sub("", _IMPORT.sub("", source)) for source in sources]
    return "\n".join([*joined, _read(ASSETS / "report.js")])


def page_style() -> str:
    return _read(ASSETS / "report.css")


def strip_style() -> str:
    names = ("layout.css", "tokens.css", "inspector.css")
    return "\n".join(_read(STRIP / "css" / name) for name in names)


def strip_html() -> str:
    return _read(STRIP / "strip.html")


def _add(name: str, ordered: list[str]) -> None:
    for needed in _IMPORT.findall(_source(name)):
        if needed not in ordered:
            _add(needed, ordered)
    ordered.append(name)


def _source(name: str) -> str:
    return _read(ASSETS / "source.js" if name == SOCKET else STRIP / "js" / name)


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
