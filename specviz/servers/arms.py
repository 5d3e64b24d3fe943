"""From an arm to an open engine: attach by URL, or start the demo server that it needs."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable
from dataclasses import replace

from specviz.config import Method, RunConfig
from specviz.errors import EngineError, RequestRefused
from specviz.machine import git_revision, hardware_summary
from specviz.methods import METHODS
from specviz.paths import DEMO_TARGET
from specviz.servers.client.client import VllmEngine, open_vllm
from specviz.servers.hardware import runs_on_cpu
from specviz.servers.launch.pool import ServerPool
from specviz.servers.launch.server import Server
from specviz.servers.timing.timed import TimedServer, open_timed
from specviz.servers.vllm.command_line import ServerSpec


def demo_spec(method: Method, k: int | None, *, trace: bool = True) -> ServerSpec:
    """The demo family's server for a method. Raises UsageError for one vLLM does not have."""
    draft = METHODS[method].demo_draft
    return ServerSpec(
        model=str(DEMO_TARGET),
        method=method,
        draft=str(draft) if draft else None,
        k=k,
        trace=trace,
    )


async def open_arm(
    config: RunConfig, pool: ServerPool, note: Callable[[str], None]
) -> tuple[VllmEngine, RunConfig]:
    """The engine of an arm and its configuration completed with what the server told.

    Without `server_url` the demo family's server is started (or found running) in `pool`.
    Raises an EngineError or UsageError in the user's words.
    """
    url = config.server_url
    if url is None:
        spec = demo_spec(config.method or Method.BASELINE, config.k)
        url = (await asyncio.to_thread(pool.ensure, spec, note)).url
    engine = await open_vllm(
        url, model=config.model, method=config.method, k=config.k, traced=config.traced
    )
    try:
        complete = completed(config, engine)
        await engine.warm_up()
    except EngineError:
        await engine.close()
        raise
    return engine, complete


async def open_timed_arm(
    config: RunConfig, pool: ServerPool, note: Callable[[str], None]
) -> tuple[TimedServer, RunConfig, Server | None]:
    """An arm for timing: its server as a benchmark uses it, and the one started for it, if any.

    Raises an EngineError or UsageError in the user's words.
    """
    started, url = None, config.server_url
    if url is None:
        started = await asyncio.to_thread(pool.ensure, server_spec(config), note)
        url, config = started.url, replace(config, model=None)
    engine = await open_timed(url, model=config.model, method=config.method, k=config.k)
    try:
        return engine, completed(config, engine), started
    except EngineError:
        await engine.close()
        raise


def server_spec(config: RunConfig) -> ServerSpec:
    """The server that an arm without a URL asks for: the demo family's unless it names a model.

    The plugin is loaded on a CPU, where it corrects defects of vLLM's CPU build; on a GPU it would
    choose another model runner, so it stays out of what is timed. Raises UsageError.
    """
    method = config.method or Method.BASELINE
    draft, demo = config.draft, METHODS[method].demo_draft
    if draft is None and config.model is None and demo is not None:
        draft = str(demo)
    return ServerSpec(
        model=config.model or str(DEMO_TARGET),
        method=method,
        draft=draft,
        k=config.k,
        trace=runs_on_cpu(),
        extra_args=tuple(shlex.split(config.options.get("vllm_flags", ""))),
    )


def completed(config: RunConfig, engine: VllmEngine | TimedServer) -> RunConfig:
    """`config` with the server's own word on model, method and K.

    Raises RequestRefused where the server contradicts what was asked for.
    """
    server = engine.capabilities
    if config.method not in (None, engine.method):
        drafts = engine.method.value if engine.method else "nothing it tells of"
        raise RequestRefused(
            f"The server at {server.url} runs {drafts}, not {config.method}: "
            "choose its method or start another server."
        )
    if config.k is not None and config.k != engine.k:
        raise RequestRefused(
            f"The server at {server.url} runs with K = {engine.k}, not {config.k}: K is set when "
            "a server starts."
        )
    return replace(
        config,
        method=engine.method,
        k=engine.k,
        model=engine.model,
        draft=server.draft,
        server_url=server.url,
        server_version=f"vLLM {server.vllm_version}" if server.is_vllm else None,
        traced=isinstance(engine, VllmEngine) and engine.traced,
        hardware=hardware_summary(),
        git_revision=git_revision(),
    )
