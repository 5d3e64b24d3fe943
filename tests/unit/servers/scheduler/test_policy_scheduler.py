"""The scheduler that follows a policy, over a stand-in for vLLM's two (the real ones are in
tests/integration)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from specviz.errors import UsageError
from specviz.servers.vllm.scheduler.decision import ASKED
from specviz.servers.vllm.scheduler.scheduler import (
    ALLOWED,
    POLICY_VARIABLE,
    adapts_draft,
    following,
    policy_of,
    policy_scheduler,
)
from specviz.servers.vllm.tracing.keys import new_key
from specviz.servers.vllm.tracing.spool import FOLDER_VARIABLE
from tests.support.servers.policy_samples import POLICY, Params

K = 5


@dataclass
class Request:
    sampling_params: Params
    spec_token_ids: list[int] = field(default_factory=list)
    is_prefill_chunk: bool = False


class Synchronous:
    """What a subclass sees of vLLM's Scheduler."""

    def __init__(self, method: str = "draft_model", ranks: int = 1) -> None:
        self.vllm_config = config(method, ranks)
        self.scheduler_config = SimpleNamespace(max_num_seqs=3)
        self.dynamic_sd_lookup: list[int] | None = None
        self.num_spec_tokens = K
        self.requests: dict[str, Request] = {}
        self.running: list[str] = []
        self.preempted: set[str] = set()

    def schedule(self) -> Any:
        output = SimpleNamespace(
            num_scheduled_tokens=dict.fromkeys(self.running, 1),
            finished_req_ids=set(),
            preempted_req_ids=self.preempted,
            num_spec_tokens_to_schedule=K,
        )
        self._update_after_schedule(output)
        return output

    def _update_after_schedule(self, output: Any) -> None:
        return None

    def update_draft_token_ids(self, drafts: Any) -> None:
        for request_id, ids in zip(drafts.req_ids, drafts.draft_token_ids, strict=True):
            self.requests[request_id].spec_token_ids = ids


class Asynchronous(Synchronous):
    """Placeholders of the length that the step drafts, shared by all requests."""

    def _update_after_schedule(self, output: Any) -> None:
        placeholders = [-1] * output.num_spec_tokens_to_schedule
        for request_id in output.num_scheduled_tokens:
            self.requests[request_id].spec_token_ids = placeholders


@pytest.fixture(autouse=True)
def spool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))


def config(method: str, ranks: int = 1, *, v2: bool = False, parallel: bool = False) -> Any:
    return SimpleNamespace(
        speculative_config=SimpleNamespace(method=method, parallel_drafting=parallel),
        parallel_config=SimpleNamespace(data_parallel_size=ranks),
        use_v2_model_runner=v2,
    )


def with_requests(base: type, *wishes: int, **options: Any) -> tuple[Any, list[str]]:
    scheduler = following(POLICY, base)(**options)
    names = [f"cmpl-{new_key()}-0" for _ in wishes]
    for name, wish in zip(names, wishes, strict=True):
        scheduler.requests[name] = Request(Params(extra_args={"spec_k": wish}))
    scheduler.running = names
    return scheduler, names


def lengths(scheduler: Any) -> list[int]:
    return [len(request.spec_token_ids) for request in scheduler.requests.values()]


def test_drafts_that_come_back_are_cut_to_what_each_request_may_use() -> None:
    scheduler, names = with_requests(Synchronous, 0, 2, 3)
    assert scheduler.schedule().num_spec_tokens_to_schedule == 3
    drafts = SimpleNamespace(req_ids=names, draft_token_ids=[[7, 8, 9] for _ in names])
    scheduler.update_draft_token_ids(drafts)
    assert lengths(scheduler) == [0, 2, 3]


def test_placeholders_of_the_asynchronous_scheduler_are_cut() -> None:
    scheduler, _ = with_requests(Asynchronous, 0, 2, 5)
    assert scheduler.schedule().num_spec_tokens_to_schedule == 5
    assert lengths(scheduler) == [0, 2, 5]


@pytest.mark.parametrize("base", [Synchronous, Asynchronous])
def test_a_step_where_all_have_zero_drafts_nothing(base: type) -> None:
    scheduler, _ = with_requests(base, 0, 0)
    assert scheduler.schedule().num_spec_tokens_to_schedule == 0
    assert lengths(scheduler) == [0, 0]


def test_drafters_that_insist_on_k_get_it_and_the_drafts_are_cut() -> None:
    scheduler, _ = with_requests(Asynchronous, 0, 2, method="suffix")
    assert scheduler.schedule().num_spec_tokens_to_schedule == K
    assert lengths(scheduler) == [0, 2]


def test_a_step_says_what_the_one_before_allowed_for_its_drafts() -> None:
    scheduler, (name, other) = with_requests(Synchronous, 2, 0)
    assert getattr(scheduler.schedule(), ALLOWED) == {}
    assert getattr(scheduler.schedule(), ALLOWED) == {name: (2, ASKED), other: (0, ASKED)}


@pytest.mark.parametrize("base", [Synchronous, Asynchronous])
def test_a_request_that_had_to_wait_says_what_was_allowed_for_its_draft(base: type) -> None:
    scheduler, (name, other) = with_requests(base, 2, 4)
    scheduler.schedule()
    scheduler.running = [other]  # a pipeline takes them in turns, or a step was full
    assert getattr(scheduler.schedule(), ALLOWED) == {other: (4, ASKED)}
    scheduler.running = [name, other]
    assert getattr(scheduler.schedule(), ALLOWED) == {name: (2, ASKED), other: (4, ASKED)}


def test_a_request_that_waits_does_not_lengthen_the_drafts_of_others() -> None:
    scheduler, (_, other) = with_requests(Synchronous, 4, 2)
    assert scheduler.schedule().num_spec_tokens_to_schedule == 4
    scheduler.running = [other]
    assert scheduler.schedule().num_spec_tokens_to_schedule == 2


def test_where_no_draft_is_left_nothing_is_said_to_have_been_allowed() -> None:
    scheduler, (chunked, preempted) = with_requests(Synchronous, 2, 2)
    scheduler.schedule()
    scheduler.requests[chunked].is_prefill_chunk = True
    scheduler.preempted = {preempted}
    assert getattr(scheduler.schedule(), ALLOWED) == {}


def test_only_traced_requests_are_reported() -> None:
    scheduler, (name,) = with_requests(Synchronous, 2)
    scheduler.requests["cmpl-other"] = scheduler.requests[name]
    scheduler.running = ["cmpl-other"]
    scheduler.schedule()
    assert getattr(scheduler.schedule(), ALLOWED) == {}


def test_no_new_request_is_padded_to_a_full_draft() -> None:
    scheduler, _ = with_requests(Synchronous)
    assert scheduler.dynamic_sd_lookup == [K] * 4


def test_nobody_running_is_no_step_of_the_hold() -> None:
    scheduler, _ = with_requests(Synchronous)
    assert scheduler.schedule().num_spec_tokens_to_schedule == K


@pytest.mark.parametrize(
    ("configuration", "adapts"),
    [
        (config("draft_model"), True),
        (config("eagle3"), True),
        (config("ngram"), True),
        (config("draft_model", parallel=True), False),
        (config("suffix"), False),
        (config("medusa"), False),
        (config("dflash"), False),
        (config("ngram_gpu", v2=True), True),
        (config("draft_model", ranks=2), False),
        (config("draft_model", ranks=2, v2=True), False),
    ],
)
def test_which_servers_may_draft_less_in_a_step(configuration: Any, adapts: bool) -> None:
    assert adapts_draft(configuration) is adapts


def test_a_policy_for_another_k_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(
        "version = 1\nnum_speculative_tokens = 5\nrequests_running = [1]\n[[rows]]\nk=[5]"
    )
    assert policy_of(str(path), 5).num_speculative_tokens == 5
    with pytest.raises(UsageError, match="num_speculative_tokens = 5, and the server has 4"):
        policy_of(str(path), 4)
    with pytest.raises(UsageError, match="a server that speculates"):
        policy_of(str(path), 0)
    with pytest.raises(UsageError, match=POLICY_VARIABLE):
        policy_of(None, 5)


def test_vllm_finds_the_scheduler_by_its_name() -> None:
    from specviz.servers.vllm.scheduler.scheduler import SCHEDULER

    module, _, name = SCHEDULER.rpartition(".")
    assert (module, name) == (policy_scheduler.__module__, policy_scheduler.__name__)
