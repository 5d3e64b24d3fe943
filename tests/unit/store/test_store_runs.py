"""Lists of runs, and what is said about things that are not there."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from store_samples import new_run, record, request_events, step

from specviz.config import Prompt, RunStatus
from specviz.errors import StoreError
from specviz.store import Store
from specviz.trace import Fidelity, RequestStarted

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def test_recent_runs_are_newest_first_and_paged(store: Store) -> None:
    runs = [new_run(started_at=NOON + timedelta(minutes=minute)) for minute in range(5)]
    for run in runs:
        record(store, run, request_events(1))
    newest_first = [run.run_id for run in reversed(runs)]
    assert [row.run.run_id for row in store.recent_runs()] == newest_first
    assert [row.run.run_id for row in store.recent_runs(2, 1)] == newest_first[1:3]
    assert store.count_runs() == 5


def test_a_run_in_the_list_sums_its_requests(store: Store) -> None:
    run = new_run()
    store.start_run(run)
    prompt = Prompt("x" * 200, "q1", "short_qa")
    for request_id, accepted in (("a", 3), ("b", 0)):
        recorder = store.recorder(run.run_id, prompt if request_id == "a" else Prompt("later"))
        recorder.append(RequestStarted(request_id, Fidelity.TRACED))
        recorder.append(step(0, accepted=accepted))
        recorder.finish(RunStatus.FINISHED)
    (row,) = store.recent_runs()
    assert (row.num_requests, row.request_id, row.category) == (2, "a", "short_qa")
    assert row.prompt_start == "x" * 80
    assert row.fidelity is Fidelity.TRACED
    assert row.draft_acceptance_rate == 3 / 6
    assert row.tokens_per_step == 5 / 2
    assert row.output_throughput == 5 / 0.020


def test_a_run_without_requests_or_drafts_has_blanks_in_the_list(store: Store) -> None:
    store.start_run(new_run())
    (row,) = store.recent_runs()
    assert row.num_requests == 0
    assert row.request_id is None and row.prompt_start is None and row.fidelity is None
    assert row.draft_acceptance_rate is None and row.tokens_per_step is None


def test_a_typed_prompt_does_not_take_the_category_of_a_later_one(store: Store) -> None:
    run = new_run()
    store.start_run(run)
    store.recorder(run.run_id, Prompt("typed")).finish(RunStatus.FAILED)
    store.recorder(run.run_id, Prompt("picked", "q1", "coding")).finish(RunStatus.FAILED)
    (row,) = store.recent_runs()
    assert (row.prompt_start, row.category) == ("typed", None)


def test_arms_of_a_group_are_oldest_first(store: Store) -> None:
    late, early = new_run(started_at=NOON), new_run(started_at=NOON - timedelta(hours=1))
    for run in (late, early, new_run(group_id="other")):
        store.start_run(run)
    assert store.group("group") == [early, late]


def test_a_time_without_a_zone_is_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="time zone"):
        store.start_run(new_run(started_at=datetime(2026, 1, 1)))


@pytest.mark.parametrize("read", [Store.run, Store.trace, Store.group])
def test_what_is_not_there_is_said(store: Store, read: Callable[[Store, str], object]) -> None:
    with pytest.raises(StoreError, match=r"no .* nobody"):
        read(store, "nobody")


def test_a_failing_query_is_one_sentence(store: Store) -> None:
    with pytest.raises(StoreError, match="could not be read") as caught:
        store.query("SELECT nothing FROM nowhere")
    assert "\n" not in str(caught.value)


def test_sql_reaches_nothing_outside_the_database(store: Store) -> None:
    for sql in (
        "SELECT * FROM read_csv('/etc/passwd')",
        "COPY runs TO '/tmp/stolen.csv'",
        "ATTACH '/tmp/other.duckdb'",
        "SET enable_external_access = true",
        "INSTALL httpfs",
    ):
        with pytest.raises(StoreError):
            store.query(sql)
