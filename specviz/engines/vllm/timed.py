"""A server as a benchmark uses it: many streams at once at little cost, samples instead of steps.

While a stream runs only its pieces and when they came are kept (`sse`); it is read when it has
ended (`sampled`). The rest of the program talks to servers through `client`.
"""

from __future__ import annotations

import json
import time
import urllib.request
import uuid
from urllib.parse import urlsplit

import aiohttp
import httpx2

from specviz.config import Method, Prompt, Sampling
from specviz.engines.vllm.capabilities import Capabilities, probe
from specviz.engines.vllm.client import STALL_TIMEOUT_S, api_key
from specviz.engines.vllm.failures import (
    connection_broke,
    cut_off,
    nothing_answers,
    reason_in,
    stalled,
    status_error,
)
from specviz.engines.vllm.prometheus import SpecCounters, parse_counters, parse_prefix_caching
from specviz.engines.vllm.sampled import read_answer, sample_of
from specviz.engines.vllm.sse import Read
from specviz.errors import EngineError
from specviz.sample import Sample

ID_PREFIX = "bench-"
"""Not the prefix that asks the plugin for a trace: what is timed is never traced."""

CONNECT_TIMEOUT_S = 10.0

KEEP_ALIVE_S = 3.0
"""How long an unused connection is kept: less than the 5 s after which vLLM closes it."""


class TimedServer:
    """One server. Open with `open_timed`, close when done."""

    def __init__(
        self,
        capabilities: Capabilities,
        *,
        model: str | None = None,
        method: Method | None = None,
        k: int | None = None,
        stall_timeout_s: float = STALL_TIMEOUT_S,
    ) -> None:
        self.capabilities = capabilities
        self.model = model or capabilities.model
        self.method = capabilities.method or method
        if capabilities.speculates is False:
            self.method = Method.BASELINE
        self.k = capabilities.k or k
        self.stall_timeout_s = stall_timeout_s
        self._chat_url = f"{capabilities.url}/v1/chat/completions"
        self._http = _session(capabilities.url, stall_timeout_s)
        self._salts: bool | None = None

    async def sample(self, prompt: Prompt, sampling: Sampling) -> Sample:
        """Answer one request; any number may be under way.

        Raises an EngineError in the user's words, as the live client does. Cancelling the task
        closes the connection, which makes the server drop the request.
        """
        request_id = f"{ID_PREFIX}{uuid.uuid4().hex}"
        body, reads = self._body(prompt, sampling), list[Read]()
        sent_s = time.perf_counter()
        try:
            await self._collect(body, request_id, reads)
            failure = None
        except (aiohttp.ClientError, OSError) as error:
            failure = self._failure(error)
        answer = read_answer(reads, sent_s)
        if failure is not None and not answer.done:
            raise failure
        if answer.finish_reason is None:
            raise cut_off()
        return sample_of(answer, request_id, speculates=self.capabilities.speculates)

    async def counters(self) -> SpecCounters | None:
        """The server's speculation counters now; None where there are none."""
        return parse_counters(await self._metrics())

    async def prefix_caching(self) -> bool | None:
        """Whether the server caches prefixes; None where it does not say.

        From then on every request to one that does carries a salt of its own (vLLM's `cache_salt`),
        so that a prompt asked again is read again.
        """
        self._salts = parse_prefix_caching(await self._metrics())
        return self._salts

    async def close(self) -> None:
        """Close the connections."""
        await self._http.close()

    def _body(self, prompt: Prompt, sampling: Sampling) -> bytes:
        body: dict[str, object] = {
            "model": self.model,
            "messages": prompt.messages,
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_tokens": sampling.max_tokens,
        }
        if sampling.seed is not None:
            body["seed"] = sampling.seed
        if self.capabilities.is_vllm:
            body["return_token_ids"] = True
        if self._salts:
            body["cache_salt"] = uuid.uuid4().hex
        return json.dumps(body).encode()

    async def _collect(self, body: bytes, request_id: str, reads: list[Read]) -> None:
        """Send a request and put down what arrives, as it arrives."""
        headers = {"X-Request-Id": request_id}
        async with self._http.post(self._chat_url, data=body, headers=headers) as response:
            if response.status != 200:
                reason = _reason(await response.text(errors="replace"))
                raise status_error(response.status, reason, self.capabilities, self.model)
            read, clock = response.content.readany, time.perf_counter
            while piece := await read():
                reads.append((clock(), piece))

    async def _metrics(self) -> str:
        """The page `/metrics`, empty where there is none."""
        try:
            async with self._http.get(f"{self.capabilities.url}/metrics") as response:
                return await response.text() if response.status == 200 else ""
        except (aiohttp.ClientError, OSError) as error:
            raise self._failure(error) from error

    def _failure(self, error: Exception) -> EngineError:
        if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
            return nothing_answers(self.capabilities)
        if isinstance(error, TimeoutError):
            return stalled(self.stall_timeout_s)
        return connection_broke(error, self.capabilities)


async def open_timed(
    url: str,
    *,
    model: str | None = None,
    method: Method | None = None,
    k: int | None = None,
    stall_timeout_s: float = STALL_TIMEOUT_S,
) -> TimedServer:
    """Connect to a server and find out what it can tell.

    `method` and `k` are what the caller believes; the server's own word wins. Raises
    ServerUnreachable, NotAnOpenAIServer, or RequestRefused for a model it does not serve.
    """
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {api_key()}"}) as http:
        capabilities = await probe(url, http)
    capabilities.check_serves(model)
    return TimedServer(
        capabilities, model=model, method=method, k=k, stall_timeout_s=stall_timeout_s
    )


def _session(url: str, stall_timeout_s: float) -> aiohttp.ClientSession:
    """Connections without a limit to their number: requests wait at the server, not here."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_S),
        timeout=aiohttp.ClientTimeout(
            total=None, sock_connect=CONNECT_TIMEOUT_S, sock_read=stall_timeout_s
        ),
        headers={
            "Authorization": f"Bearer {api_key()}",
            "Content-Type": "application/json",
            "Accept-Encoding": "identity",  # a proxy that compresses would hold chunks back
        },
        cookie_jar=aiohttp.DummyCookieJar(),
        proxy=_proxy(url),
    )


def _proxy(url: str) -> str | None:
    """The proxy that the environment names for a URL; aiohttp would look it up per request."""
    parts = urlsplit(url)
    if parts.hostname is None or urllib.request.proxy_bypass(parts.hostname):
        return None
    return urllib.request.getproxies().get(parts.scheme)


def _reason(body: str) -> str:
    """The server's sentence, or the start of a page that something else answered with."""
    try:
        told = reason_in(json.loads(body))
    except ValueError:
        told = None
    return told or body.strip().partition("\n")[0][:200] or "no reason given"
