"""Small benchmarks as the frames that `summarise` reads, one keyword per column that matters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from specviz.analysis.benchmark.results import ArmState, Results, Slo
from specviz.analysis.benchmark.summary import summarise
from tests.support.properties import share

SOME = share(0.25)
"""For properties of frames: pandas takes milliseconds per example, more on a busy machine."""

INTEGERS = (
    *("concurrency", "output_tokens", "num_drafts", "num_draft_tokens", "num_accepted_tokens"),
    *(
        *("num_judged_tokens", "num_steps", "first_tokens"),
        "memory_bytes",
        "server_drafts",
        "server_draft_tokens",
        "server_accepted_tokens",
    ),
)


QUIET = dict(
    is_disturbed=False,
    repeats=None,
    watched="this machine",
    wall_s=0.1,
    others_share=0.02,
    steal_share=0.0,
    throttled_share=0.0,
    gpu_others_share=None,
)
"""Columns of a block during which nothing else used the machine."""


def request(arm_index: int = 0, prompt_index: int = 0, **columns: Any) -> dict[str, Any]:
    """One row; a baseline's answer of ten tokens in 100 ms unless `columns` say otherwise."""
    accepted, drafted = columns.get("per_step_accepted"), columns.get("per_step_drafted")
    repetition = columns.get("repetition", 0)
    return {
        **dict(arm_index=arm_index, server_group=0, round_id=f"{arm_index}-{repetition}"),
        **dict(temperature=0.0, concurrency=1, request_rate=None, repetition=repetition),
        **dict(prompt_index=prompt_index, turn=0, category="short_qa", status="finished"),
        **dict(block=f"b{prompt_index}", sent_ms=0.0, queue_ms=0.0, ttft_ms=10.0, tpot_ms=10.0),
        **dict(e2el_ms=100.0, output_tokens=10, output_hash=1, chunk_ms=[10.0, 100.0]),
        **dict(
            per_step_accepted=None, per_step_drafted=None, is_chain=True, num_judged_tokens=None
        ),
        **dict(num_steps=10, first_tokens=1, ttfo_ms=10.0, has_side_text=False),
        **dict(draft_ms=None, overlapped_draft_ms=None, verify_ms=None),
        "num_drafts": 0 if accepted is None else len(accepted),
        "num_draft_tokens": 0 if drafted is None else sum(drafted),
        "num_accepted_tokens": 0 if accepted is None else sum(accepted),
        **{**QUIET, **columns},
    }


def failed(arm_index: int = 0, prompt_index: int = 0, **columns: Any) -> dict[str, Any]:
    """A row without figures."""
    names = "sent_ms queue_ms ttft_ms tpot_ms e2el_ms output_tokens output_hash chunk_ms".split()
    names += ["num_steps", "first_tokens", "ttfo_ms"]
    counts = "num_drafts num_draft_tokens num_accepted_tokens".split()
    nothing = dict.fromkeys([*names, *counts])
    return request(arm_index, prompt_index, **{**nothing, "status": "failed", **columns})


def round_of(arm_index: int = 0, **columns: Any) -> dict[str, Any]:
    repetition = columns.get("repetition", 0)
    return {
        **dict(round_id=f"{arm_index}-{repetition}", arm_index=arm_index, temperature=0.0),
        **dict(concurrency=1, request_rate=None, repetition=repetition, complete=True),
        **dict(memory_bytes=None, memory_source=None, gpu_utilization=None),
        **dict(server_drafts=None, server_draft_tokens=None, server_accepted_tokens=None),
        **columns,
    }


def frame(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Rows with the column types of the store."""
    table = pd.DataFrame(list(rows))
    floats = "request_rate sent_ms queue_ms ttft_ms tpot_ms e2el_ms gpu_utilization".split()
    floats += ["draft_ms", "overlapped_draft_ms", "verify_ms"]
    kinds = {**dict.fromkeys(INTEGERS, "Int64"), **dict.fromkeys(floats, "float64")}
    return table.astype({name: kind for name, kind in kinds.items() if name in table.columns})


def arm(arm_index: int = 0, method: str = "baseline", **columns: Any) -> ArmState:
    """Arm 0 is the baseline, the others are compared with it."""
    values: dict[str, Any] = {
        **dict(arm=f"{method} {arm_index}", arm_index=arm_index, engine="embedded", method=method),
        **dict(k=None, model="demo-target", draft=None, server=None, prefix_caching="off"),
        **dict(start_s=1.0, finished=1, planned=1, error=None),
        "baseline": None if method == "baseline" else 0,
    }
    return ArmState(**{**values, **columns})


ARMS = (arm(0), arm(1, "eagle"))


def results(
    rows: Sequence[dict[str, Any]],
    rounds: Sequence[dict[str, Any]] = (),
    arms: Sequence[ArmState] = ARMS,
    slo: Slo | None = None,
) -> Results:
    return summarise(arms, frame(rows), frame(rounds), slo or Slo())
