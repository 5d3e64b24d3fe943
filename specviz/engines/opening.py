"""From an arm's configuration to an open engine, whichever it asks for."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

from specviz.config import EngineKind, RunConfig
from specviz.engines.base import Engine
from specviz.engines.vllm import arms
from specviz.engines.vllm.pool import ServerPool
from specviz.errors import SpecvizError, UsageError


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
