"""Record the traces in `data/traces`: every method, or those named, on one shipped prompt.

    PYTHONPATH=. .venv/bin/python scripts/record_traces.py [METHOD …]

The Learn page plays them. Each file is one recording of the embedded engine in the format of
`specviz.store.runs.run_json`, without its machine: only times depend on it.
"""

from __future__ import annotations

import asyncio
import json
import sys
import uuid
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from specviz.config import EngineKind, Prompt, Run, RunConfig, RunStatus, Sampling
from specviz.methods import Method
from specviz.opening import open_arm
from specviz.paths import DATA, LOGS
from specviz.prompts.shipped import FIRST_CATEGORY, FIRST_PROMPT, load_prompts
from specviz.servers.launch.pool import ServerPool
from specviz.store import RecordedRequest, recording_to_dict
from specviz.trace import Event, RequestFinished, Step, TokenDecision, fold

TRACES = DATA / "traces"
SAMPLING = Sampling(temperature=1.0, max_tokens=64, seed=7)
K, NODES = 5, 8
TREES = (Method.MEDUSA, Method.EAGLE3)  # recorded as trees; the others draft a chain of K
ANSWERS = 8
IDLE_S = 1.0
"""Mirror's side thread ends after an idle time; a process that exits before that is aborted."""
DIGITS = 6


async def recorded(method: Method, prompt: Prompt, pool: ServerPool) -> dict[str, Any]:
    """The fastest of several answers, which differ only in their times: the seed is the same.

    For suffix the first answer, the only one without an earlier answer to copy from.
    """
    options = {"dtype": "float32", **({"shape": "tree"} if method in TREES else {})}
    k = NODES if method in TREES else K
    wanted = RunConfig(EngineKind.EMBEDDED, method, k, SAMPLING, options=options)
    engine, config = await open_arm(wanted, pool, lambda text: None)
    config = replace(config, hardware=None)
    started_at = datetime.now(UTC)
    try:
        answers = [
            [event async for event in engine.generate(prompt, SAMPLING)]
            for _ in range(1 if method is Method.SUFFIX else ANSWERS)
        ]
    finally:
        await engine.close()
    run_id = uuid.uuid4().hex
    run = Run(run_id, run_id, config, RunStatus.FINISHED, started_at, datetime.now(UTC))
    quickest = min(answers, key=lambda events: fold(events).e2el_ms or float("inf"))
    kept = tuple(_rounded(event) for event in quickest)
    return recording_to_dict(run, [RecordedRequest(prompt, kept, RunStatus.FINISHED, started_at)])


def _rounded(event: Event) -> Event:
    """Times to the microsecond, probabilities to six digits: more than a page shows."""
    if isinstance(event, Step):
        times = ("elapsed_ms", "draft_ms", "verify_ms", "wall_ms")
        return replace(
            event,
            **{name: _round(getattr(event, name), 3) for name in times},
            spans=tuple(
                replace(span, start_ms=round(span.start_ms, 3), end_ms=round(span.end_ms, 3))
                for span in event.spans
            ),
            drafted=tuple(_rounded_token(token) for token in event.drafted),
        )
    if isinstance(event, RequestFinished):
        return replace(event, ttft_ms=_round(event.ttft_ms, 3), e2el_ms=round(event.e2el_ms, 3))
    return event


def _rounded_token(token: TokenDecision) -> TokenDecision:
    names = ("draft_prob", "target_prob", "accept_prob", "u")
    top = tuple(replace(best, prob=round(best.prob, DIGITS)) for best in token.target_top)
    return replace(
        token, **{name: _round(getattr(token, name), DIGITS) for name in names}, target_top=top
    )


def _round(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


async def record_all(methods: Sequence[Method]) -> None:
    prompt = next(one for one in load_prompts(FIRST_CATEGORY) if one.prompt_id == FIRST_PROMPT)
    with closing(ServerPool(LOGS)) as pool:
        for method in methods:
            recording = await recorded(method, prompt, pool)
            text = json.dumps(recording, ensure_ascii=False, separators=(",", ":"))
            (TRACES / f"{method.value}.json").write_text(text + "\n", encoding="utf-8")
            print(f"{method.value}: {len(text):,} bytes", file=sys.stderr)
    await asyncio.sleep(IDLE_S)


if __name__ == "__main__":
    named = [Method(name) for name in sys.argv[1:]]
    asyncio.run(record_all(named or [one for one in Method if one is not Method.BASELINE]))
