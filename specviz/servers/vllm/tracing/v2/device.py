"""Copies from the device that nobody waits for in the step, and marks in the device's time.

On a GPU a copy goes through a stream of its own into pinned memory, and a mark is an event; both
are read after their event has passed. On a CPU everything has happened when the call returns.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Protocol

Mark = Any
"""A moment: an event on a GPU, else seconds of the monotonic clock."""


class Copy(Protocol):
    """Tensors on their way to the host."""

    def arrived(self) -> list[Any]:
        """The tensors on the host; waits for them, so not in the step."""


class Device(Protocol):
    """What the recorder asks of the device. Only `elapsed_ms` needs that the marks have passed."""

    def index(self, rows: Sequence[int]) -> Any:
        """`rows` as a tensor on the device."""

    def copy(self, tensors: list[Any]) -> Copy:
        """Begin to copy tensors that nobody will write to."""

    def mark(self) -> Mark:
        """The moment at which the work that was issued so far is done."""

    def elapsed_ms(self, begin: Mark, end: Mark) -> float:
        """From one mark to another."""


def device_of(runner: Any) -> Device | None:
    """None for a kind of device that specviz does not know."""
    if runner.device.type == "cpu":
        return Host()
    if runner.device.type == "cuda":  # also AMD's, under ROCm
        import torch

        return Gpu(runner.device, torch.cuda)
    return None


class Here:
    """A copy where host and device are one."""

    def __init__(self, tensors: list[Any]) -> None:
        self._tensors = tensors

    def arrived(self) -> list[Any]:
        return self._tensors


class Host:
    """A CPU."""

    def index(self, rows: Sequence[int]) -> Any:
        import torch

        return torch.tensor(rows)

    def copy(self, tensors: list[Any]) -> Copy:
        return Here(tensors)

    def mark(self) -> Mark:
        return time.monotonic()

    def elapsed_ms(self, begin: Mark, end: Mark) -> float:
        return float(end - begin) * 1e3


class Underway:
    """A copy on a stream of its own. Keeps the device's tensors until it is done, since the
    allocator would give their memory to the main stream."""

    def __init__(self, tensors: list[Any], hosts: list[Any], event: Any) -> None:
        self._tensors, self._hosts, self._event = tensors, hosts, event

    def arrived(self) -> list[Any]:
        self._event.synchronize()
        self._tensors = []
        return self._hosts


class Gpu:
    """A GPU. `api` is `torch.cuda`, or in tests what stands in for it."""

    def __init__(self, device: Any, api: Any) -> None:
        self._device, self._api = device, api
        self._stream = api.Stream(device)

    def index(self, rows: Sequence[int]) -> Any:
        import torch

        pinned = torch.empty(len(rows), dtype=torch.int64, pin_memory=True)
        pinned.copy_(torch.tensor(rows))
        return torch.empty_like(pinned, device=self._device).copy_(pinned, non_blocking=True)

    def copy(self, tensors: list[Any]) -> Copy:
        import torch

        hosts = [
            torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True) for tensor in tensors
        ]
        self._stream.wait_stream(self._api.current_stream(self._device))
        with self._api.stream(self._stream):
            for tensor, host in zip(tensors, hosts, strict=True):
                host.copy_(tensor, non_blocking=True)
            # A blocking event sleeps; the other kind would take a core from the engine.
            event = self._api.Event(blocking=True)
            event.record(self._stream)
        return Underway(tensors, hosts, event)

    def mark(self) -> Mark:
        event = self._api.Event(enable_timing=True)
        event.record()
        return event

    def elapsed_ms(self, begin: Mark, end: Mark) -> float:
        return float(begin.elapsed_time(end))
