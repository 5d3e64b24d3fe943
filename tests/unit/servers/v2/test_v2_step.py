"""Nothing in a step of V2 waits for the device, and little is copied from it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from specviz.servers.vllm.tracing.v2 import recorder
from specviz.servers.vllm.tracing.v2.device import Gpu
from specviz.servers.vllm.tracing.v2.recorder import StepCopy
from tests.support.v2.valueless import KEYS, meta, steps


@pytest.mark.parametrize("rule", ["standard", "block", "synthetic", "fly"])
@pytest.mark.parametrize("has_draft_logits", [True, False], ids=["sampled", "lookup"])
def test_a_step_waits_for_no_value(
    rule: str, has_draft_logits: bool, caplog: pytest.LogCaptureFixture
) -> None:
    traced = steps(rule, has_draft_logits=has_draft_logits)
    traced.start(*KEYS[:3], "other")
    traced.step(*KEYS[:3], "other")
    assert caplog.records == []
    assert [key for key, _ in traced.kept] == KEYS[:3]


@pytest.mark.parametrize(
    "ask",
    [
        lambda tensor: tensor[0, 0].item(),
        lambda tensor: tensor.tolist(),
        lambda tensor: tensor.cpu(),
        lambda tensor: bool(tensor[0, 0] > 0),
        lambda tensor: tensor.nonzero(),
        lambda tensor: tensor[tensor > 0],
    ],
    ids=["item", "tolist", "cpu", "branch", "nonzero", "mask"],
)
def test_a_hook_that_asked_for_a_value_would_be_seen(
    ask: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    original = recorder.gather

    def asking(view: Any, *args: Any, **kwargs: Any) -> Any:
        ask(view.logits)
        return original(view, *args, **kwargs)

    monkeypatch.setattr(recorder, "gather", asking)
    traced = steps()
    traced.start(KEYS[0])
    traced.step(KEYS[0])
    assert [record.message for record in caplog.records] == ["specviz could not trace this step"]
    [(key, line)] = traced.kept
    assert key == KEYS[0] and set(line()) == {"error"}


@pytest.mark.parametrize("count", [1, 3])
def test_a_request_and_step_copy_a_few_hundred_bytes_whatever_the_vocabulary(count: int) -> None:
    traced = steps()
    traced.start(*KEYS[:count], "other")
    traced.step(*KEYS[:count], "other")
    # four drafts of (3 + 5) floats and (3 + 5) integers, five ids of 8 bytes, two counts
    assert traced.device.bytes_copied == count * (4 * 8 * 4 + 4 * 8 * 4 + 5 * 8 + 2 * 4)
    assert traced.device.calls.count("copy") == 1


def test_with_nobody_asking_nothing_is_issued() -> None:
    traced = steps()
    traced.start("other")
    traced.step("other")
    assert traced.device.calls == [] and traced.kept == []


def test_a_request_that_is_over_costs_nothing_any_more() -> None:
    traced = steps()
    traced.start(KEYS[0])
    over = {f"cmpl-{KEYS[0]}-0-0123abcd"}
    traced.runner.execute_model(SimpleNamespace(scheduled_new_reqs=[], finished_req_ids=over))
    before = list(traced.device.calls)
    traced.step("other")
    assert traced.device.calls == before


def test_reading_waits_and_is_not_done_in_the_step() -> None:
    copy = SimpleNamespace(arrived=lambda: [torch.tensor([1, 2])])
    assert StepCopy(copy, None, None).numbers == [[1, 2]]
    with pytest.raises(Exception, match="meta"):
        _ = StepCopy(SimpleNamespace(arrived=lambda: [meta(2)]), None, None).numbers


class Crossings(TorchDispatchMode):
    """Copies between host and device."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, str, bool]] = []

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kinds = {one.device.type for one in args if isinstance(one, torch.Tensor)}
        if len(kinds) > 1 or "_to_copy" in str(function):
            waits = not (args[2:] and args[2])
            self.seen.append((args[1].device.type, args[0].device.type, waits))
        return function(*args, **(kwargs or {}))


class Event:
    def __init__(self, log: list[str]) -> None:
        self.log = log

    def record(self, stream: Any = None) -> None:
        self.log.append(f"record on {stream or 'main'}")

    def synchronize(self) -> None:
        self.log.append("synchronize")

    def elapsed_time(self, end: Any) -> float:
        return 1.5


def test_a_gpu_copies_on_a_stream_of_its_own_and_waits_only_when_read() -> None:
    log: list[str] = []

    @contextlib.contextmanager
    def stream(one: Any) -> Iterator[None]:
        log.append(f"enter {one}")
        yield
        log.append("leave")

    class Side:
        def wait_stream(self, other: str) -> None:
            log.append(f"wait for {other}")

        def __str__(self) -> str:
            return "side"

    api = SimpleNamespace(
        Stream=lambda device: Side(),
        Event=lambda **kinds: Event(log),
        current_stream=lambda device: "main",
        stream=stream,
    )
    with FakeTensorMode(), Crossings() as crossings:
        gpu = Gpu(torch.device("meta"), api)
        index = gpu.index([0, 2])
        begin, end = gpu.mark(), gpu.mark()
        copy = gpu.copy([torch.empty(3, device="meta"), torch.empty(2, device="meta")])
    assert index.device.type == "meta" and gpu.elapsed_ms(begin, end) == 1.5
    assert crossings.seen == [("cpu", "meta", False), *[("meta", "cpu", False)] * 2]
    in_the_step = ["record on main", "record on main", "wait for main", "enter side"]
    assert log == [*in_the_step, "record on side", "leave"]
    assert [tensor.device.type for tensor in copy.arrived()] == ["cpu", "cpu"]
    assert log[-1] == "synchronize"
