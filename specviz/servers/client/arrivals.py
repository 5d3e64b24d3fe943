"""What a request brings, in the order in which it comes: chunks on one connection, the tracing
plugin's records on another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from enum import Enum

import httpx2

from specviz.errors import MalformedReply
from specviz.servers.client.chunks import Chunk
from specviz.servers.trace_record import TraceRecord

TRACE_GRACE_S = 5.0
"""How long to wait for all that is missing of the trace once the answer is complete."""


class Ended(Enum):
    """Marks in the inbox: nothing more comes of the answer, of the trace."""

    ANSWER = "answer"
    TRACE = "trace"


Item = Chunk | TraceRecord | Ended | Exception


class Arrivals:
    """Reads from the moment it is made, within a running event loop; cancel it when done.

    `records` None: no trace was asked for. `problem`: why the trace is not believed any more.
    """

    def __init__(
        self,
        chunks: AsyncIterator[Chunk],
        records: AsyncIterator[TraceRecord] | None,
        most_records: int,
    ) -> None:
        self.problem: str | None = None
        self._inbox: asyncio.Queue[Item] = asyncio.Queue()
        self._tasks = [asyncio.create_task(self._read_answer(chunks))]
        self._has_trace = records is not None
        if records is not None:
            self._tasks.append(asyncio.create_task(self._read_trace(records, most_records)))

    async def items(self, lacks_records: Callable[[], bool]) -> AsyncIterator[Chunk | TraceRecord]:
        """What both bring, until the answer is complete and the trace has caught up.

        `lacks_records`: whether the trace does not cover what was answered yet. Raises what the
        answer raises.
        """
        grace_ends_s: float | None = None  # once the answer is complete
        trace_open = self._has_trace
        while grace_ends_s is None or (trace_open and lacks_records()):
            if self._inbox.empty() and grace_ends_s is not None:
                try:
                    async with asyncio.timeout_at(grace_ends_s):
                        item = await self._inbox.get()
                except TimeoutError:
                    return  # the trace stays incomplete
            else:
                item = await self._inbox.get()  # the source gives a silent server up
            if item is Ended.ANSWER:
                grace_ends_s = asyncio.get_running_loop().time() + TRACE_GRACE_S
            elif item is Ended.TRACE:
                trace_open = False
            elif isinstance(item, Exception):
                raise item
            elif isinstance(item, Chunk | TraceRecord):
                yield item

    async def cancel(self) -> None:
        """Stop reading; closing the answer's connection makes the server drop the request."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _read_answer(self, chunks: AsyncIterator[Chunk]) -> None:
        try:
            async for chunk in chunks:
                self._inbox.put_nowait(chunk)
            self._inbox.put_nowait(Ended.ANSWER)
        except Exception as error:  # handed to the consumer, which raises it
            self._inbox.put_nowait(error)

    async def _read_trace(self, records: AsyncIterator[TraceRecord], left: int) -> None:
        try:
            async for record in records:
                left -= 1
                if left < 0:
                    raise MalformedReply("it has far more steps than tokens were asked for")
                if record.emitted:
                    self._inbox.put_nowait(record)
        except MalformedReply as error:
            self.problem = str(error)
        except (httpx2.HTTPError, OSError):
            pass  # the answer goes on without; the request says what is missing
        self._inbox.put_nowait(Ended.TRACE)
