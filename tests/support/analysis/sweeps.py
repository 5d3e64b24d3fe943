"""Made-up sweeps over K, load and temperature, whose truth is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from specviz.analysis.benchmark.families import Family
from specviz.analysis.benchmark.results import ArmState

Place = tuple[float, int]
Speed = Callable[[int, float, int], float]
"""Tokens per 10 ms by K, temperature and concurrency; K 0 is plain decoding."""

TOKENS = 41
PER_BLOCK = 4


def arm(index: int, k: int, *, has_baseline: bool = True) -> ArmState:
    return ArmState(
        arm=f"eagle3 · K {k}" if k else "baseline",
        arm_index=index,
        engine="vllm",
        method="eagle3" if k else "baseline",
        k=k or None,
        model="m",
        draft=None,
        server=None,
        prefix_caching="off",
        start_s=1.0,
        finished=1,
        planned=1,
        error=None,
        baseline=0 if k and has_baseline else None,
    )


def family(*ks: int, has_baseline: bool = True, at_zero: int | None = None) -> Family:
    """Arm 0 is the baseline; the Ks are arms 1, 2, …; `at_zero` is one held at 0."""
    arms = (arm(index, k, has_baseline=has_baseline) for index, k in enumerate(ks, start=1))
    held = None if at_zero is None else replace(arm(at_zero, max(ks)), arm="eagle3 · at 0")
    return Family("eagle3", tuple(arms), held)


def sweep(
    ks: Iterable[int],
    places: Iterable[Place],
    speed: Speed,
    *,
    noise: float = 0.02,
    prompts: int = 24,
    seed: int = 0,
    without: Callable[[int, Place], bool] = lambda k, place: False,
    counted: bool = True,
) -> pd.DataFrame:
    """One row per request. `without`: the arms and places that were not measured."""
    rng = np.random.default_rng(seed)
    rows = [
        row
        for index, k in enumerate((0, *ks))
        for place in places
        if not without(k, place)
        for row in _requests(rng, index, k, place, speed(k, *place), noise, prompts, counted)
    ]
    frame = pd.DataFrame(rows)
    return frame.astype({"concurrency": "Int64", "output_tokens": "Int64"})


def _requests(
    rng: np.random.Generator,
    index: int,
    k: int,
    place: Place,
    speed: float,
    noise: float,
    prompts: int,
    counted: bool,
) -> Iterable[dict[str, Any]]:
    temperature, concurrency = place
    size = 1 if concurrency == 1 else PER_BLOCK
    for prompt in range(prompts):
        tpot_ms = 10.0 / speed * float(np.exp(rng.normal(0, noise)))
        steps = round((TOKENS - 1) / (1 + accepted(k, temperature))) if k else 0
        yield {
            "arm_index": index,
            "server_group": 0,
            "round_id": f"{index}/{temperature}/{concurrency}",
            "temperature": temperature,
            "concurrency": concurrency,
            "request_rate": np.nan,
            "prompt_index": prompt,
            "turn": 0,
            "category": "short_qa",
            "status": "finished",
            "block": f"{prompt // size}",
            "sent_ms": 0.0,
            "ttft_ms": 20.0,
            "tpot_ms": tpot_ms,
            "e2el_ms": 20.0 + (TOKENS - 1) * tpot_ms,
            "output_tokens": TOKENS,
            "chunk_ms": None,
            "per_step_drafted": [k] * steps if k and counted else None,
            "per_step_accepted": _accepted_in(steps, k, temperature) if k and counted else None,
        }


def accepted(k: int, temperature: float) -> float:
    """Mean accepted tokens per step: half as many at 0.7 as at 0."""
    return k * (0.8 if temperature == 0 else 0.4)


def _accepted_in(steps: int, k: int, temperature: float) -> list[int]:
    """Steps with that mean, to the nearest token."""
    ends = np.round(np.arange(steps + 1) * accepted(k, temperature)).astype(int)
    return [int(count) for count in np.diff(ends)]
