"""Exports and imports of more text than DuckDB may hold at once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from specviz.config import Prompt, RunStatus
from specviz.store import open_store
from specviz.store.exchange import Format, export, import_file, portions
from specviz.store.file import database
from specviz.store.runs.run_json import RecordedRequest
from specviz.trace import EmittedToken, Fidelity, Origin, RequestFinished, RequestStarted, Step
from tests.support.store.made import made
from tests.support.store.samples import new_run

ANSWERS, LENGTH = 30, 1_000_000
"""Together 30 MB, as text of the answers and again in their steps."""

FIRST = datetime(2026, 11, 22, tzinfo=UTC)


def answer(number: int) -> RecordedRequest:
    """An answer in one chunk, as a server without token ids sends it."""
    text = f"{number} {'so ' * (LENGTH // 3)}"
    chunk = EmittedToken(0, None, text, Origin.UNKNOWN)
    events = (
        RequestStarted(f"answer-{number}", Fidelity.INFERRED),
        Step(0, 1.0, (), (chunk,)),
        RequestFinished((), 1.0, 2.0, "stop"),
    )
    sent = FIRST + timedelta(seconds=number)
    return RecordedRequest(Prompt("Go on."), events, RunStatus.FINISHED, sent)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = made(tmp_path_factory.mktemp("long") / "runs.duckdb")
    with open_store(path) as store:
        run = new_run(run_id="long", status=RunStatus.FINISHED)
        store.ingest(run, [answer(number) for number in range(ANSWERS)])
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [
        Format.PARQUET,
        *(pytest.param(kind, marks=pytest.mark.slow) for kind in (Format.JSONL, Format.CSV)),
    ],
)
def test_they_go_out_and_come_back_in_as_much_memory_as_they_take_once(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Format
) -> None:
    monkeypatch.setitem(database.SETTINGS, "memory_limit", "60MB")
    monkeypatch.setattr(portions, "BYTES_AT_ONCE", 4 * LENGTH)
    file = tmp_path / "file"
    with open_store(path) as store:
        done = export(store, None, kind, file)
    assert done.rows == {"runs": 1, "requests": ANSWERS, "steps": ANSWERS}
    if kind is not Format.CSV:  # a CSV does not come back
        with open_store(made(tmp_path / "other.duckdb")) as other:
            assert import_file(other, file).rows == 1 + 2 * ANSWERS
