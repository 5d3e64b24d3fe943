"""A llama.cpp server's log: how far it has come, and why it failed in one sentence."""

from __future__ import annotations

import re
from pathlib import Path

STAGES = (
    ("listening on", "opening the API"),
    ("loading draft model", "loading the draft model"),
    ("loading model", "loading weights"),
    ("importing llama.cpp", "importing llama.cpp"),
    ("reading the model's files", "writing the model as GGUF, once"),
)
"""Marks in the log, latest first, and what begins there."""

MAX_REASON = 400
_OWN = re.compile(r"^(?:error: |llama\.cpp: error: )(.*)$")
_LLAMA = re.compile(r"^[\d.]+ E .*?: +(.*)$")
_OUTCOMES = ("exiting due to", "failed to load model", "common_init")


def stage(log: str) -> str:
    """What a server that is still loading does now."""
    return next((text for mark, text in STAGES if mark in log), "starting Python")


def failure_reason(path: Path) -> str | None:
    """The reason in the log: our own sentence, else llama.cpp's first error that says more than
    that loading failed; None if the log shows no failure."""
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return None
    own = [found[1] for line in lines if (found := _OWN.match(line))]
    errors = [found[1] for line in lines if (found := _LLAMA.match(line))]
    telling = [text for text in errors if not any(outcome in text for outcome in _OUTCOMES)]
    reason = next(iter([*own[-1:], *telling[:1], *errors[:1]]), None)
    return reason and _sentence(reason)


def _sentence(text: str) -> str:
    text = " ".join(text.split())[:MAX_REASON]
    return text if text.endswith((".", "!", "?")) else f"{text}."
