"""A server that says what a mutation made of its stream; there is no socket, so that it is quick.

The live client reads it through a transport of httpx2, the timing client through a connection whose
transport is this one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import httpx2

from specviz.servers.timing.connections import Connection, Connections
from tests.support.faults.stream_mutations import Mutated

HOST = "server.test"
ELSEWHERE = "elsewhere.test"
DRIP_S = 0.002
HUGE = b'{"prompt": "' + b"x" * 10**6 + b'"}'


class MutatedServer(httpx2.AsyncBaseTransport):
    """`hosts`: who was asked. `delivered`: data of the lines that the client has read."""

    def __init__(self, case: Mutated) -> None:
        self.case = case
        self.hosts: set[str] = set()
        self.delivered: list[bytes] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.hosts.add(request.url.host)
        path = request.url.path
        if path == "/v1/chat/completions":
            if self.case.status == 200:
                return httpx2.Response(200, content=self.answer())
            where = {"Location": f"http://{ELSEWHERE}{path}"}
            return httpx2.Response(self.case.status, headers=where, content=self.case.body)
        if path.startswith("/specviz/trace/"):
            if self.case.trace_ending == "missing":
                return httpx2.Response(404)
            return httpx2.Response(200, content=self.trace())
        if path == "/detokenize":
            return await self.detokenized()
        page = self.case.pages.get(path)
        return httpx2.Response(404) if page is None else httpx2.Response(200, content=page)

    async def answer(self) -> AsyncIterator[bytes]:
        """The body of the answer in pieces."""
        case = self.case
        for index, line in enumerate(case.lines):
            if index == case.stops_at:
                break
            async for piece in self.in_pieces(b"data: " + line + b"\n\n"):
                yield piece
            self.delivered.append(line)
        if case.stops_at is not None:
            async for piece in self.ending(case.ending, case.endless):
                yield piece

    async def trace(self) -> AsyncIterator[bytes]:
        for record in self.case.records:
            yield record + b"\n"
        nothing = b'{"drafted": [], "draft_probs": [], "target_probs": [], "accept_probs": [], '
        nothing += b'"u": [], "top": [], "emitted": [], "num_accepted": 0}\n'
        ending = "stall" if self.case.trace_ending == "open" else self.case.trace_ending
        async for piece in self.ending(ending, nothing):
            yield piece

    async def detokenized(self) -> httpx2.Response:
        how = self.case.detokenize
        if how == "stall":
            await asyncio.sleep(3600)
        if how == "missing":
            return httpx2.Response(500, content=b"no")
        odd = {"odd": b'{"prompt": 5}', "huge": HUGE}
        right = self.case.pages.get("/detokenize", b"")
        return httpx2.Response(200, content=odd.get(how, right[:5] if how == "half" else right))

    async def in_pieces(self, data: bytes) -> AsyncIterator[bytes]:
        size = self.case.pieces or len(data)
        size = max(size, len(data) // 500)  # byte by byte only what is short
        for start in range(0, len(data), size):
            yield data[start : start + size]

    async def ending(self, how: str, endless: bytes) -> AsyncIterator[bytes]:
        if how == "cut":
            raise httpx2.ReadError("reset by peer")
        if how == "stall":
            await asyncio.sleep(3600)
        while how == "endless":
            yield endless
            await asyncio.sleep(0)
        while how == "drip":
            for byte in endless:
                yield bytes([byte])
                await asyncio.sleep(DRIP_S)


class Wire(asyncio.Transport):
    """Writes a request into the server and hands its answer to the timing client's connection."""

    def __init__(self, server: MutatedServer, connection: Connection) -> None:
        super().__init__()
        self._server, self._connection = server, connection
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    def write(self, data: Any) -> None:
        self._task = asyncio.get_running_loop().create_task(self._talk())

    def abort(self) -> None:
        self._hang_up(None)

    def close(self) -> None:
        self._hang_up(None)

    def is_closing(self) -> bool:
        return self._closed

    async def _talk(self) -> None:
        case, receive = self._server.case, self._connection.data_received
        location = f"Location: http://{ELSEWHERE}/\r\n" if 300 <= case.status < 400 else ""
        head = f"HTTP/1.1 {case.status} X\r\n{location}Transfer-Encoding: chunked\r\n\r\n"
        if case.status == 101:
            head = "HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        receive(head.encode())
        try:
            async for piece in self._server.answer() if case.status == 200 else _once(case.body):
                if self._closed:
                    return
                receive(b"%x\r\n%b\r\n" % (len(piece), piece))
                await asyncio.sleep(0)
        except httpx2.ReadError as error:
            self._hang_up(ConnectionResetError(str(error)))
            return
        receive(b"0\r\n\r\n")

    def _hang_up(self, error: Exception | None) -> None:
        if not self._closed:
            self._closed = True
            self._connection.connection_lost(error)

    async def ended(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task


async def _once(body: bytes) -> AsyncIterator[bytes]:
    if body:
        yield body


class WiredConnections(Connections):
    """The timing client's connections, to a mutated server."""

    def __init__(self, server: MutatedServer, stall_timeout_s: float) -> None:
        super().__init__(f"http://{HOST}", {}, stall_timeout_s=stall_timeout_s)
        self.server = server
        self.wires: list[Wire] = []

    async def _connect(self) -> Connection:
        connection = Connection()
        wire = Wire(self.server, connection)
        self.wires.append(wire)
        connection.connection_made(wire)
        return connection

    async def close(self) -> None:
        await super().close()
        for wire in self.wires:
            await wire.ended()
