"""The command that serves a model with speculation, for people to copy."""

from __future__ import annotations

from specviz.config import Method
from specviz.servers.launch.launcher import Launcher, ServerSpec

UNNAMED_MODEL = "YOUR-TARGET-MODEL"
UNNAMED_DRAFT = {
    Method.DRAFT_MODEL: "YOUR-DRAFT-MODEL",
    Method.MEDUSA: "YOUR-MEDUSA-HEADS",
    Method.EAGLE: "YOUR-EAGLE-HEAD",
    Method.EAGLE3: "YOUR-EAGLE-3-HEAD",
}
"""Placeholders for models that were not named: they have to be replaced."""


def serving_command(
    launcher: Launcher, model: str | None, method: Method, draft: str | None, k: int | None
) -> str:
    """The command over several lines. Raises UsageError for a method the server does not have.

    Without the flags that a measurement needs: prefix caching stays at the server's default.
    """
    needed = draft or UNNAMED_DRAFT.get(method) if method in launcher.needs_draft else None
    return launcher.printed(ServerSpec(launcher, model or UNNAMED_MODEL, method, needed, k))


def unnamed(command: str) -> list[str]:
    """The placeholders in a command."""
    return [name for name in (UNNAMED_MODEL, *UNNAMED_DRAFT.values()) if name in command]
