"""The command that serves a model with speculation, for people to copy."""

from __future__ import annotations

import json
import shlex

from specviz.methods import METHODS, VLLM, Method, MethodRecord
from specviz.servers.vllm.command_line import ServerSpec, speculative_config

UNNAMED_MODEL = "YOUR-TARGET-MODEL"
"""Stands for a model that was not named, as `_unnamed_draft` does for a draft."""


def serving_command(model: str | None, method: Method, draft: str | None, k: int | None) -> str:
    """`vllm serve …` over several lines. Raises UsageError for a method that vLLM does not have.

    Without the flags that a measurement needs: prefix caching stays as vLLM has it.
    """
    unnamed_draft = _unnamed_draft(METHODS[method])
    needed = draft or unnamed_draft if unnamed_draft else None
    spec = ServerSpec(model or UNNAMED_MODEL, method, needed, k)
    lines = [f"vllm serve {shlex.quote(spec.model)}"]
    if config := speculative_config(spec):
        lines.append(f"--speculative-config {shlex.quote(json.dumps(config))}")
    return " \\\n  ".join(lines)


def unnamed(command: str) -> list[str]:
    """The names in a command that have to be replaced."""
    drafts = filter(None, map(_unnamed_draft, METHODS.values()))
    return [name for name in dict.fromkeys((UNNAMED_MODEL, *drafts)) if name in command]


def version_note(method: Method) -> str | None:
    """Which versions of vLLM have the method, where it was removed."""
    support = METHODS[method].servers.get(VLLM)
    if support is None or support.last_version is None:
        return None
    return f"vLLM has {method.value} up to version {support.last_version}."


def _unnamed_draft(record: MethodRecord) -> str | None:
    """`YOUR-EAGLE-3-HEAD`; None for a method without weights of its own."""
    return record.draft and f"YOUR-{record.draft.upper().replace(' ', '-')}"
