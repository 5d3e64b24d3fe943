"""A server as a benchmark uses it: many streams at once at little cost, samples instead of steps.

While a stream runs, only its bytes and their times are kept (`connections`); it is read when it has
ended (`answer`). The rest of the program talks to servers through `client`.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Sequence
from typing import TypeVar

import httpx2

from specviz.config import Prompt, Sampling
from specviz.errors import EngineError, MalformedReply
from specviz.methods import Method
from specviz.sample import Sample
from specviz.servers.client.api_key import api_key
from specviz.servers.client.engine import (
    CHAT,
    STALL_TIMEOUT_S,
    STREAMED,
    extra_fields,
    request_fields,
)
from specviz.servers.client.failures import (
    connection_broke,
    nothing_answers,
    stalled,
    status_error,
    too_long,
)
from specviz.servers.client.limits import most_bytes
from specviz.servers.client.probe import FoundServer, connecting
from specviz.servers.client.sse import Read
from specviz.servers.metrics import RequestTimes, SpecCounters
from specviz.servers.pages import Page, read_page
from specviz.servers.timing.answer import last_news_s, read_answer, sample_of
from specviz.servers.timing.connections import Connections, NotConnected, TooMuch

ID_PREFIX = "bench-"
"""Not the prefix that asks the plugin for a trace: what is timed is never traced."""

T = TypeVar("T")


class TimedServer:
    """One server. Open with `open_timed_server`, close when done."""

    def __init__(
        self,
        server: FoundServer,
        http: httpx2.AsyncClient,
        *,
        model: str | None = None,
        method: Method | None = None,
        k: int | None = None,
        stall_timeout_s: float = STALL_TIMEOUT_S,
    ) -> None:
        self.server = server
        self.model = model or server.model
        self.method, self.k = server.capabilities.settled(method, k)
        self.stall_timeout_s = stall_timeout_s
        self._http = http
        self._connections = Connections(
            server.url,
            _headers(server.url),
            stall_timeout_s=stall_timeout_s,
            reused=server.dialect.keeps_alive,
        )
        self._caches: bool | None = None

    async def sample(self, prompt: Prompt, sampling: Sampling) -> Sample:
        """Answer one request; any number may be under way.

        Raises an EngineError in the user's words, as the live client does. Cancelling the task
        closes the connection, which makes the server drop the request.
        """
        request_id = f"{ID_PREFIX}{uuid.uuid4().hex}"
        headers, body = {"X-Request-Id": request_id}, self._body(prompt, sampling)
        reads, status, failure = list[Read](), 200, None

        def last_sign(arrived: Sequence[Read], since_s: float) -> float:
            return last_news_s(arrived, since_s, sampling.max_tokens, self.server.dialect)

        sent_s = time.perf_counter()
        try:
            status = await self._connections.post(
                f"/v1{CHAT}",
                headers,
                body,
                reads,
                most_bytes=most_bytes(sampling.max_tokens),
                last_sign=last_sign,
            )
        except EngineError as error:
            failure = error
        except OSError as error:
            failure = self._failure(error, sampling.max_tokens)
        if status != 200:
            answered = b"".join(piece for _, piece in reads)
            raise status_error(status, answered, self.server, self.model)
        server = self.server
        answer = read_answer(
            reads, sent_s, server.dialect, server.capabilities, self.k, broken=failure
        )
        return sample_of(answer, request_id, speculates=self.server.capabilities.speculates)

    async def counters(self) -> SpecCounters | None:
        """The server's speculation counters now; None where there are none to believe, or where it
        drafts nothing."""
        if self.server.capabilities.speculates is False:
            return None
        return self._read_from(await self._metrics(), self.server.dialect.counters)

    async def request_times(self) -> RequestTimes | None:
        """Requests and their times as the server measured them; None where it does not say."""
        return self._read_from(await self._metrics(), self.server.dialect.request_times)

    async def output_tokens(self) -> int | None:
        """Tokens of all answers that the server has given; None where it does not count them."""
        load = self._read_from(await self._metrics(), self.server.dialect.load)
        return None if load is None or load.output_tokens is None else round(load.output_tokens)

    async def round_trip_s(self) -> float:
        """Seconds to the server and back: a request for its list of models. What a busy machine
        adds to a request between client and server, it adds to this as well."""
        asked_s = time.perf_counter()
        await self._page("/v1/models")
        return time.perf_counter() - asked_s

    async def prefix_caching(self) -> bool | None:
        """Whether the server caches prefixes; None where it does not say.

        From then on every request to one that does carries what keeps it out of that cache, so that
        a repeated prompt is read again.
        """
        page = await self._metrics()
        said = self._read_from(page, self.server.dialect.prefix_caching)
        self._caches = self.server.capabilities.prefix_caching if said is None else said
        return self._caches

    async def close(self) -> None:
        """Close the connections."""
        await self._connections.close()
        await self._http.aclose()

    def _body(self, prompt: Prompt, sampling: Sampling) -> bytes:
        uncached = self.server.dialect.uncached() if self._caches else {}
        fields = request_fields(self.model, prompt, sampling, self.server.dialect)
        extra = extra_fields(prompt, sampling, self.server)
        return json.dumps({**extra, **fields, **uncached}).encode()

    @staticmethod
    def _read_from(page: str, read: Callable[[str], T | None]) -> T | None:
        try:
            return read(page)
        except MalformedReply:  # another program's page, where a proxy answers every path
            return None

    async def _metrics(self) -> str:
        """The metrics page, empty where there is none."""
        page = await self._page(self.server.dialect.metrics_path)
        return page.text if page.status == 200 else ""

    async def _page(self, path: str) -> Page:
        try:
            return await read_page(self._http, f"{self.server.url}{path}")
        except httpx2.ConnectError as error:
            raise nothing_answers(self.server) from error
        except httpx2.HTTPError as error:
            raise connection_broke(error, self.server) from error

    def _failure(self, error: OSError, max_tokens: int) -> EngineError:
        if isinstance(error, NotConnected):
            return nothing_answers(self.server)
        if isinstance(error, TooMuch):
            return too_long(max_tokens)
        if isinstance(error, TimeoutError):
            return stalled(self.stall_timeout_s)
        return connection_broke(error, self.server)


async def open_timed_server(
    url: str,
    *,
    model: str | None = None,
    method: Method | None = None,
    k: int | None = None,
    stall_timeout_s: float = STALL_TIMEOUT_S,
) -> TimedServer:
    """Connect to a server and find out what it offers.

    `method` and `k` are what the caller believes; what the server reports wins. Raises
    ServerUnreachable, NotAnOpenAIServer, or RequestRefused for a model it does not serve.
    """
    async with connecting(url, model) as (server, http):
        return TimedServer(
            server, http, model=model, method=method, k=k, stall_timeout_s=stall_timeout_s
        )


def _headers(url: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {api_key(url)}", **STREAMED}
