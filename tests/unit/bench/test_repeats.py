"""Blocks measured while something else used the machine: marked, measured again, reported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from specviz.analysis.benchmark.disturbance import disturbance_of, disturbed_text
from specviz.analysis.benchmark.results import Results
from specviz.bench import machine_watch
from specviz.bench.load.load import Load
from specviz.bench.progress import BenchPhase
from specviz.bench.results import document, results_of, samples_of
from specviz.commands.benchmark.tables import print_results
from specviz.config import Prompt
from specviz.errors import EngineError
from specviz.known_facts import facts_of_benchmark
from specviz.methods import Method
from specviz.store import Store
from specviz.store.benchmarks.reads import read_benchmark, read_disturbed
from specviz.store.history.comparison import read_blocks
from specviz.store.runs.runs import read_group
from tests.support.bench.boards import assert_complete, ended, resumed, until
from tests.support.bench.plans import BASELINE, NGRAM
from tests.support.bench.quiet_machine import made_machine
from tests.support.bench.samples import FakeEngine
from tests.support.store.samples import frame_of

FAST_S, SLOW_S = 0.002, 0.006


class Burner:
    """Something else on the machine; while it burns, answers take three times as long."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, share: float = 0.5) -> None:
        self.burns = False
        made_machine(monkeypatch, lambda: share if self.burns else 0.01)
        monkeypatch.setattr(machine_watch, "WINDOW_S", 0.0)  # each block its own window
        monkeypatch.setattr(machine_watch, "SHORTEST_S", 0.002)

    def engine(self, burns_at: Callable[[int], bool], **settings: object) -> FakeEngine:
        """An engine that is disturbed at some of the requests it is asked, counted from 1."""
        engine = FakeEngine(seconds=FAST_S, **settings)  # type: ignore[arg-type]

        def say(prompt: Prompt) -> None:
            self.burns = burns_at(len(engine.asked))
            engine.seconds = SLOW_S if self.burns else FAST_S

        engine.say = say
        return engine


@pytest.fixture
def burner(monkeypatch: pytest.MonkeyPatch) -> Burner:
    return Burner(monkeypatch)


def ratio(results: Results) -> float:
    (cell,) = [cell for cell in results.cells if cell.arm_index == 1]
    assert cell.speedup is not None
    return cell.speedup.ratio


def stored_blocks(store: Store) -> tuple[int, int, int]:
    """All, disturbed, repeats."""
    (row,) = store.read(
        frame_of,
        "SELECT count(*) AS n, count_if(is_disturbed) AS disturbed, count(repeats) AS repeats "
        "FROM blocks",
    ).to_dict("records")
    return row["n"], row["disturbed"], row["repeats"]


def test_disturbed_blocks_are_measured_again_and_the_verdict_is_that_of_a_quiet_machine(
    store: Store, new_board, new_plan, burner: Burner
) -> None:
    """Half of one arm's requests take three times as long, and both arms are equally fast."""
    engines = {
        Method.BASELINE: FakeEngine(seconds=FAST_S),
        Method.NGRAM: burner.engine(lambda asked: asked <= 4, counts=True),
    }
    board = new_board(engines)
    benchmark_id = board.start(new_plan(BASELINE, NGRAM, prompts=8))
    assert ended(board, benchmark_id) is BenchPhase.FINISHED
    assert_complete(store, benchmark_id, 16)
    blocks, disturbed, repeats = stored_blocks(store)
    assert 4 <= disturbed == repeats <= 8 and blocks == 16 + repeats
    results = results_of(store, benchmark_id)
    assert ratio(results) == pytest.approx(1.0)
    found = results.cells[1].disturbance
    assert found is not None
    assert (found.blocks, found.disturbed, found.watched) == (8, 0, "this machine")
    assert found.repeated >= 4 and found.others_share is None
    assert any("measured again" in note for note in results.notes)
    assert len(samples_of(store, benchmark_id)) == 16
    (check,) = results.checks  # the server's counters were read before the repeats
    assert check.agrees and check.num_drafts == 16 and check.rounds_without == 0
    kept = store.read(frame_of, "SELECT error FROM requests WHERE status = 'set aside'")
    assert len(kept) == repeats
    assert set(kept["error"]) == {"Others took 50 % of the machine: measured again."}


def test_a_machine_that_stays_busy_is_reported_and_not_measured_for_ever(
    store: Store, new_board, new_plan, burner: Burner, capsys: pytest.CaptureFixture[str]
) -> None:
    engines = {
        Method.BASELINE: burner.engine(lambda asked: True),
        Method.NGRAM: burner.engine(lambda asked: True),
    }
    board = new_board(engines)
    burner.burns = True
    benchmark_id = board.start(new_plan(BASELINE, NGRAM, prompts=8))
    assert ended(board, benchmark_id) is BenchPhase.FINISHED
    assert_complete(store, benchmark_id, 16)
    assert sum(len(engine.asked) for engine in engines.values()) == 16 + 3
    found = document(store, benchmark_id)
    sentence = (
        "16 of 16 blocks were measured while something else used 50 % of the processor: "
        "these times may be too long."
    )
    assert found["results"]["notes"][0] == sentence
    assert found["results"]["cells"][0]["disturbance"]["disturbed"] == 8
    row, results = store.read(read_benchmark, benchmark_id), results_of(store, benchmark_id)
    assert disturbed_text(results.cells) == sentence  # on the pages Benchmark, K and Cost
    assert any(sentence in note for note in facts_of_benchmark(row, results, None, None).notes)
    runs = [run.run_id for run in store.read(read_group, benchmark_id)]
    on_compare = disturbance_of(store.read(read_blocks, runs))
    assert on_compare is not None and on_compare.text == sentence
    print_results(found)
    shown = capsys.readouterr().out
    assert "8 of 8 blocks" in shown and "16 of 16 blocks were measured while" in shown


def test_a_quiet_machine_says_nothing(
    store: Store, new_board, new_plan, burner: Burner, capsys: pytest.CaptureFixture[str]
) -> None:
    board = new_board({Method.BASELINE: FakeEngine()})
    benchmark_id = board.start(new_plan(prompts=5))
    ended(board, benchmark_id)
    assert stored_blocks(store) == (5, 0, 0)
    found = document(store, benchmark_id)
    assert found["results"]["cells"][0]["disturbance"]["disturbed"] == 0
    print_results(found)
    assert "disturbed" not in capsys.readouterr().out


def test_short_blocks_in_a_row_are_judged_together(
    store: Store, new_board, new_plan, burner: Burner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_watch, "WINDOW_S", 60.0)
    board = new_board({Method.BASELINE: burner.engine(lambda asked: asked == 1)})
    benchmark_id = board.start(new_plan(prompts=6))
    ended(board, benchmark_id)
    shares = store.read(frame_of, "SELECT DISTINCT others_share FROM blocks WHERE repeats IS NULL")
    assert len(shares) == 1


@pytest.mark.parametrize("load", [Load(concurrency=3), Load(request_rate=400.0)])
def test_a_block_of_several_requests_is_replaced_as_a_whole(
    store: Store, new_board, new_plan, burner: Burner, load: Load
) -> None:
    board = new_board({Method.BASELINE: burner.engine(lambda asked: asked <= 20)})
    burner.burns = True
    plan = new_plan(prompts=10, turns=2, loads=(load,))
    benchmark_id = board.start(plan)
    assert ended(board, benchmark_id) is BenchPhase.FINISHED
    assert_complete(store, benchmark_id, 20)
    assert stored_blocks(store) == (2, 1, 1)
    (cell,) = results_of(store, benchmark_id).cells
    assert cell.requests == 20 and samples_of(store, benchmark_id)["block"].nunique() == 1


def test_the_time_budget_ends_repeats_and_the_benchmark_is_complete(
    store: Store, new_board, new_plan, burner: Burner
) -> None:
    engine = burner.engine(lambda asked: asked < 6)
    board = new_board({Method.BASELINE: engine})
    burner.burns = True
    plan = replace(new_plan(prompts=6), time_budget_s=1000.0)
    start = board.start

    def spend_the_budget(prompt: Prompt) -> None:
        if len(engine.asked) == 6:
            tally = board._benches[benchmark_ids[0]].tally
            tally._began -= 2000.0

    benchmark_ids: list[str] = []
    say = engine.say
    engine.say = lambda prompt: (say(prompt), spend_the_budget(prompt))  # type: ignore[func-returns-value]
    engine.seconds = 0.05
    benchmark_ids.append(start(plan))
    assert ended(board, benchmark_ids[0]) is BenchPhase.FINISHED
    assert len(engine.asked) == 6
    note = results_of(store, benchmark_ids[0]).notes[0]
    assert "6 blocks were measured while something else used" in note


def test_a_repeat_with_a_failed_request_leaves_the_first_measurement(
    store: Store, new_board, new_plan, burner: Burner
) -> None:
    engine = burner.engine(lambda asked: asked <= 2)
    say = engine.say

    def stumble(prompt: Prompt) -> None:
        say(prompt)
        if len(engine.asked) == 7:
            raise EngineError("The stream broke.")

    engine.say = stumble
    board = new_board({Method.BASELINE: engine})
    burner.burns = True
    benchmark_id = board.start(new_plan(prompts=6))
    assert ended(board, benchmark_id) is BenchPhase.FINISHED
    assert_complete(store, benchmark_id, 6)
    assert len(engine.asked) == 7  # a server that fails is left alone
    _, disturbed, repeats = stored_blocks(store)
    assert disturbed > 0 == repeats
    (cell,) = results_of(store, benchmark_id).cells
    assert cell.disturbance is not None and cell.disturbance.disturbed == disturbed
    assert cell.failed == 0


def test_repeats_that_were_cut_off_are_made_by_resuming(
    store: Store, new_board, new_plan, burner: Burner
) -> None:
    """Conversations go on behind the answers that were stored."""
    engine = burner.engine(lambda asked: asked <= 12)
    say = engine.say

    def hang(prompt: Prompt) -> None:
        say(prompt)
        if len(engine.asked) > 12:
            engine.seconds = 60.0

    engine.say = hang
    board = new_board({Method.BASELINE: engine})
    burner.burns = True
    benchmark_id = board.start(new_plan(prompts=6, turns=2))
    until(lambda: len(engine.asked) >= 14)
    board.cancel(benchmark_id)
    assert ended(board, benchmark_id) is BenchPhase.CANCELLED
    assert_no_loss(store, benchmark_id, 12)
    left = store.read(read_disturbed, benchmark_id)
    assert left and all(len(row.requests) == 2 for row in left)

    burner.burns = False
    later = FakeEngine(seconds=FAST_S)
    assert resumed(new_board({Method.BASELINE: later}), benchmark_id) is BenchPhase.FINISHED
    assert len(later.asked) == 2 * len(left)
    assert store.read(read_disturbed, benchmark_id) == []
    assert_complete(store, benchmark_id, 12)
    (cell,) = results_of(store, benchmark_id).cells
    assert cell.disturbance is not None and cell.disturbance.disturbed == 0


def assert_no_loss(store: Store, benchmark_id: str, requests: int) -> None:
    (cell,) = results_of(store, benchmark_id).cells
    assert cell.requests == requests
