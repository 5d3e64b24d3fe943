"""HTTP/1.1 connections of a client that must not be in the way of what it measures.

Bytes are stamped when the event loop hands them over, and kept; no task wakes up before an answer
has ended. That halves the CPU time of the same client on aiohttp's streams, and where 64 streams
step together the last one's stamp waits for 63 appends, not for 63 tasks. Knows nothing of what
the bytes mean. Proxies that the environment names are not used.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from typing import cast
from urllib.parse import urlsplit

import httptools

from specviz.servers.client.sse import Read

CONNECT_TIMEOUT_S = 10.0

MAX_ANSWER = 2**26
"""Bytes of an answer, unless the caller knows better."""

KEEP_ALIVE_S = 3.0
"""How long an unused connection is kept: less than the 5 s after which uvicorn closes it."""


LastSign = Callable[[Sequence[Read], float], float]
"""`(reads, sent_s)` → when the peer last showed that it still works on the answer. What it raises
ends the request."""


class NotConnected(ConnectionError):
    """Nothing answers at the address."""


class TooMuch(ConnectionError):
    """The answer is longer than it may be."""


class Unanswered(ConnectionError):
    """The connection was closed before the first byte of an answer."""


class Connection(asyncio.Protocol):
    """One connection, one request at a time."""

    def __init__(self) -> None:
        self.idle_since_s = 0.0
        self._arrived_s = 0.0
        self._reads: list[Read] = []
        self._left = 0  # bytes that may still come
        self._answered = False
        self._keep_alive = False
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._ended = asyncio.get_running_loop().create_future()

    async def exchange(
        self,
        request: bytes,
        reads: list[Read],
        stall_timeout_s: float,
        most_bytes: int = MAX_ANSWER,
        last_sign: LastSign | None = None,
    ) -> int:
        """Send a request and put the answer's body into `reads` as it arrives; the status.

        Raises TooMuch, Unanswered, ConnectionError where the answer does not come to its end,
        TimeoutError `stall_timeout_s` after the last sign, which is any byte where `last_sign` is
        None, and what `last_sign` raises.
        """
        self._reads, self._parser = reads, httptools.HttpResponseParser(self)
        self._ended = asyncio.get_running_loop().create_future()
        self._sent_s = self._arrived_s = time.perf_counter()
        self._left, self._answered, self._keep_alive = most_bytes, False, False
        self._watch(stall_timeout_s, last_sign)
        try:
            self._transport.write(request)
            await self._ended
        except BaseException:
            self._transport.abort()  # the server sees it and drops the request
            raise
        finally:
            if self._timer is not None:
                self._timer.cancel()
        return self._parser.get_status_code()

    def is_fresh(self, now_s: float) -> bool:
        """Whether the server still waits for a request here."""
        return now_s - self.idle_since_s < KEEP_ALIVE_S and not self._transport.is_closing()

    def keeps_alive(self) -> bool:
        return self._keep_alive and not self._transport.is_closing()

    def close(self) -> None:
        self._transport.close()

    def data_received(self, data: bytes) -> None:
        self._arrived_s = time.perf_counter()
        if self._ended.done():  # nothing was asked
            self._transport.abort()
            return
        self._answered = True
        self._left -= len(data)
        if self._left < 0:
            self._fail(TooMuch())
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._fail(ConnectionError(f"not HTTP: {error}"))
        except httptools.HttpParserUpgrade:
            self._fail(ConnectionError("the server wants another protocol than HTTP"))

    def connection_lost(self, error: Exception | None) -> None:
        why = str(error) if error else "closed by the server"
        self._fail(ConnectionError(why) if self._answered else Unanswered(why))

    def on_body(self, body: bytes) -> None:
        self._reads.append((self._arrived_s, body))

    def on_message_complete(self) -> None:
        if self._parser.get_status_code() < 200:  # the answer itself is still to come
            return
        self._keep_alive = self._parser.should_keep_alive()
        if not self._ended.done():
            self._ended.set_result(None)

    def _fail(self, error: Exception) -> None:
        if not self._ended.done():
            self._ended.set_exception(error)

    def _watch(self, stall_timeout_s: float, last_sign: LastSign | None) -> None:
        """One timer per request: it looks again when the silence could be long enough."""
        sign_s = self._arrived_s
        if last_sign is not None:
            try:
                sign_s = last_sign(self._reads, self._sent_s)
            except Exception as error:  # raised where the request waits
                self._fail(error)
                return
        left_s = sign_s + stall_timeout_s - time.perf_counter()
        if left_s <= 0:
            self._fail(TimeoutError())
            return
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(left_s, self._watch, stall_timeout_s, last_sign)


class Connections:
    """Connections to one server: as many as requests are under way, used again if `reused`."""

    def __init__(
        self, url: str, headers: Mapping[str, str], *, stall_timeout_s: float, reused: bool = True
    ) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None
        self._address = (parts.hostname, parts.port or (443 if parts.scheme == "https" else 80))
        self._ssl = ssl.create_default_context() if parts.scheme == "https" else None
        self._path = parts.path
        common = {"Host": parts.netloc.rpartition("@")[2], **headers}
        self._head = "".join(f"{name}: {value}\r\n" for name, value in common.items())
        self._stall_timeout_s = stall_timeout_s
        self._reused = reused
        self._idle: list[Connection] = []

    async def post(
        self,
        path: str,
        headers: Mapping[str, str],
        body: bytes,
        reads: list[Read],
        *,
        most_bytes: int = MAX_ANSWER,
        last_sign: LastSign | None = None,
    ) -> int:
        """Post `body`; what comes back is put into `reads` as it arrives. Returns the status.

        Raises NotConnected, TooMuch, ConnectionError, TimeoutError or what `last_sign` raises (see
        `Connection.exchange`); `reads` keeps what arrived. When the task is cancelled the
        connection is closed. A server may close an idle connection just as a request is sent there:
        that request goes out once more, on a new one (RFC 9112, section 9.3.1).
        """
        own = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        head = f"POST {self._path}{path} HTTP/1.1\r\n{self._head}{own}"
        request = f"{head}Content-Length: {len(body)}\r\n\r\n".encode("latin-1") + body
        limits = (self._stall_timeout_s, most_bytes, last_sign)
        connection = self._take()
        if connection is not None:
            try:
                status = await connection.exchange(request, reads, *limits)
            except Unanswered:
                connection = None
        if connection is None:
            connection = await self._connect()
            status = await connection.exchange(request, reads, *limits)
        if self._reused and connection.keeps_alive():
            connection.idle_since_s = time.perf_counter()
            self._idle.append(connection)
        else:
            connection.close()
        return status

    async def close(self) -> None:
        """Close the connections that no request is using."""
        while self._idle:
            self._idle.pop().close()
        await asyncio.sleep(0)  # lets the transports take note

    def _take(self) -> Connection | None:
        """The connection used last, if it is still good; older ones go where it is not."""
        now_s = time.perf_counter()
        while self._idle:
            connection = self._idle.pop()
            if connection.is_fresh(now_s):
                return connection
            connection.close()
        return None

    async def _connect(self) -> Connection:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                _, connection = await loop.create_connection(
                    Connection, *self._address, ssl=self._ssl
                )
        except OSError as error:  # TimeoutError is one
            raise NotConnected(str(error)) from error
        return connection
