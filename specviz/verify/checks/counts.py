"""Do the steps that were shown add up to the server's own counters?"""

from __future__ import annotations

from specviz.trace import Fidelity
from specviz.verify.evidence import Speculated
from specviz.verify.finding import Finding, Outcome

CHECK, TITLE = "counters", "Steps add up to the server's counters"


def counts(found: Speculated) -> Finding:
    """Drafts, drafted and accepted tokens of all traced requests against the counters' difference,
    which only means anything while nobody else uses the server."""
    server = found.answered.server
    if found.before is None or found.after is None:
        sentence = f"The server at {server.url} has no speculation counters on /metrics."
        return Finding(CHECK, TITLE, Outcome.NOT_MEASURED, sentence)
    counted = found.after - found.before
    if counted.went_back:
        sentence = "The counters went back: the server was started again meanwhile."
        return Finding(CHECK, TITLE, Outcome.NOT_MEASURED, sentence)
    inferred = sum(trace.fidelity is Fidelity.INFERRED for trace in found.traces)
    if inferred:
        sentence = (
            f"{inferred} of {len(found.traces)} answers came without counts. {server.advice or ''}"
        )
        return Finding(CHECK, TITLE, Outcome.NOT_MEASURED, sentence.strip())
    drafting = [step for trace in found.traces for step in trace.steps if step.drafted]
    shown = {
        "num_drafts": len(drafting),
        "num_draft_tokens": sum(len(step.drafted) for step in drafting),
        "num_accepted_tokens": sum(step.num_accepted for step in drafting),
    }
    figures = {
        **shown,
        **{f"server_{name}": getattr(counted, name) for name in shown},
        "emitted_tokens": sum(len(trace.emitted) for trace in found.traces),
        "requests": len(found.traces),
    }
    sums = (
        f"{shown['num_draft_tokens']:,} drafted and {shown['num_accepted_tokens']:,} accepted in "
        f"{shown['num_drafts']:,} steps"
    )
    if all(getattr(counted, name) == value for name, value in shown.items()):
        sentence = f"{sums} of {len(found.traces)} answers: as the server counted them."
        return Finding(CHECK, TITLE, Outcome.HOLDS, sentence, figures)
    sentence = (
        f"The answers show {sums}; the server counted {counted.num_draft_tokens:,}, "
        f"{counted.num_accepted_tokens:,} and {counted.num_drafts:,}. Verify a server that nobody "
        "else uses meanwhile."
    )
    return Finding(CHECK, TITLE, Outcome.FAILS, sentence, figures)
