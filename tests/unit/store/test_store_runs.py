"""Lists of runs, and what is said about things that are not there."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from duckdb import DuckDBPyConnection

from specviz.config import Prompt, RunStatus
from specviz.errors import StoreError
from specviz.store import Store
from specviz.store.history.history import read_history
from specviz.store.runs.runs import count_requests, read_group, read_run, read_titles, read_trace
from specviz.trace import Fidelity, RequestStarted
from tests.support.store.samples import frame_of, new_run, num_runs, record, request_events, step

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def test_runs_are_listed_newest_first_and_paged(store: Store) -> None:
    runs = [new_run(started_at=NOON + timedelta(minutes=minute)) for minute in range(5)]
    for run in runs:
        record(store, run, request_events(1))
    newest_first = [run.run_id for run in reversed(runs)]
    assert listed(store) == newest_first
    assert listed(store, limit=2, offset=1) == newest_first[1:3]
    assert store.read(num_runs) == 5


def listed(store: Store, **page: int) -> list[str]:
    return [row.item.item_id for row in store.read(read_history, **page).rows]


def test_a_run_in_the_list_sums_its_requests(store: Store) -> None:
    run = new_run()
    store.start_run(run)
    prompt = Prompt("x" * 200, "q1", "short_qa")
    for request_id, accepted in (("a", 3), ("b", 0)):
        recorder = store.recorder(run.run_id, prompt if request_id == "a" else Prompt("later"))
        recorder.append(RequestStarted(request_id, Fidelity.TRACED))
        recorder.append(step(0, accepted=accepted))
        recorder.finish(RunStatus.FINISHED)
    (row,) = store.read(read_history).rows
    assert (row.num_requests, row.categories) == (2, ("short_qa",))
    assert row.prompt_start == "x" * 80
    assert row.fidelities == (Fidelity.TRACED,)
    assert row.draft_acceptance_rate == 3 / 6
    assert row.tokens_per_step == 5 / 2
    assert row.output_throughput == 5 / 0.020


def test_a_run_without_requests_or_drafts_has_blanks_in_the_list(store: Store) -> None:
    store.start_run(new_run())
    (row,) = store.read(read_history).rows
    assert row.num_requests == 0
    assert row.prompt_start is None and row.categories == row.fidelities == ()
    assert row.draft_acceptance_rate is None and row.tokens_per_step is None


def test_the_prompt_of_a_run_is_its_first_and_its_categories_are_of_all_requests(
    store: Store,
) -> None:
    run = new_run()
    store.start_run(run)
    store.recorder(run.run_id, Prompt("typed")).finish(RunStatus.FAILED)
    store.recorder(run.run_id, Prompt("picked", "q1", "coding")).finish(RunStatus.FAILED)
    (row,) = store.read(read_history).rows
    assert (row.prompt_start, row.categories) == ("typed", ("coding",))


def test_arms_of_a_group_are_oldest_first(store: Store) -> None:
    late, early = new_run(started_at=NOON), new_run(started_at=NOON - timedelta(hours=1))
    for run in (late, early, new_run(group_id="other")):
        store.start_run(run)
    assert store.read(read_group, "group") == [early, late]


def test_a_time_without_a_zone_is_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="time zone"):
        store.start_run(new_run(started_at=datetime(2026, 1, 1)))


@pytest.mark.parametrize("read", [read_run, read_trace, read_group])
def test_what_is_not_there_is_said(
    store: Store, read: Callable[[DuckDBPyConnection, str], object]
) -> None:
    with pytest.raises(StoreError, match=r"no .* nobody"):
        store.read(read, "nobody")


def test_requests_are_counted_without_reading_them(store: Store) -> None:
    """An opened run shows how many requests it has: thousands of titles need not be read for it."""
    run, other = new_run(), new_run()
    for started in (run, other):
        store.start_run(started)
    for number in range(3):
        store.recorder(run.run_id, Prompt(f"prompt {number}")).finish(RunStatus.FAILED)
    assert store.read(count_requests, run.run_id) == len(store.read(read_titles, run.run_id)) == 3
    assert store.read(count_requests, other.run_id) == store.read(count_requests, "nobody") == 0


def test_a_failing_query_is_one_sentence(store: Store) -> None:
    with pytest.raises(StoreError, match="could not be read") as caught:
        store.read(frame_of, "SELECT nothing FROM nowhere")
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
            store.read(frame_of, sql)
