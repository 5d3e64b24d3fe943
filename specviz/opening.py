"""From an arm's configuration to an open engine, whichever it asks for.

`open_arm` opens an engine that shows every step, `open_timed_arm` one that a benchmark times.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from specviz.config import EngineKind, RunConfig
from specviz.engines.base import Engine, TimedEngine
from specviz.errors import EngineError, RequestRefused, SpecvizError, UsageError
from specviz.machine import git_revision, hardware_summary
from specviz.servers.capabilities import Verifier
from specviz.servers.client.engine import ServerEngine, open_server
from specviz.servers.kinds import server_spec
from specviz.servers.launch.pool import ServerPool
from specviz.servers.launch.server import Server
from specviz.servers.launch.usage import Usage, server_usage
from specviz.servers.metrics import SpecCounters
from specviz.servers.timing.timed_server import TimedServer, open_timed_server

Note = Callable[[str], None]
"""Gets what opening does now, for the user to read."""


@dataclass(frozen=True, slots=True)
class TimedArm:
    """One arm of a benchmark, open. `server` is the one started for it; `usage` reports what it
    uses now, None where that cannot be seen."""

    engine: TimedEngine
    config: RunConfig
    server: Server | None
    counters: Callable[[], Awaitable[SpecCounters | None]]
    usage: Callable[[], Usage | None]


async def open_arm(config: RunConfig, pool: ServerPool, note: Note) -> tuple[Engine, RunConfig]:
    """The engine of an arm and its configuration completed with what the engine reports.

    An arm of a server without `server_url` gets one, started (or found running) in `pool`.
    Raises an EngineError or UsageError in the user's words.
    """
    if config.engine is EngineKind.EMBEDDED:
        if config.sampling.spec_k is not None:
            raise UsageError("The embedded engine has one K for a run: give --k, not --spec-k.")
        with _installed():
            from specviz.engines.embedded.opening import open_embedded

        return await open_embedded(config, note)
    if config.options:
        raise UsageError(
            f"The option {min(config.options)} is the embedded engine's: a server is configured "
            "when it starts."
        )
    url = config.server_url
    if url is None:
        started = await asyncio.to_thread(_start, config, pool, note, trace=True)
        url, config = started.url, replace(config, model=None)
    engine = await open_server(
        url, model=config.model, method=config.method, k=config.k, traced=config.traced
    )
    try:
        complete = _completed(config, engine)
        await engine.warm_up()
    except EngineError:
        await engine.close()
        raise
    return engine, complete


async def open_timed_arm(config: RunConfig, pool: ServerPool, note: Note) -> TimedArm:
    """The engine of a benchmark's arm. Raises an EngineError or UsageError."""
    if config.engine is EngineKind.EMBEDDED:
        return await _open_timed_embedded(config, note)
    started, url = None, config.server_url
    if url is None:
        started = await asyncio.to_thread(_start, config, pool, note)
        url, config = started.url, replace(config, model=None)
    engine = await open_timed_server(url, model=config.model, method=config.method, k=config.k)
    try:
        complete = _completed(config, engine)
    except EngineError:
        await engine.close()
        raise
    pid = started.pid if started else None
    return TimedArm(
        engine, complete, started, engine.counters, lambda: server_usage(pid) if pid else None
    )


async def _open_timed_embedded(config: RunConfig, note: Note) -> TimedArm:
    with _installed():
        from specviz.engines.embedded.opening import open_embedded
        from specviz.engines.embedded.timed import TimedEmbedded

    opened, complete = await open_embedded(config, note)
    engine = TimedEmbedded(opened, complete)
    source = "held beyond plain decoding"
    return TimedArm(
        engine, complete, None, engine.counters, lambda: Usage(engine.extra_bytes, source)
    )


def _start(config: RunConfig, pool: ServerPool, note: Note, *, trace: bool | None = None) -> Server:
    """The server that an arm without a URL asks for, and `trace` as `server_spec` says."""
    return pool.ensure(server_spec(config, note, trace=trace), note)


@contextmanager
def _installed() -> Iterator[None]:
    """Around imports of the embedded engine, which has torch: only where it is used.

    Raises EngineError where torch is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise EngineError(
            f"The embedded engine needs {error.name}, which is not installed here: run "
            "`make install` for all of specviz, or name a server with its URL."
        ) from error


def _completed(config: RunConfig, engine: ServerEngine | TimedServer) -> RunConfig:
    """`config` with the kind of server, the model, the method and K as they were found.

    Raises RequestRefused where the server contradicts what was asked for.
    """
    server = engine.server
    if config.method not in (None, engine.method):
        drafts = engine.method.value if engine.method else "a method that it does not report"
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
        engine=server.dialect.engine,
        method=engine.method,
        k=engine.k,
        model=engine.model,
        draft=server.capabilities.draft,
        server_url=server.url,
        server_version=server.software,
        traced=isinstance(engine, ServerEngine) and engine.traced,
        hardware=hardware_summary(),
        git_revision=git_revision(),
        options=config.options | _acceptance(server.capabilities.verifier),
    )


def _acceptance(verifier: Verifier | None) -> dict[str, str]:
    """The server's acceptance rule as an option, where it is known not to be lossless."""
    if verifier is None or verifier.is_lossless is not False:
        return {}
    return {"acceptance": verifier.name}


def warm_up() -> threading.Thread:
    """Load the embedded engine in the background, so that its first answer comes at once."""

    def prepare() -> None:
        # the first run that needs what is missing reports it; until then nobody asked
        with suppress(SpecvizError), _installed():
            from specviz.engines.embedded.opening import warm_up

            warm_up()

    thread = threading.Thread(target=prepare, name="warm-up")
    thread.start()
    return thread
