"""A speed-up is against a baseline of the same engine on the same machine, or there is none."""

from __future__ import annotations

import pytest

from specviz.analysis.readout import SPEEDUP
from specviz.config import EngineKind, RunConfig
from specviz.engines.replay import events_of
from specviz.live.job import ArmLog, Phase
from specviz.methods import Method
from specviz.strip.messages import figures_of
from specviz.trace import EmittedToken, Fidelity, Origin, Step, Trace

HERE, THERE = "http://127.0.0.1:8000", "http://10.0.0.7:8000"


def arm(
    engine: EngineKind, method: Method, url: str | None = None, e2el_ms: float = 40.0
) -> ArmLog:
    steps = tuple(
        Step(index, float(index), (), (EmittedToken(index, index, "t", Origin.TARGET),))
        for index in range(3)
    )
    k = None if method is Method.BASELINE else 3
    log = ArmLog(f"{engine}-{method}-{url}", RunConfig(engine, method, k, server_url=url))
    for event in events_of(Trace("r", Fidelity.COUNTED, steps, (1,), 1.0, e2el_ms, "stop")):
        log.append(event)
    log.phase = Phase.FINISHED
    return log


def speed_up(one: ArmLog, *others: ArmLog) -> tuple[str | None, str]:
    row = {figure["label"]: figure for figure in figures_of(one, [one, *others])}
    return row[SPEEDUP]["value"], row[SPEEDUP]["reason"] or ""


EMBEDDED = arm(EngineKind.EMBEDDED, Method.BASELINE)
NEAR = arm(EngineKind.VLLM, Method.BASELINE, HERE)
FAR = arm(EngineKind.VLLM, Method.BASELINE, THERE)
NGRAM = arm(EngineKind.VLLM, Method.NGRAM, "http://localhost:8001", 20.0)


@pytest.mark.parametrize(
    ("baseline", "reason"),
    [
        (EMBEDDED, "another engine (embedded, this arm vllm)"),
        (FAR, "another machine (10.0.0.7, this arm this machine)"),
    ],
)
def test_a_baseline_elsewhere_gives_no_speed_up(baseline: ArmLog, reason: str) -> None:
    value, found = speed_up(NGRAM, baseline)
    assert value is None and reason in found


def test_the_baseline_of_the_same_engine_and_machine_is_found_among_others() -> None:
    assert speed_up(NGRAM, EMBEDDED, FAR, NEAR)[0] == "2×"
