"""Why a method is slower or faster than plain decoding here, said with its measured parts."""

from __future__ import annotations

from specviz.analysis.step_time.step_time import StepTime
from specviz.analysis.text import digits

NOT_TIMED = "How long it drafts and verifies is not known."
MAYBE_NOISE = ", which may be noise"


def explain_step(
    found: StepTime, plain_ms: float | None = None, *, drafts: bool = True, decided: bool = True
) -> str:
    """What a step does with its time, and what would have to change.

    `plain_ms`: a token of plain decoding, None where that was not measured. `drafts`: False for
    plain decoding itself. `decided`: False where an interval says that the difference may be noise.
    """
    if not drafts:
        return _plain_text(found)
    said = f"{_step_text(found)}; {_plain_takes(plain_ms)}" if plain_ms else _step_text(found)
    token = f"At {digits(found.tokens_per_step)} tokens a step that is {_ms(found.tpot_ms)} a token"
    if not plain_ms:
        return f"{said}. {token}."
    verdict = _verdict(found.tpot_ms, plain_ms, decided)
    return " ".join(filter(None, [f"{said}. {token}: {verdict}.", _limits(found, plain_ms)]))


def explain_tokens(
    tpot_ms: float,
    acceptance_length: float | None,
    plain_ms: float | None = None,
    *,
    decided: bool = True,
) -> str:
    """The same where only tokens are timed. `acceptance_length`: tokens of a step that drafts."""
    said = f"A token takes {_ms(tpot_ms)}"
    if plain_ms:
        verdict = _verdict(tpot_ms, plain_ms, decided)
        said += f", {_ms(plain_ms)} in plain decoding: {verdict}"
    if acceptance_length is not None:
        said += f". A step that drafts gives {digits(acceptance_length)} tokens"
    return f"{said}. {NOT_TIMED}"


def _plain_text(found: StepTime) -> str:
    if found.verify_ms is None:
        return f"Plain decoding takes {_ms(found.tpot_ms)} a token. {NOT_TIMED}"
    return (
        f"Plain decoding takes {_ms(found.tpot_ms)} a token: {_ms(found.verify_ms)} for the "
        f"target's pass and {_ms(found.other_ms)} for everything else."
    )


def _step_text(found: StepTime) -> str:
    if found.draft_ms is None or found.verify_ms is None:
        return f"Each step takes {_ms(found.step_ms)} (how much of it is drafting is not known)"
    beside = ""
    if found.overlapped_draft_ms:
        beside = f" and for {_ms(found.overlapped_draft_ms)} more while the target verifies"
    return (
        f"Each step drafts for {_ms(found.draft_ms)}{beside}, verifies for {_ms(found.verify_ms)} "
        f"and spends {_ms(found.other_ms)} on everything else"
    )


def _plain_takes(plain_ms: float | None) -> str:
    return f"plain decoding takes {_ms(plain_ms)} a token"


def _verdict(tpot_ms: float, plain_ms: float, decided: bool) -> str:
    if digits(tpot_ms) == digits(plain_ms):
        return "no faster and no slower"
    return ("slower" if tpot_ms > plain_ms else "faster") + ("" if decided else MAYBE_NOISE)


def _limits(found: StepTime, plain_ms: float) -> str:
    """What would have to change, or may change, with everything else as it was measured."""
    if digits(found.tpot_ms) == digits(plain_ms):
        return ""
    is_slower = found.tpot_ms > plain_ms
    tokens = digits(found.step_ms / plain_ms)
    room_ms = drafting_limit_ms(found, plain_ms)
    if room_ms is not None and room_ms <= 0:
        return (
            "It would be slower without any drafting time: a step would have to give more than "
            f"{tokens} tokens."
        )
    if is_slower:
        drafting = room_ms and f"Drafting would have to take less than {_ms(room_ms)} a step, or "
        step = "a step give" if drafting else "A step would have to give"
        return f"{drafting or ''}{step} more than {tokens} tokens."
    drafting = room_ms and f"up to {_ms(room_ms)} of drafting a step, or "
    return f"It would stay faster {drafting or ''}down to {tokens} tokens a step."


def drafting_limit_ms(found: StepTime, plain_ms: float) -> float | None:
    """Below how much drafting, ms per step, the method is faster than plain decoding.

    Tokens per step and the other parts stay as measured. At most 0 where it never is faster, None
    where the parts were not measured.
    """
    if found.verify_ms is None or found.other_ms is None:
        return None
    return found.tokens_per_step * plain_ms - found.verify_ms - found.other_ms


def _ms(value: float | None) -> str:
    return f"{digits(value)} ms"
