"""A vLLM server's log: how far it has come, and why it failed in one sentence."""

from __future__ import annotations

import re
from pathlib import Path

MAX_REASON = 400
"""Characters of vLLM's own reason that are shown; the log has the rest."""

STAGES = (
    ("Application startup complete", "opening the API"),
    ("KV cache size", "preparing the API"),
    ("Loading drafter model", "loading the draft model"),
    ("Starting to load model", "loading weights"),
    ("Loading model from scratch", "loading weights"),  # the V2 model runner
    ("Initializing a V1 LLM engine", "starting the engine"),
    ("Resolved architecture", "importing vLLM in the engine's process"),
    ("non-default args", "reading the model's configuration"),
)
"""Marks in the log, latest first, and what begins there."""

_PREFIX = re.compile(
    r"^(?:\([\w .=-]+pid=\d+\) )?(?:[A-Z]+ \d\d-\d\d \d\d:\d\d:\d\d \[[^\]]+\] ?)?"
)
_EXCEPTION = re.compile(r"^(?:\w+\.)*(\w*(?:Error|Exception))(?:: (.*))?$")
_USAGE = re.compile(r"^\S+: error: (.*)$")
_SECOND_HAND = ("EngineDeadError", "Engine core initialization failed", "See root cause above")


def stage(log: str) -> str:
    """What a server that is still loading does now."""
    return next((text for mark, text in STAGES if mark in log), "importing vLLM")


def failure_reason(path: Path) -> str | None:
    """vLLM's own reason from its log, None if the log shows no failure."""
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return None
    lines = [_PREFIX.sub("", line) for line in lines]
    for index in range(len(lines) - 1, -1, -1):
        if any(phrase in lines[index] for phrase in _SECOND_HAND):
            continue
        if usage := _USAGE.match(lines[index]):
            return one_line(usage[1])
        if error := _EXCEPTION.match(lines[index]):
            return one_line(_message(lines, index, error[1], error[2] or ""))
    return None


def one_line(text: str) -> str:
    """`text` on one line, cut at the end of a sentence if it is long, with a full stop."""
    text = re.sub(r"<function loads at \w+>", "JSON", " ".join(text.split()))
    if len(text) > MAX_REASON:
        head = text[:MAX_REASON]
        text = head[: head.rfind(". ") + 1] or f"{head}…"
    return text if text.endswith((".", "…", "!", "?")) else f"{text}."


def _message(lines: list[str], index: int, name: str, message: str) -> str:
    """The words of the exception; a bare assertion is shown as written in the source."""
    if "validation error" in message:
        return _validation_message(lines[index + 1 : index + 3])
    if message:
        return message
    source = next((line.strip() for line in reversed(lines[:index]) if line.strip(" ^~")), "")
    return f"{name} at `{source}`" if source else name


def _validation_message(lines: list[str]) -> str:
    """pydantic names the field on a separate line, unless the whole is at fault."""
    where = lines[:1] if lines and not lines[0].startswith(" ") else []
    what = re.sub(r"\[type=.*", "", lines[len(where)] if len(lines) > len(where) else "").strip()
    return ": ".join([*where, what.removeprefix("Value error, ")])
