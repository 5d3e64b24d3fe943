"""Every framework with a schedule of its own, and the schedule of a policy: the one way in."""

from __future__ import annotations

from dataclasses import replace

from specviz.deploy.frameworks import framework_of, unchecked
from specviz.deploy.schedules import sglang, tensorrt_llm, vllm
from specviz.deploy.schedules.steps import Schedule, steps_of
from specviz.deploy.sglang import SGLANG
from specviz.deploy.tensorrt_llm import TENSORRT_LLM
from specviz.errors import UsageError
from specviz.methods import VLLM
from specviz.policy.policy import Policy

_WRITERS = {
    VLLM: vllm.schedule,
    SGLANG: sglang.schedule,
    TENSORRT_LLM: tensorrt_llm.schedule,
}
NAMES = tuple(_WRITERS)


def schedule_of(
    framework: str,
    policy: Policy,
    temperature: float = 0.0,
    top_p: float = 1.0,
    category: str | None = None,
    version: str | None = None,
) -> Schedule:
    """K by batch size as a framework takes it: the row of such requests, for all requests.

    Raises UsageError for a framework without a schedule, and for a row that it cannot express.
    """
    if framework not in _WRITERS:
        raise UsageError(f"{framework!r} has no schedule of K: choose from {', '.join(NAMES)}.")
    known = framework_of(framework)
    version = version or known.versions[-1]
    steps = steps_of(policy, temperature, top_p, category)
    found = _WRITERS[framework](steps, version)
    return replace(found, remarks=(*unchecked(known, version), *found.remarks))
