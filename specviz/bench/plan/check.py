"""Whether this machine can run a plan, checked before anything is started."""

from __future__ import annotations

from specviz.bench.plan.plan import Plan
from specviz.config import EngineKind, RunConfig
from specviz.engines.embedded.options import parse_options, settle
from specviz.errors import UsageError
from specviz.methods import Method
from specviz.servers.kinds import launcher_of, server_spec
from specviz.servers.launch.pool import MAX_SERVERS

OF_VLLM = {"vllm_flags", "schedule", "policy"}
"""Options of an arm whose vLLM server specviz starts."""


def check_arms(plan: Plan) -> None:
    """Raise UsageError for an arm that cannot run, named."""
    for name, arm in zip(plan.arm_names, plan.arms, strict=True):
        try:
            _check(arm.config)
        except UsageError as error:
            raise UsageError(f"The arm {name} cannot run: {error}") from error


def servers_at_once(plan: Plan) -> int:
    """How many servers run at the same time: as the plan says, else several small ones on a CPU
    and one on a GPU, which a server fills by default."""
    if plan.servers_at_once is not None:
        return plan.servers_at_once
    started = {arm.config.engine for arm in plan.arms if arm.starts_server}
    return MAX_SERVERS if all(launcher_of(engine).runs_on_cpu() for engine in started) else 1


def _check(config: RunConfig) -> None:
    if config.engine is EngineKind.EMBEDDED:
        settle(parse_options(config.options), config.method or Method.BASELINE)
        return
    if unknown := config.options.keys() - OF_VLLM:
        raise UsageError(
            f"The option {min(unknown)} is the embedded engine's: give a server vllm_flags."
        )
    given = min(config.options, default=None)
    if given and config.engine is EngineKind.LLAMA_CPP:
        raise UsageError(f"{given} is vLLM's: leave it out of an arm of llama.cpp.")
    if config.server_url is None:
        server_spec(config)
    elif given:
        raise UsageError(f"{given} is for a server that specviz starts: leave server_url out.")
