"""Who waits for whom, between those who measure and background work."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from specviz.live import measuring_lock
from specviz.live.measuring_lock import MeasuringLock


def in_thread(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_background_work_lets_whoever_waits_to_measure_go_first() -> None:
    lock, order = MeasuringLock(), list[str]()
    waits, holds, go_on = threading.Event(), threading.Event(), threading.Event()

    async def measure() -> None:
        async with lock.hold(waits.set):
            order.append("measured")

    def first_chunk() -> None:
        with lock.hold_off():
            holds.set()
            assert go_on.wait(60)
            order.append("first chunk")
        with lock.hold_off():
            order.append("second chunk")

    background = in_thread(first_chunk)
    assert holds.wait(60)
    measuring = in_thread(lambda: asyncio.run(measure()))
    assert waits.wait(60)
    go_on.set()
    background.join(60)
    measuring.join(60)
    assert order == ["first chunk", "measured", "second chunk"]


def test_background_work_begins_when_the_measuring_has_ended() -> None:
    lock, began = MeasuringLock(), threading.Event()

    def work() -> None:
        with lock.hold_off():
            began.set()

    async def measure() -> None:
        async with lock.hold():
            in_thread(work)
            await asyncio.sleep(4 * measuring_lock.POLL_S)
            assert not began.is_set()

    asyncio.run(measure())
    assert began.wait(60)
