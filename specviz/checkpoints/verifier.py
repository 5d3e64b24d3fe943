"""The target that a Speculators folder names as its verifier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specviz.checkpoints.config import SPECULATORS_CONFIG, architectures
from specviz.checkpoints.finding import Finding, ok, refused, warning
from specviz.checkpoints.folder import Checkpoint

SUBJECT = "verifier"
SOURCE = "vLLM 0.33, transformers_utils/configs/speculators/base.py"
CONVERT = "write the folder again with `specviz convert`"


def check_verifier(draft: Checkpoint, target: Checkpoint) -> Finding:
    """Whether `target` is the one that the draft was made for, as far as names say."""
    found = draft.raw.get(SPECULATORS_CONFIG)
    if not isinstance(found, dict) or not _has_tokens(found):
        return refused(
            SUBJECT,
            f"config.json has no whole {SPECULATORS_CONFIG} (proposal_methods with "
            f"speculative_tokens, verifier with name_or_path): {CONVERT}.",
            SOURCE,
        )
    verifier = found["verifier"]
    named, kinds = verifier.get("name_or_path"), architectures(verifier)
    own = architectures(target.config)
    if kinds and own and not set(kinds) & set(own):
        return refused(
            SUBJECT,
            f"The head was trained on a {kinds[0]}, {target.name} is a {own[0]}: name the target "
            "that it was trained on.",
            SOURCE,
        )
    if not named:
        return warning(SUBJECT, f"The folder names no verifier: {CONVERT}.", SOURCE)
    last = str(named).rstrip("/").rpartition("/")[2]
    if last.casefold() != target.name.casefold():
        return warning(
            SUBJECT,
            f"The head names {str(named)[:120]} as its target, not {target.name}: if these are "
            "different weights, few drafts are accepted.",
            SOURCE,
        )
    return ok(SUBJECT, f"The head names {named} as its target.", SOURCE)


def _has_tokens(found: Mapping[str, Any]) -> bool:
    methods, verifier = found.get("proposal_methods"), found.get("verifier")
    first = methods[0] if isinstance(methods, list) and methods else None
    return (
        isinstance(first, dict)
        and type(first.get("speculative_tokens")) is int
        and isinstance(verifier, dict)
        and "name_or_path" in verifier
    )
