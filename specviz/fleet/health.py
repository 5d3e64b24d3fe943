"""How a server is now: asked again and again, remembered in between."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

import httpx2

from specviz.config import EngineKind
from specviz.errors import MalformedReply, ServerUnreachable, SpecvizError
from specviz.fleet.acceptance import Acceptance, Snapshot, acceptance, recent
from specviz.servers.client.probe import FoundServer, client_of, probe
from specviz.servers.metrics import ServerLoad, SpecCounters
from specviz.servers.pages import read_page

DEADLINE_S = 10.0
"""Of one check: a server that takes longer is down to whoever waits for an answer."""

IDENTIFY_EVERY_S = 60.0
"""In between only the metrics page is read, because identifying asks several pages."""


@dataclass(frozen=True, slots=True)
class Health:
    """A server as the last check found it.

    found       what it is; of an earlier check while it is down, None if it never answered
    problem     why it cannot be used, in a sentence; None while it can
    down_since  when a check first failed; None while it can be used
    load        what it reports about its requests
    acceptance  of the last five minutes; None where there are no counters, or too few checks yet
    counts      whether it has counters of drafts at all
    """

    url: str
    checked_at: datetime
    found: FoundServer | None
    problem: str | None = None
    down_since: datetime | None = None
    load: ServerLoad = field(default_factory=ServerLoad)
    acceptance: Acceptance | None = None
    counts: bool = False

    @property
    def is_up(self) -> bool:
        return self.down_since is None


def unexpected(health: Health, kind: EngineKind | None) -> str | None:
    """A sentence where another kind of server answers than was expected."""
    found = health.found
    if kind is None or found is None or found.dialect.engine is kind:
        return None
    return f"{found.dialect.name} answers here, not {kind.value}: edit the kind or the URL."


def is_lossless(health: Health) -> bool | None:
    """Whether the server's output keeps the distribution of plain decoding; None where it does not
    say how it verifies, or by a rule that specviz does not know."""
    if health.found is None:
        return None
    found = health.found.capabilities
    if found.speculates is False:
        return True
    return found.verifier.is_lossless if found.verifier else None


class WatchedServer:
    """One server and what earlier checks of it found. Belongs to one event loop.

    `clock` is in seconds and never goes back.
    """

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.url = url
        self._clock = clock
        self._one_at_a_time = asyncio.Lock()
        self._http: httpx2.AsyncClient | None = None
        self._found: FoundServer | None = None
        self._identified_s = float("-inf")
        self._down_since: datetime | None = None
        self._snapshots: list[Snapshot] = []

    async def check(self, deadline_s: float = DEADLINE_S) -> Health:
        """Ask it now. Raises nothing that a server can cause: that is the health's problem."""
        async with self._one_at_a_time:
            try:
                async with asyncio.timeout(deadline_s):
                    page = await self._ask()
            except (TimeoutError, SpecvizError) as error:
                await self.close()  # the next check reads the API key again
                late = f"The server at {self.url} did not answer in {deadline_s:g} s."
                return self._down(late if isinstance(error, TimeoutError) else str(error))
            return self._up(page)

    async def close(self) -> None:
        """Close the connections; another check opens new ones."""
        if self._http is not None:
            await self._http.aclose()
            self._http = None

    async def _ask(self) -> str:
        """Its metrics page, empty where there is none; identifies it first where that is due."""
        if self._http is None:
            self._http = client_of(self.url)
        now_s = self._clock()
        if self._down_since is not None or now_s - self._identified_s >= IDENTIFY_EVERY_S:
            self._found = await probe(self.url, self._http)
            self._identified_s = now_s
        assert self._found is not None
        try:
            page = await read_page(self._http, f"{self.url}{self._found.dialect.metrics_path}")
        except httpx2.TransportError as error:
            raise ServerUnreachable(
                f"The server at {self.url} stopped answering ({str(error) or 'connection lost'})."
            ) from error
        return page.text if page.status == 200 else ""

    def _up(self, page: str) -> Health:
        assert self._found is not None
        self._down_since = None
        counters, load = _read(self._found, page)
        if counters is not None:
            now_s = self._clock()
            snapshot = Snapshot(now_s, counters, load.output_tokens)
            self._snapshots = [*recent(self._snapshots, now_s), snapshot]
        return Health(
            self.url,
            datetime.now(UTC),
            self._found,
            load=load,
            acceptance=acceptance(self._snapshots, self._clock()) if counters else None,
            counts=counters is not None,
        )

    def _down(self, problem: str) -> Health:
        now = datetime.now(UTC)
        self._down_since = self._down_since or now
        return Health(self.url, now, self._found, problem, self._down_since)


def _read(found: FoundServer, page: str) -> tuple[SpecCounters | None, ServerLoad]:
    """Counters and load; nothing of a page that is not to be believed."""
    try:
        return found.dialect.counters(page), found.dialect.load(page)
    except MalformedReply:
        return None, ServerLoad()
