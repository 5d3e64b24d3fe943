"""Requests for every framework and version, and the options that those have, as recorded."""

from __future__ import annotations

import json
from typing import Any

from specviz.deploy.frameworks import BACKENDS, NAMES, framework_of
from specviz.deploy.request import METHOD_NAMES, Request, needs_draft
from specviz.paths import PROJECT_ROOT

OPTIONS = PROJECT_ROOT / "tests" / "unit" / "deploy" / "options"
PLACES = [
    (name, backend, version)
    for name in NAMES
    for backend in (BACKENDS if name == "triton" else (None,))
    for version in framework_of(name, backend).versions
]
"""Framework, Triton's back end, version: all that were checked."""


def recorded(framework: str, version: str | None = None) -> dict[str, Any]:
    name = f"{framework}-{version}" if version else framework
    found: dict[str, Any] = json.loads((OPTIONS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def request(framework: str, method: str = "eagle3", **fields: Any) -> Request:
    """A request whose weights every framework can open."""
    draft = "draft.gguf" if method in METHOD_NAMES and needs_draft(method) else None
    given = {"framework": framework, "model": "target.gguf", "method": method, "draft": draft}
    return Request(**{**given, **fields})


__all__ = ["METHOD_NAMES", "PLACES", "recorded", "request"]
