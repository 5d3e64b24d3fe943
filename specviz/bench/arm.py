"""One arm of a running benchmark: its engine, its counts, and whether it still answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from specviz.analysis.benchmark.disturbance import THIS_MACHINE
from specviz.bench.load.load import Load
from specviz.bench.load.traffic import Traffic
from specviz.bench.server_process import watched_of
from specviz.bench.tally import ArmTally
from specviz.config import RunConfig
from specviz.engines.base import TimedEngine
from specviz.engines.embedded.options import dtype_of
from specviz.errors import EngineError
from specviz.opening import TimedArm
from specviz.store import ArmRow

DYING_S = 2.0
"""How long a server that failed a request may take to be gone."""


@dataclass(slots=True)
class BenchArm:
    """An open arm. `warm`: the temperatures and loads it was warmed up in; `failures`: requests
    that failed since the last one that did not; `is_suspect`: one of them was not just refused.
    `watched`: where others are seen that disturb it; `server_pid`: a server of somebody else's on
    this machine."""

    index: int
    opened: TimedArm
    tally: ArmTally
    prefix_caching: bool | None
    warm: set[tuple[float, Load | Traffic]] = field(default_factory=set)
    failures: int = 0
    is_suspect: bool = False
    watched: str = THIS_MACHINE
    server_pid: int | None = None

    @property
    def engine(self) -> TimedEngine:
        return self.opened.engine

    @property
    def config(self) -> RunConfig:
        return self.opened.config

    def row(self, error: str | None = None) -> ArmRow:
        started = self.opened.server
        return arm_row(
            self.index,
            self.tally.name,
            self.config,
            prefix_caching=self.prefix_caching,
            start_s=started.started_in_s if started else None,
            error=error,
        )

    async def why_dead(self) -> str | None:
        """Why the arm's server no longer answers; None while it does."""
        server = self.opened.server
        if server is not None:
            for _ in range(round(DYING_S / 0.1)):
                if reason := server.failure_reason():
                    return f"The server ended: {reason}"
                await asyncio.sleep(0.1)
        try:
            await self.opened.counters()
        except EngineError as error:
            return str(error)
        return None

    async def close(self) -> None:
        """Let go of the engine, and end the server that was started for it: the next group of
        arms needs its memory."""
        await self.engine.close()
        if self.opened.server is not None:
            await asyncio.to_thread(self.opened.server.stop)


async def open_arm(
    index: int,
    config: RunConfig,
    tally: ArmTally,
    open_timed: Callable[[RunConfig, Callable[[str], None]], Awaitable[TimedArm]],
    note: Callable[[str], None],
) -> BenchArm:
    """Open an arm and ask what it caches. Raises an EngineError or UsageError."""
    opened = await open_timed(config, note)
    url = opened.config.server_url if opened.server is None else None
    watched, pid = await asyncio.to_thread(watched_of, url)
    caching = await opened.engine.prefix_caching()
    return BenchArm(index, opened, tally, caching, watched=watched, server_pid=pid)


def as_opened(config: RunConfig, row: ArmRow | None) -> RunConfig:
    """`config` with the dtype that the embedded engine had when the arm was opened before.

    A plan may leave it to the engine, and another machine or version may choose another one.
    """
    dtype = dtype_of(row.server_version) if row else None
    return replace(config, options={**config.options, "dtype": dtype}) if dtype else config


def arm_row(
    index: int,
    name: str,
    config: RunConfig,
    *,
    prefix_caching: bool | None = None,
    start_s: float | None = None,
    error: str | None = None,
) -> ArmRow:
    """An arm as the store keeps it."""
    return ArmRow(
        arm_index=index,
        name=name,
        engine=config.engine.value,
        method=config.method.value if config.method else None,
        k=config.k,
        model=config.model,
        draft=config.draft,
        server_url=config.server_url,
        server_version=config.server_version,
        prefix_caching=prefix_caching,
        start_s=start_s,
        error=error,
    )
