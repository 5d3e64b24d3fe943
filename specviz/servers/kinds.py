"""The kinds of servers, and which one an arm starts."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from specviz.config import EngineKind, RunConfig
from specviz.errors import UsageError
from specviz.methods import Method
from specviz.models.pair import Note, pair_of
from specviz.servers.dialect import Dialect
from specviz.servers.launch.launcher import Launcher, ServerSpec
from specviz.servers.launch.schedule import checked_schedule
from specviz.servers.llama_cpp.dialect import LLAMA_CPP
from specviz.servers.lm_studio.dialect import LM_STUDIO
from specviz.servers.openai import openai_compatible
from specviz.servers.sglang.dialect import SGLANG
from specviz.servers.tensorrt_llm.dialect import TENSORRT_LLM
from specviz.servers.triton.dialect import TRITON
from specviz.servers.vllm.dialect import VLLM

KINDS: tuple[Dialect, ...] = (SGLANG, TENSORRT_LLM, TRITON, VLLM, LLAMA_CPP, LM_STUDIO)
"""Every kind that is recognised, in the order in which a server is asked.

Those that name themselves on `/v1/models` come first: TensorRT-LLM has vLLM's `/version`, too.
"""

LAUNCHERS = {kind.launcher.engine: kind.launcher for kind in KINDS if kind.launcher}

OPENAI = openai_compatible(behind=VLLM)
"""Every other server."""


def launcher_of(engine: EngineKind) -> Launcher:
    """What starts the servers of an engine. Raises UsageError where there is nothing to start."""
    if is_started(engine):
        return LAUNCHERS[engine]
    raise UsageError(
        f"specviz cannot start a server for the engine {engine.value}: start one yourself and give "
        "its URL."
    )


def is_started(engine: EngineKind) -> bool:
    """Whether specviz starts servers of this kind; all others are attached by their URL."""
    return engine in LAUNCHERS


def server_spec(
    config: RunConfig, note: Note = lambda text: None, *, trace: bool | None = None
) -> ServerSpec:
    """The server that an arm without a URL asks for.

    `trace` None: the plugin is loaded on a CPU, where it corrects defects of vLLM's CPU build; on a
    GPU what is timed is vLLM as it comes. Raises UsageError.
    """
    launcher = launcher_of(config.engine)
    method = config.method or Method.BASELINE
    pair = pair_of(config.model, config.draft, method, note)
    return ServerSpec(
        launcher,
        model=pair.target,
        method=method,
        draft=pair.draft,
        k=config.k,
        trace=launcher.runs_on_cpu() if trace is None else trace,
        extra_args=tuple(shlex.split(config.options.get("vllm_flags", ""))),
        schedule=_schedule(config),
        policy=Path(config.options["policy"]) if "policy" in config.options else None,
    )


def _schedule(config: RunConfig) -> tuple[tuple[int, int, int], ...]:
    """The option of an arm, JSON as vLLM takes it; empty without one. Raises UsageError."""
    text = config.options.get("schedule")
    return () if text is None else checked_schedule(json.loads(text), config.k)


def default_spec(
    method: Method, k: int | None, *, trace: bool = True, engine: EngineKind = EngineKind.VLLM
) -> ServerSpec:
    """The default model's server for a method. Raises UsageError for a method that the server does
    not have or that lacks its draft."""
    return server_spec(RunConfig(engine, method, k), trace=trace)
