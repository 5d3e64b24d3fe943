"""From an arm's configuration to an open engine, whichever it asks for."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from specviz.config import EngineKind, RunConfig
from specviz.engines.base import Engine, TimedEngine
from specviz.errors import SpecvizError, UsageError
from specviz.servers import arms
from specviz.servers.launch.pool import ServerPool
from specviz.servers.launch.server import Server
from specviz.servers.usage import Usage, server_usage
from specviz.servers.vllm.metrics import SpecCounters


async def open_arm(
    config: RunConfig, pool: ServerPool, note: Callable[[str], None]
) -> tuple[Engine, RunConfig]:
    """The engine of an arm and its configuration completed with what the engine told.

    Raises an EngineError or UsageError in the user's words.
    """
    if config.engine is EngineKind.EMBEDDED:
        from specviz.engines.embedded.opening import open_embedded  # torch: only where it is used

        return await open_embedded(config, note)
    if config.options:
        raise UsageError(
            f"The option {min(config.options)} is the embedded engine's: a vLLM server is "
            "configured when it starts."
        )
    return await arms.open_arm(config, pool, note)


@dataclass(frozen=True, slots=True)
class TimedArm:
    """One arm of a benchmark, open. `server` is the one started for it; `usage` tells what it
    uses now, None where that cannot be seen."""

    engine: TimedEngine
    config: RunConfig
    server: Server | None
    counters: Callable[[], Awaitable[SpecCounters | None]]
    usage: Callable[[], Usage | None]


async def open_timed_arm(
    config: RunConfig, pool: ServerPool, note: Callable[[str], None]
) -> TimedArm:
    """The engine of a benchmark's arm. Raises an EngineError or UsageError."""
    if config.engine is EngineKind.EMBEDDED:
        return await _open_embedded(config, note)
    engine, complete, server = await arms.open_timed_arm(config, pool, note)
    pid = server.pid if server else None
    return TimedArm(
        engine, complete, server, engine.counters, lambda: server_usage(pid) if pid else None
    )


async def _open_embedded(config: RunConfig, note: Callable[[str], None]) -> TimedArm:
    from specviz.engines.embedded.opening import open_embedded  # torch: only where it is used
    from specviz.engines.embedded.timed import TimedEmbedded

    opened, complete = await open_embedded(config, note)
    engine = TimedEmbedded(opened, complete)
    source = "held beyond plain decoding"
    return TimedArm(
        engine, complete, None, engine.counters, lambda: Usage(engine.extra_bytes, source)
    )


def warm_up() -> threading.Thread:
    """Load the embedded engine in the background, so that its first answer comes at once."""

    def load() -> None:
        from specviz.engines.embedded.opening import warm_up

        # the first run that needs the missing model says so; until then nobody asked
        with contextlib.suppress(SpecvizError):
            warm_up()

    thread = threading.Thread(target=load, name="embedded-warm-up", daemon=True)
    thread.start()
    return thread
