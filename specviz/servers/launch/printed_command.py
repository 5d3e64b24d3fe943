"""The command that serves a model with speculation, for people to copy."""

from __future__ import annotations

from specviz.methods import METHODS, Method, MethodRecord
from specviz.servers.launch.launcher import Launcher, ServerSpec

UNNAMED_MODEL = "YOUR-TARGET-MODEL"
"""Placeholder for a model that was not named, as `_unnamed_draft` is for a draft."""


def serving_command(
    launcher: Launcher, model: str | None, method: Method, draft: str | None, k: int | None
) -> str:
    """The command over several lines. Raises UsageError for a method the server does not have.

    Without the flags that a measurement needs: prefix caching stays at the server's default.
    """
    unnamed_draft = _unnamed_draft(METHODS[method])
    needed = draft or unnamed_draft if unnamed_draft else None
    return launcher.printed(ServerSpec(launcher, model or UNNAMED_MODEL, method, needed, k))


def unnamed(command: str) -> list[str]:
    """The placeholders in a command."""
    drafts = filter(None, map(_unnamed_draft, METHODS.values()))
    return [name for name in dict.fromkeys((UNNAMED_MODEL, *drafts)) if name in command]


def version_note(launcher: Launcher, method: Method) -> str | None:
    """Which versions of the server have the method, where it was removed."""
    support = METHODS[method].servers.get(launcher.engine)
    if support is None or support.last_version is None:
        return None
    return f"{launcher.name} has {method.value} up to version {support.last_version}."


def _unnamed_draft(record: MethodRecord) -> str | None:
    """`YOUR-EAGLE-3-HEAD`; None for a method without weights of its own."""
    return record.draft and f"YOUR-{record.draft.upper().replace(' ', '-')}"
