"""Evidence of two servers that agree, made by hand, and the ways to spoil it."""

from __future__ import annotations

from dataclasses import replace

from specviz.config import Prompt
from specviz.methods import Method
from specviz.servers.capabilities import Capabilities
from specviz.servers.client.probe import FoundServer
from specviz.servers.metrics import RequestTimes, SpecCounters
from specviz.servers.vllm.dialect import VLLM
from specviz.servers.vllm.verifier import verifier
from specviz.trace import (
    EmittedToken,
    Fidelity,
    Origin,
    Step,
    TokenDecision,
    TopToken,
    Trace,
    Verdict,
)
from specviz.verify.evidence import Answered, Drawn, Greedy, Speculated, Timing, TracingCost
from specviz.verify.rounding import Rounding

IDS = (11, 12, 13, 14)
PROMPT_IDS = (1, 2, 3)


def server(**capabilities: object) -> FoundServer:
    found = Capabilities(version="0.32.0", **capabilities)  # type: ignore[arg-type]
    return FoundServer("http://127.0.0.1:8000", "demo", ("demo",), VLLM, found)


BASELINE = server(speculates=False)
SPECULATING = server(
    speculates=True,
    tracing=True,
    method=Method.DRAFT_MODEL,
    k=3,
    runner="v2",
    verifier=verifier("standard"),
)


def judged(token_id: int, verdict: Verdict, **more: object) -> TokenDecision:
    """A token of a greedy chain: the target's first choice is accepted."""
    accepted = verdict is Verdict.ACCEPTED
    best = token_id if accepted else 99
    fields: dict[str, object] = {
        "depth": 1, "parent": -1, "token_id": token_id, "text": f"t{token_id}", "verdict": verdict,
        "draft_prob": 1.0, "target_prob": 0.9 if accepted else 0.1,
        "accept_prob": 1.0 if accepted else 0.0,
        "target_top": (TopToken(best, f"t{best}", 0.9), TopToken(98, "t98", 0.05)),
    }  # fmt: skip
    if verdict is Verdict.UNVERIFIED:
        fields |= {"accept_prob": None, "target_prob": None, "target_top": ()}
    return TokenDecision(**(fields | more))  # type: ignore[arg-type]


GREEDY_STEP = Step(
    0,
    5.0,
    (
        judged(11, Verdict.ACCEPTED),
        judged(12, Verdict.ACCEPTED),
        judged(50, Verdict.REJECTED),
    ),
    tuple(EmittedToken(place, token, f"t{token}", Origin.ACCEPTED) for place, token in
          enumerate(IDS[:3])),
)  # fmt: skip
DRAWN_STEP = Step(
    1,
    9.0,
    (
        judged(13, Verdict.ACCEPTED, draft_prob=0.5, target_prob=0.25, accept_prob=0.5, u=0.4),
        judged(14, Verdict.REJECTED, draft_prob=0.8, target_prob=0.2, accept_prob=0.25, u=0.3),
        judged(15, Verdict.UNVERIFIED),
    ),
    (EmittedToken(3, 14, "t14", Origin.ACCEPTED),),
)


def traced(*steps: Step, ids: tuple[int, ...] = IDS) -> Trace:
    found = Trace("specviz-1", Fidelity.TRACED, steps or (GREEDY_STEP, DRAWN_STEP), PROMPT_IDS)
    assert found.token_ids == ids or steps
    return found


def plain(ids: tuple[int, ...] = IDS, prompt_ids: tuple[int, ...] = PROMPT_IDS) -> Trace:
    """Plain decoding: one token per step."""
    steps = tuple(
        Step(place, float(place), (), (EmittedToken(place, token, f"t{token}", Origin.TARGET),))
        for place, token in enumerate(ids)
    )
    return Trace("b-1", Fidelity.COUNTED, steps, prompt_ids)


PROMPTS = tuple(Prompt(f"question {number}", prompt_id=f"p{number}") for number in range(3))
GAPS = (3.0, 3.0, 3.0, 0.1)
ROUNDING = Rounding(positions=100, moved=40, size=0.05)
"""Parts at the last of these gaps, and not at the others."""


AGREES = RequestTimes(1, 0.098, 0.495)


def timed(*server: RequestTimes, round_trip_s: float = 0.001) -> Timing:
    """Four requests, 100 ms to the first token and 500 ms in all."""
    client = (RequestTimes(1, 0.1, 0.5),) * 4
    return Timing(client, server or (AGREES,) * 4, (round_trip_s,) * 4)


def answered(of: FoundServer, trace: Trace, sampled: tuple[tuple[int, ...], ...] = ()) -> Answered:
    drawn = tuple(Drawn(ids, "".join(f" t{token}" for token in ids)) for ids in sampled)
    return Answered(of, tuple(Greedy(prompt, trace, GAPS) for prompt in PROMPTS), (drawn,))


def speculated(trace: Trace | None = None, **changes: object) -> Speculated:
    """Three traced answers, whose sums the counters have."""
    trace = trace or traced()
    whole = Speculated(
        answered=answered(SPECULATING, trace),
        traces=(trace,) * 3,
        before=SpecCounters(10, 30, 20, (10, 10, 0)),
        after=SpecCounters(16, 48, 29, (16, 13, 0)),
        timing=timed(),
        tracing=(TracingCost(1, ((1.0, 100, 1.1, 100), (1.0, 100, 1.08, 100))),),
        output_tokens=12,
    )
    return replace(whole, **changes)  # type: ignore[arg-type]
