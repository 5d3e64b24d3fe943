"""Why two runs' times, or anything of theirs, should not be compared: named, not hidden."""

from __future__ import annotations

from urllib.parse import urlsplit

from specviz.config import RunConfig


def not_for_times(reference: RunConfig, other: RunConfig) -> list[str]:
    """Differences that change times whatever the method does; none: times can be compared."""
    reasons = []
    if (reference.hardware or "unknown") != (other.hardware or "unknown"):
        reasons.append(
            f"other hardware ({other.hardware or 'unknown'}, the reference "
            f"{reference.hardware or 'unknown'})"
        )
    if reference.traced != other.traced:
        traced, untraced = ("it", "the reference") if other.traced else ("the reference", "it")
        reasons.append(f"{traced} was traced, which takes time, and {untraced} was not")
    if _load(reference) != _load(other):
        reasons.append(f"other load ({_load(other)}, the reference {_load(reference)})")
    if reference.model != other.model:
        reasons.append(f"another model ({_model(other)}, the reference {_model(reference)})")
    return reasons


def another_place(baseline: RunConfig, other: RunConfig) -> str | None:
    """Why a baseline's time says nothing about another arm's: another engine or machine."""
    if baseline.engine is not other.engine:
        names = f"{baseline.engine.value}, this arm {other.engine.value}"
        return f"the baseline ran on another engine ({names}): add a baseline of the same engine"
    for where, there in ((_machine(baseline), _machine(other)), _hardware(baseline, other)):
        if where != there:
            return f"the baseline ran on another machine ({where}, this arm {there})"
    return None


def to_mind(reference: RunConfig, other: RunConfig, *, side_by_side: bool) -> list[str]:
    """What else moves figures: the comparison is valid, with this in mind.

    `side_by_side`: both were arms of one benchmark, measured in turns.
    """
    notes = []
    if reference.sampling.temperature != other.sampling.temperature:
        notes.append(
            f"temperature {other.sampling.temperature:g}, the reference "
            f"{reference.sampling.temperature:g}: acceptance and lengths depend on it"
        )
    elif reference.sampling.temperature > 0:
        notes.append("sampled answers: texts differ from run to run")
    if reference.traced and other.traced:
        notes.append("both were traced: their times include what tracing takes")
    if not side_by_side:
        notes.append(
            "measured at another time than the reference: drift of the machine between them is in "
            "no interval, except of times where both were repeated (what repetitions differ by)"
        )
    return notes


def _machine(config: RunConfig) -> str:
    """The host that answers; the hardware of another one is not known."""
    try:
        host = urlsplit(config.server_url or "").hostname
    except ValueError:
        host = config.server_url
    return "this machine" if host in (None, "localhost", "127.0.0.1", "::1") else str(host)


def _hardware(one: RunConfig, other: RunConfig) -> tuple[str, str]:
    """Both names, the same where one is not known."""
    known = one.hardware or other.hardware or ""
    return one.hardware or known, other.hardware or known


def _load(config: RunConfig) -> str:
    if config.request_rate is not None:
        return f"{config.request_rate:g} requests/s"
    return f"concurrency {config.concurrency}"


def _model(config: RunConfig) -> str:
    return config.model or "unknown"
