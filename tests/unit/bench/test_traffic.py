"""Traffic: phases of load, recorded arrivals and mixed temperatures; what is drawn and sent."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.bench.block import Block, Talk
from specviz.bench.load.load import Load
from specviz.bench.load.places import places
from specviz.bench.load.recorded import read_arrivals
from specviz.bench.load.traffic import Arrival, Phase, Traffic, ramp
from specviz.bench.plan.check import check_arms
from specviz.bench.plan.plan import Plan
from specviz.bench.plan.toml import parse_plan, plan_to_toml
from specviz.bench.progress import BenchPhase
from specviz.bench.results import results_of
from specviz.config import Sampling
from specviz.errors import UsageError
from specviz.methods import Method
from specviz.prompts.sets import Conversation
from specviz.servers.kinds import server_spec
from tests.support.bench.boards import assert_complete, ended, resumed, until
from tests.support.bench.plans import BASELINE, NGRAM, arm
from tests.support.bench.samples import FakeEngine, WhenAllAreAsked, conversations
from tests.support.store.samples import frame_of

RAMP = Traffic("ramp", ramp([1, 4, 1], 2), (0.0, 0.7, 1.3))
EVERY_WAY = """
[[arms]]
method = "baseline"

[[traffic]]
name = "ramp"
ramp = [1, 16, 1]
temperatures = [0.0, 0.7, 1.3]

[[traffic]]
phases = [{ concurrency = 2, requests = 6 }, { request_rate = 4.0, seconds = 3.0 }]

[[traffic]]
name = "recorded"
arrivals = "arrivals.jsonl"
phase_s = 2.0
"""


def test_a_plan_with_traffic_is_read_back_as_it_was_without_the_file(tmp_path: Path) -> None:
    file = tmp_path / "arrivals.jsonl"
    file.write_text('100.5\n{"at_s": 101.0, "temperature": 0.2}\n{"at_s": 105, "category": "a"}\n')
    plan = parse_plan(EVERY_WAY, tmp_path)
    assert [phase.load.concurrency for phase in plan.traffic[0].phases] == [
        *(1, 2, 4, 8, 16, 8, 4, 2, 1),
    ]
    assert plan.traffic[2].arrivals == (Arrival(0.0), Arrival(0.5, 0.2), Arrival(4.5, None, "a"))
    assert plan.traffic[2].phase_titles == ("0 to 2 s", "2 to 4 s", "4 to 6 s")
    assert plan.loads == ()  # nobody asked for a steady one
    file.unlink()
    assert parse_plan(plan_to_toml(plan)) == plan


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ramp = [4]", "two concurrencies"),
        ("ramp = [1, 0]", "two concurrencies"),
        ("ramp = [2, 2]", "stays at 2"),
        ("ramp = [1, 4]\nphases = []", "needs one of"),
        ("name = 'x'", "needs one of"),
        ("phases = [{ concurrency = 4, requests = 2 }]", "from 4"),
        ("phases = [{ concurrency = 4, seconds = 2.0 }]", "needs requests"),
        ("phases = [{ request_rate = 4.0, requests = 2 }]", "needs seconds"),
        ("phases = [{ request_rate = 0.01, seconds = 1.0 }]", "from 1"),
        ("phases = []", "needs phases or recorded"),
        ("ramp = [1, 4]\ntemperatures = [0.0, 0.0]", "different"),
        ("ramp = [1, 4]\ntemperatures = [3.0]", "between 0 and 2"),
        ("arrivals = [2.0, 1.0]", "order of their times"),
        ("arrivals = [{ at_s = 1.0, k = 2 }]", "'k'"),
        ("arrivals = 'nothing.jsonl'", "cannot be read"),
        ("ramp = [1, 4]\nphase_s = 3.0", "no setting"),
        ("ramp = [1, true]", "a list of whole numbers"),
        ("ramp = [1, 4]\nrequests_per_stream = 1.5", "a whole number"),
        ("phases = [{ concurrency = 4, pause = 2 }]", "phase 1 of traffic 1 has no setting"),
        (f"arrivals = [1.0]\nphase_s = 1{'0' * 400}", "less than 300 digits"),
        (f"phases = [{{ request_rate = 1{'0' * 400}, seconds = 1.0 }}]", "less than 300 digits"),
    ],
)
def test_what_cannot_be_sent_is_refused_in_a_sentence(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        parse_plan(f"[[arms]]\nmethod = 'baseline'\n[[traffic]]\n{text}")


@pytest.mark.parametrize(
    ("text", "says"),
    [("", "is empty"), ("1\nx", "Line 2"), ("3\n1", "sort them"), ('{"at_s": "1"}', "numbers")],
)
def test_a_file_of_arrivals_that_is_none(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "a.txt").write_text(text)
    with pytest.raises(UsageError, match=says):
        read_arrivals(tmp_path / "a.txt")


@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=5),
    st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.5]), min_size=1, max_size=4, unique=True),
    st.integers(0, 5),
)
def test_every_phase_has_its_requests_and_each_temperature_equally_often(
    sizes: list[int], temperatures: list[float], repetition: int
) -> None:
    traffic = Traffic("t", tuple(Phase(Load(1), n) for n in sizes), tuple(temperatures))
    drawn = places(traffic, conversations(40), 7, repetition)
    assert drawn == places(traffic, conversations(40), 7, repetition)  # the same for every arm
    assert len({place.prompt_index for place in drawn}) == sum(sizes)
    for number, size in enumerate(sizes):
        mine = Counter(place.temperature for place in drawn if place.phase == number)
        assert mine.total() == size
        counts = [mine[temperature] for temperature in temperatures]
        assert max(counts) - min(counts) <= 1


def test_passes_differ_in_their_prompts_and_draws() -> None:
    first, second = (places(RAMP, conversations(60), 7, pass_) for pass_ in (0, 1))
    assert not {p.prompt_index for p in first} & {p.prompt_index for p in second}
    assert [p.temperature for p in first] != [p.temperature for p in second]


def test_recorded_requests_ask_a_prompt_of_their_category() -> None:
    said = tuple(Conversation(f"i{n}", ("x",), category="ab"[n % 2]) for n in range(8))
    recorded = (Arrival(0.0), Arrival(1.0, 0.3, "b"), Arrival(2.5, None, "b"))
    drawn = places(Traffic("r", arrivals=recorded, phase_s=2.0), said, 1, 0)
    assert [place.phase for place in drawn] == [0, 0, 1]
    assert [place.at_s for place in drawn] == [0.0, 1.0, 0.5]
    assert [place.temperature for place in drawn] == [0.0, 0.3, 0.0]
    assert [said[place.prompt_index].category for place in drawn[1:]] == ["b", "b"]
    with pytest.raises(UsageError, match="category b"):
        places(Traffic("r", arrivals=recorded), said[:3], 1, 0)
    with pytest.raises(UsageError, match="asks no prompt twice"):
        places(RAMP, said, 1, 0)


class Counting(FakeEngine):
    """Notes how many requests are under way when one is sent."""

    async def sample(self, prompt, sampling):
        self.at_once.append(self.under_way + 1)
        return await super().sample(prompt, sampling)


def talks(traffic: Traffic, said: tuple[Conversation, ...]) -> list[Talk]:
    drawn = places(traffic, said, 1, 0)
    return [
        Talk(one.prompt_index, said[one.prompt_index], Sampling(one.temperature), (), one)
        for one in drawn
    ]


async def test_each_phase_has_its_concurrency_and_what_is_in_flight_goes_on() -> None:
    engine, answers = Counting(seconds=0.01), []
    engine.at_once = []
    block = Block(talks(RAMP, conversations(30)), engine.sample, answers.append, lambda: True)
    await block.run(RAMP, random.Random(0))
    sizes = [1, 2, 4, 2, 1]
    bounds = iter(engine.at_once)
    for size in sizes:
        assert max(next(bounds) for _ in range(2 * size)) == size
    assert engine.most == 4 and not block.rest
    assert Counter(answer.place.phase for answer in answers) == dict(enumerate([2, 4, 8, 4, 2]))
    assert len(block.phase_ms) == len(sizes) + 1 and block.phase_ms[0] == 0
    assert all(later > earlier for earlier, later in pairwise(block.phase_ms))


async def test_recorded_requests_are_sent_at_their_times_whatever_is_under_way() -> None:
    traffic = Traffic("r", arrivals=tuple(Arrival(at) for at in (0.0, 0.01, 0.05)), phase_s=0.04)
    engine, answers = WhenAllAreAsked(3, seconds=0.2), []
    block = Block(talks(traffic, conversations(3)), engine.sample, answers.append, lambda: True)
    await block.run(traffic, random.Random(0))
    assert engine.most == 3
    for answer, at_ms in zip(sorted(answers, key=lambda a: a.sent_ms), (0, 10, 50), strict=True):
        assert answer.sent_ms >= at_ms
    assert block.phase_ms[:2] == pytest.approx((0.0, 40.0))
    assert block.phase_ms[2] >= 250  # the last answers belong to the last phase


async def test_traffic_that_is_stopped_sends_nothing_more() -> None:
    engine, answers = FakeEngine(seconds=0.005), []
    block = Block(
        talks(RAMP, conversations(30)), engine.sample, answers.append, lambda: len(answers) < 3
    )
    await asyncio.wait_for(block.run(RAMP, random.Random(0)), 5)
    assert len(answers) + len(block.rest) == RAMP.count and block.rest
    assert block.phase_ms is None


def test_all_arms_get_the_same_requests_and_they_are_stored_with_phase_and_temperature(
    store, new_board, new_plan
) -> None:
    engines = {method: FakeEngine(seconds=0.002, counts=True)
               for method in (Method.BASELINE, Method.NGRAM)}  # fmt: skip
    plan = new_plan(BASELINE, NGRAM, prompts=40, loads=(), traffic=(RAMP,), repetitions=2, warmup=1)
    board = new_board(engines)
    benchmark_id = board.start(plan)
    assert ended(board, benchmark_id) is BenchPhase.FINISHED
    assert_complete(store, benchmark_id, 2 * 2 * RAMP.count)
    stored = store.read(
        frame_of,
        "SELECT arm_index, repetition, prompt_index, phase, request_temperature, traffic, "
        "runs.temperature AS highest FROM samples JOIN rounds USING (round_id) "
        "JOIN runs ON runs.run_id = rounds.run_id",
    )
    assert set(stored["traffic"]) == {"ramp"} and set(stored["highest"]) == {1.3}
    columns = ["repetition", "prompt_index", "phase", "request_temperature"]
    asked = [set(stored[stored["arm_index"] == index][columns].itertuples(index=False, name=None))
             for index in (0, 1)]  # fmt: skip
    assert asked[0] == asked[1] and len(asked[0]) == 2 * RAMP.count
    results = results_of(store, benchmark_id)
    assert not results.cells  # no steady load was measured
    whole = [one for one in results.phases if one.phase is None and one.temperature is None]
    assert [(one.passes, one.requests) for one in whole] == [(2, 40), (2, 40)]
    assert all(check.agrees for check in results.checks)


def test_a_pass_that_was_interrupted_begins_again(store, new_board, new_plan) -> None:
    slow = FakeEngine(seconds=0.03)
    plan = new_plan(prompts=40, loads=(), traffic=(RAMP,), repetitions=2)
    board = new_board({Method.BASELINE: slow})
    benchmark_id = board.start(plan)
    until(lambda: slow.answered.total() > RAMP.count + 2)  # in the second pass
    board.cancel(benchmark_id)
    assert ended(board, benchmark_id) is BenchPhase.CANCELLED
    engine = FakeEngine()
    assert resumed(new_board({Method.BASELINE: engine}), benchmark_id) is BenchPhase.FINISHED
    assert engine.answered.total() == RAMP.count  # all of the second pass, and only that
    assert_complete(store, benchmark_id, 2 * RAMP.count)
    aside = store.read(frame_of, "SELECT error FROM requests WHERE status = 'set aside'")["error"]
    assert len(aside) >= 2 and set(aside) == {
        "The pass was interrupted: it is measured again from its beginning."
    }


def test_a_pause_waits_for_the_end_of_the_pass(store, new_board, new_plan) -> None:
    engine = FakeEngine(seconds=0.05)
    plan = new_plan(prompts=40, loads=(), traffic=(RAMP,), repetitions=2)
    board = new_board({Method.BASELINE: engine})
    benchmark_id = board.start(plan)
    until(lambda: engine.answered.total() > 3)
    board.pause(benchmark_id)
    until(lambda: board.progress(benchmark_id).phase is BenchPhase.PAUSED)
    assert engine.answered.total() == RAMP.count
    board.unpause(benchmark_id)
    assert ended(board, benchmark_id) is BenchPhase.FINISHED
    assert_complete(store, benchmark_id, 2 * RAMP.count)
    blocks = store.read(frame_of, "SELECT phase_ms FROM blocks")["phase_ms"]
    assert [len(begins) for begins in blocks] == [6, 6]


def test_too_few_prompts_are_refused_before_anything_starts(store, new_board, new_plan) -> None:
    with pytest.raises(UsageError, match="asks no prompt twice"):
        new_board({Method.BASELINE: FakeEngine()}).start(
            new_plan(prompts=5, loads=(), traffic=(RAMP,))
        )
    assert not store.read(frame_of, "SELECT * FROM benchmarks").size


def test_two_kinds_of_traffic_have_two_names() -> None:
    with pytest.raises(UsageError, match="its own"):
        Plan("a", (arm(),), traffic=(RAMP, RAMP))


@pytest.mark.parametrize(
    ("schedule", "says"),
    [
        ("[]", "list of"),
        ("[[2, 4, 5]]", "begin at 1"),
        ("[[1, 4, 5], [6, 8, 0]]", "begin at 5"),
        ("[[1, 4, 6]]", "K = 6"),
        ("[[1, 4, -1]]", "K = -1"),
        ("[[1, 4]]", "no range"),
        ("[[1, 4, 1.5]]", "no range"),
    ],
)
def test_a_schedule_that_vllm_would_refuse(schedule: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        parse_plan(f"[[arms]]\nengine = 'vllm'\nmethod = 'ngram'\nk = 5\nschedule = {schedule}")


def test_an_arm_names_a_policy_by_a_path_from_the_plan(tmp_path: Path) -> None:
    text = "[[arms]]\nengine = 'vllm'\nmethod = 'ngram'\nk = 5\npolicy = 'policy.toml'\n"
    plan = parse_plan(text, tmp_path)
    assert plan.arm_names == ("ngram · K 5 · policy",)
    assert parse_plan(plan_to_toml(plan)) == plan
    with pytest.raises(UsageError, match="Cannot read the policy"):
        check_arms(plan)
    rows = "requests_running = [4]\n[[rows]]\nk = [5]\n"
    (tmp_path / "policy.toml").write_text(f"version = 1\nnum_speculative_tokens = 5\n{rows}")
    check_arms(plan)
    assert server_spec(plan.arms[0].config).policy == tmp_path / "policy.toml"


def test_arms_with_a_schedule_and_without_have_names_of_their_own() -> None:
    text = "[[arms]]\nengine = 'vllm'\nmethod = 'ngram'\nk = 5\n"
    plan = parse_plan(text + text + "schedule = [[1, 4, 5], [5, 256, 0]]")
    assert plan.arm_names == ("ngram · K 5", "ngram · K 5 · schedule")
    held = parse_plan(text + text + "schedule = [[1, 4, 0], [5, 256, 0]]")
    assert held.arm_names == ("ngram · K 5", "ngram · K 5 · at 0")
    assert parse_plan(plan_to_toml(plan)) == plan
