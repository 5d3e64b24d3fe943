"""Threads that each compute alone, instead of sharing every matrix product.

Work that is split once per batch waits for the slower thread once; torch's own threads do so in
every product, thousands of times, which is far slower on a machine that others use too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import torch

Item = TypeVar("Item")
Done = TypeVar("Done")


def worker_count(device: torch.device) -> int:
    """One per thread of torch on a CPU; a GPU computes for one."""
    return torch.get_num_threads() if device.type == "cpu" else 1


def workers(count: int) -> ThreadPoolExecutor:
    """`count` threads in which torch computes without others."""
    if count == 1:
        return ThreadPoolExecutor(1)
    return ThreadPoolExecutor(count, initializer=torch.set_num_threads, initargs=(1,))


def in_order(
    pool: ThreadPoolExecutor, work: Callable[[Item], Done], items: Iterable[Item], ahead: int
) -> Iterator[Done]:
    """Results in the order of `items`, of which at most `ahead` are taken before their turn."""
    waiting: deque[Future[Done]] = deque()
    for item in items:
        waiting.append(pool.submit(work, item))
        if len(waiting) >= ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
