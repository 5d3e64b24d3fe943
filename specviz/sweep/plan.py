"""The benchmark behind "Measure this": every K of one method, and plain decoding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from specviz.bench.load.load import Load
from specviz.bench.plan.plan import Plan, PlanArm
from specviz.config import EngineKind, RunConfig, check_k
from specviz.errors import UsageError
from specviz.methods import Method
from specviz.prompts.sets import PromptSource

FIRST_METHOD = RunConfig(EngineKind.EMBEDDED, Method.EAGLE3)
"""Swept where nothing has been measured yet, because it needs no server."""


def sweep_plan(
    config: RunConfig,
    ks: Sequence[int],
    concurrencies: Sequence[int],
    prompts: PromptSource,
    *,
    baseline: RunConfig | None = None,
    max_tokens: int = 128,
) -> Plan:
    """The arm `config` at each of `ks`, and plain decoding of the same model (`baseline`, else made
    of `config`), at each concurrency. Raises UsageError for what cannot be measured."""
    if not ks:
        raise UsageError("Name at least one K to measure.")
    if config.server_url is not None:
        raise UsageError(
            "An attached server has the K it was started with: start one per K and attach them in "
            "a plan on the Benchmark page."
        )
    for k in ks:
        check_k(config.method, k)
    plain = baseline or replace(config, method=Method.BASELINE, k=None, draft=None, options={})
    arms = [plain, *(replace(config, k=k) for k in sorted(set(ks)))]
    method = config.method.value if config.method else "server"
    return Plan(
        name=f"K of {method}: {', '.join(str(arm.k) for arm in arms[1:])}",
        arms=tuple(PlanArm(arm) for arm in arms),
        prompts=prompts,
        loads=tuple(Load(concurrency=one) for one in sorted(set(concurrencies)) or [1]),
        max_tokens=max_tokens,
    )
