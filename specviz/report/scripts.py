"""The report's own style and script; the token strip is the pages' own, fed from the file.

`assets/source.js` takes the place of the module that follows a WebSocket.
"""

from __future__ import annotations

from pathlib import Path

from specviz.palette import css_variables
from specviz.strip import assets

ASSETS = Path(__file__).parent / "assets"


def script() -> str:
    """One script without imports or exports: the strip, then `report.js`."""
    strip = assets.script({"socket.js": _read("source.js")})
    return "\n".join([strip.replace("export default ", ""), _read("report.js")])


def page_style() -> str:
    return css_variables(":root") + _read("report.css")


def _read(name: str) -> str:
    return ASSETS.joinpath(name).read_text(encoding="utf-8")
