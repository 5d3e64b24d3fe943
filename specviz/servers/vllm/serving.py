"""The command that serves a model with speculation, for people to copy."""

from __future__ import annotations

import json
import shlex

from specviz.config import Method
from specviz.servers.vllm.command_line import NEEDS_DRAFT, ServerSpec, speculative_config

UNNAMED_MODEL = "YOUR-TARGET-MODEL"
UNNAMED_DRAFT = {
    Method.DRAFT_MODEL: "YOUR-DRAFT-MODEL",
    Method.MEDUSA: "YOUR-MEDUSA-HEADS",
    Method.EAGLE: "YOUR-EAGLE-HEAD",
    Method.EAGLE3: "YOUR-EAGLE-3-HEAD",
}
"""Stand where no model was named: they have to be replaced."""


def serving_command(model: str | None, method: Method, draft: str | None, k: int | None) -> str:
    """`vllm serve …` over several lines. Raises UsageError for a method that vLLM does not have.

    Without the flags that a measurement needs: prefix caching stays as vLLM has it.
    """
    needed = draft or UNNAMED_DRAFT.get(method) if method in NEEDS_DRAFT else None
    spec = ServerSpec(model or UNNAMED_MODEL, method, needed, k)
    lines = [f"vllm serve {shlex.quote(spec.model)}"]
    if config := speculative_config(spec):
        lines.append(f"--speculative-config {shlex.quote(json.dumps(config))}")
    return " \\\n  ".join(lines)


def unnamed(command: str) -> list[str]:
    """The names in a command that have to be replaced."""
    return [name for name in (UNNAMED_MODEL, *UNNAMED_DRAFT.values()) if name in command]
