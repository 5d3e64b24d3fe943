"""Do the steps that were shown add up to the server's own counters?"""

from __future__ import annotations

from collections.abc import Mapping

from specviz.trace import Fidelity
from specviz.verify.evidence import Speculated
from specviz.verify.finding import Finding, Outcome

NAME, TITLE = "counters", "Steps add up to the server's counters"


def counts(found: Speculated) -> Finding:
    """Drafts, drafted, accepted and emitted tokens of all traced requests against the counters'
    difference, which only means anything while nobody else uses the server."""
    server = found.answered.server
    if found.before is None or found.after is None:
        sentence = f"The server at {server.url} has no speculation counters on /metrics."
        return Finding(NAME, TITLE, Outcome.NOT_MEASURED, sentence)
    counted = found.after - found.before
    if counted.went_back:
        sentence = "The counters went back: the server was started again meanwhile."
        return Finding(NAME, TITLE, Outcome.NOT_MEASURED, sentence)
    inferred = [trace for trace in found.traces if trace.fidelity is Fidelity.INFERRED]
    if inferred:
        count = f"{len(inferred)} of {len(found.traces)} answers came without whole counts"
        reason = next((trace.revised for trace in inferred if trace.revised), None)
        why = f"{count} ({reason})." if reason else f"{count}. {server.advice or ''}".strip()
        return Finding(NAME, TITLE, Outcome.NOT_MEASURED, why)
    drafting = [step for trace in found.traces for step in trace.steps if step.drafted]
    shown = {
        "num_drafts": len(drafting),
        "num_draft_tokens": sum(len(step.drafted) for step in drafting),
        "num_accepted_tokens": sum(step.num_accepted for step in drafting),
    }
    theirs = {name: getattr(counted, name) for name in shown}
    emitted = sum(len(trace.emitted) for trace in found.traces)
    if found.output_tokens is not None:
        shown["emitted_tokens"], theirs["emitted_tokens"] = emitted, found.output_tokens
    figures = {**shown, "requests": len(found.traces)}
    sums = _sums(shown)
    if shown == theirs:
        sentence = f"{sums} of {len(found.traces)} answers: as the server counted them."
        return Finding(NAME, TITLE, Outcome.HOLDS, sentence, figures, theirs)
    sentence = (
        f"The answers show {sums}; the server counted {_sums(theirs)}. Verify a server that nobody "
        "else uses meanwhile."
    )
    return Finding(NAME, TITLE, Outcome.FAILS, sentence, figures, theirs)


def _sums(counted: Mapping[str, int]) -> str:
    said = (
        f"{counted['num_draft_tokens']:,} drafted and {counted['num_accepted_tokens']:,} accepted "
        f"in {counted['num_drafts']:,} steps"
    )
    emitted = counted.get("emitted_tokens")
    return said if emitted is None else f"{said}, {emitted:,} emitted"
