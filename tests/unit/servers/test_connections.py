"""The benchmark's connections against servers that write exactly these bytes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import pytest

from specviz.servers.client.sse import Read
from specviz.servers.timing import connections
from specviz.servers.timing.connections import Connections, NotConnected

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
SIZED = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 5\r\n\r\nabcde"


@dataclass
class Peer:
    """What a server answers, was sent, per connection, and how those connections ended."""

    pieces: list[bytes]
    then_close: bool
    url: str = ""
    received: list[bytes] = field(default_factory=list)
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)


@asynccontextmanager
async def answering(
    pieces: Sequence[bytes], *, then_close: bool = False, most: int | None = None
) -> AsyncIterator[Peer]:
    """A server that answers every request with these writes, `most` of them on a connection, which
    it closes when it is asked again."""
    peer = Peer(list(pieces), then_close)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = len(peer.received)
        peer.received.append(b"")
        while data := await reader.read(65536):
            peer.received[number] += data
            if most is not None and peer.received[number].count(b"POST") > most:
                break
            closes = peer.then_close
            for piece in list(peer.pieces):
                writer.write(piece)
                await asyncio.sleep(0.01)
            if closes:
                break

    async def handled(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            await handle(reader, writer)
        peer.hung_up.set()
        writer.close()

    server = await asyncio.start_server(handled, "127.0.0.1", 0)
    peer.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield peer
    finally:
        server.close()
        if peer.received:
            await asyncio.wait_for(peer.hung_up.wait(), 60)
        await asyncio.sleep(0.02)


@asynccontextmanager
async def connected(url: str, stall_timeout_s: float = 5.0) -> AsyncIterator[Connections]:
    opened = Connections(url, {"X-All": "1"}, stall_timeout_s=stall_timeout_s)
    try:
        yield opened
    finally:
        await opened.close()


async def post(opened: Connections) -> tuple[int, bytes]:
    reads: list[Read] = []
    status = await opened.post("/path", {"X-One": "2"}, b"body", reads)
    return status, b"".join(piece for _, piece in reads)


@pytest.mark.parametrize(("answer", "status"), [(CHUNKED, 200), (SIZED, 400)])
async def test_any_split_of_an_answer_is_put_together(answer: bytes, status: int) -> None:
    for cut in range(1, len(answer), 7):
        async with answering([answer[:cut], answer[cut:]]) as peer, connected(peer.url) as opened:
            assert await post(opened) == (status, b"abcde")


async def test_the_request_has_its_headers_and_its_body() -> None:
    async with answering([SIZED]) as peer, connected(f"{peer.url}/behind") as opened:
        await post(opened)
        head, _, body = peer.received[0].partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /behind/path HTTP/1.1"
    assert set(lines[1:]) == {
        f"Host: {peer.url.removeprefix('http://')}",
        *("X-All: 1", "X-One: 2", "Content-Length: 4"),
    }
    assert body == b"body"


async def test_pieces_are_stamped_as_they_arrive() -> None:
    pieces = [CHUNKED[:55], CHUNKED[55:]]
    for _ in range(20):  # a process that is held up may read both at once
        async with answering(pieces) as peer, connected(peer.url) as opened:
            reads: list[Read] = []
            await opened.post("/", {}, b"", reads)
        if len(reads) == 2 and reads[1][0] - reads[0][0] > 0.005:
            assert [content for _, content in reads] == [b"abc", b"de"]
            return
    pytest.fail("pieces that come one by one were read together, in every one of five answers")


async def test_a_connection_is_used_again() -> None:
    async with answering([CHUNKED]) as peer, connected(peer.url) as opened:
        for _ in range(3):
            await post(opened)
        await asyncio.gather(post(opened), post(opened))
    assert [sent.count(b"POST") for sent in peer.received] in ([4, 1], [5, 1])


async def test_a_connection_that_was_idle_too_long_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "KEEP_ALIVE_S", 0.05)
    async with answering([CHUNKED]) as peer, connected(peer.url) as opened:
        await post(opened)
        await asyncio.sleep(0.1)
        await post(opened)
    assert len(peer.received) == 2


@pytest.mark.parametrize(
    "answer", [CHUNKED, CHUNKED.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1)]
)
async def test_a_server_that_closes_behind_every_answer_is_asked_again(answer: bytes) -> None:
    async with answering([answer], then_close=True) as peer, connected(peer.url) as opened:
        for _ in range(3):
            assert (await post(opened))[1] == b"abcde"
            await asyncio.sleep(0.05)
    assert len(peer.received) == 3


async def test_a_request_that_a_closing_connection_swallowed_goes_out_on_a_new_one() -> None:
    async with answering([CHUNKED], most=1) as peer, connected(peer.url) as opened:
        for _ in range(3):
            assert await post(opened) == (200, b"abcde")
    assert [sent.count(b"POST") for sent in peer.received] == [2, 2, 1]


async def test_a_request_without_an_answer_on_a_new_connection_is_an_error() -> None:
    async with answering([], most=0) as peer, connected(peer.url) as opened:
        with pytest.raises(ConnectionError):
            await post(opened)
    assert len(peer.received) == 1


async def test_an_answer_that_broke_off_on_a_used_connection_is_an_error() -> None:
    async with answering([CHUNKED]) as peer, connected(peer.url) as opened:
        await post(opened)
        peer.pieces[:], peer.then_close = [CHUNKED[:-9]], True
        with pytest.raises(ConnectionError, match="closed by the server"):
            await post(opened)
    assert [sent.count(b"POST") for sent in peer.received] == [2]


@pytest.mark.parametrize(
    ("answer", "says"), [(CHUNKED[:-9], "closed by the server"), (b"SSH-2.0\r\n\r\n", "not HTTP")]
)
async def test_an_answer_without_an_end_is_an_error(answer: bytes, says: str) -> None:
    async with answering([answer], then_close=True) as peer, connected(peer.url) as opened:
        with pytest.raises(ConnectionError, match=says):
            await post(opened)


async def test_silence_is_given_up_and_the_server_sees_it() -> None:
    async with answering([CHUNKED[:50]]) as peer, connected(peer.url, 0.1) as opened:
        with pytest.raises(TimeoutError):
            await post(opened)
        await asyncio.wait_for(peer.hung_up.wait(), 60)


async def test_bytes_put_the_end_of_patience_off() -> None:
    slowly = [CHUNKED[index : index + 1] for index in range(len(CHUNKED))]  # 0.7 s in all
    for _ in range(20):  # a process may be held up
        async with answering(slowly) as peer, connected(peer.url, 0.5) as opened:
            with suppress(TimeoutError):
                assert await post(opened) == (200, b"abcde")
                return
    pytest.fail("an answer that always went on was given up, twenty times")


async def test_cancelling_closes_the_connection() -> None:
    async with answering([CHUNKED[:50]]) as peer, connected(peer.url) as opened:
        request = asyncio.create_task(post(opened))
        await asyncio.sleep(0.05)
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        await asyncio.wait_for(peer.hung_up.wait(), 60)


async def test_nothing_there() -> None:
    async with connected("http://127.0.0.1:9") as opened:
        with pytest.raises(NotConnected):
            await post(opened)
