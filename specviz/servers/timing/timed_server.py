"""A server as a benchmark uses it: many streams at once at little cost, samples instead of steps.

While a stream runs, only its bytes and their times are kept (`connections`); it is read when it has
ended (`answer`). The rest of the program talks to servers through `client`.
"""

from __future__ import annotations

import json
import time
import uuid

import httpx2

from specviz.config import Prompt, Sampling
from specviz.errors import EngineError
from specviz.methods import Method
from specviz.sample import Sample
from specviz.servers.client.api_key import api_key
from specviz.servers.client.engine import STALL_TIMEOUT_S
from specviz.servers.client.failures import (
    connection_broke,
    cut_off,
    nothing_answers,
    reason_in,
    stalled,
    status_error,
)
from specviz.servers.client.probe import FoundServer, connecting
from specviz.servers.client.sse import Read
from specviz.servers.metrics import SpecCounters
from specviz.servers.timing.answer import read_answer, sample_of
from specviz.servers.timing.connections import Connections, NotConnected

ID_PREFIX = "bench-"
"""Not the prefix that asks the plugin for a trace: what is timed is never traced."""

CHAT = "/v1/chat/completions"

TIMEOUT_S = 10.0
"""For the server's metrics page."""


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
            server.url, _headers(server.url), stall_timeout_s=stall_timeout_s
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
        sent_s = time.perf_counter()
        try:
            status = await self._connections.post(CHAT, headers, body, reads)
        except OSError as error:
            failure = self._failure(error)
        if status != 200:
            raise status_error(status, _reason(reads), self.server, self.model)
        answer = read_answer(reads, sent_s, self.server.dialect)
        if failure is not None and not answer.done:
            raise failure
        if answer.finish_reason is None:
            raise cut_off()
        return sample_of(answer, request_id, speculates=self.server.capabilities.speculates)

    async def counters(self) -> SpecCounters | None:
        """The server's speculation counters now; None where there are none."""
        return self.server.dialect.counters(await self._metrics())

    async def prefix_caching(self) -> bool | None:
        """Whether the server caches prefixes; None where it does not say.

        From then on every request to one that does carries what keeps it out of that cache, so that
        a repeated prompt is read again.
        """
        self._caches = self.server.dialect.prefix_caching(await self._metrics())
        return self._caches

    async def close(self) -> None:
        """Close the connections."""
        await self._connections.close()
        await self._http.aclose()

    def _body(self, prompt: Prompt, sampling: Sampling) -> bytes:
        body: dict[str, object] = {
            "model": self.model,
            "messages": prompt.messages,
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_tokens": sampling.max_tokens,
            **self.server.dialect.extra_body,
        }
        if sampling.seed is not None:
            body["seed"] = sampling.seed
        if self._caches:
            body |= self.server.dialect.uncached()
        return json.dumps(body).encode()

    async def _metrics(self) -> str:
        """The page `/metrics`, empty where there is none."""
        try:
            page = await self._http.get(f"{self.server.url}/metrics", timeout=TIMEOUT_S)
        except httpx2.ConnectError as error:
            raise nothing_answers(self.server) from error
        except httpx2.HTTPError as error:
            raise connection_broke(error, self.server) from error
        return page.text if page.status_code == 200 else ""

    def _failure(self, error: OSError) -> EngineError:
        if isinstance(error, NotConnected):
            return nothing_answers(self.server)
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
    return {
        "Authorization": f"Bearer {api_key(url)}",
        "Content-Type": "application/json",
        "Accept": "text/event-stream",
        "Accept-Encoding": "identity",  # a proxy that compresses would hold chunks back
    }


def _reason(reads: list[Read]) -> str:
    """The server's sentence, or the start of a page that something else answered with."""
    body = b"".join(piece for _, piece in reads).decode(errors="replace")
    try:
        reason = reason_in(json.loads(body))
    except ValueError:
        reason = None
    return reason or body.strip().partition("\n")[0][:200] or "no reason given"
