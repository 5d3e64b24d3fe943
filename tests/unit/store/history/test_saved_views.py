"""Saved views of the Runs list: under a name, replaced, too long, and from another machine."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from specviz.errors import UsageError
from specviz.store import Store, open_store
from specviz.store.exchange import Format, export, import_file
from specviz.store.history.saved_views import MAX_CHARACTERS, put_view, settings_of
from specviz.store.saved import VIEWS, Saved, read_saved
from tests.support.store.history_samples import put
from tests.support.store.made import made
from tests.unit.store.history.test_store_history_groups import RUNS

AT = datetime(2026, 11, 1, 12, tzinfo=UTC)
SETTINGS = {"runs_methods": ["ngram"], "runs_text": "'; DROP TABLE saved_views; --", "runs_x": "한"}


def views(store: Store) -> dict[str, object]:
    return {saved.name: settings_of(saved) for saved in store.read(read_saved, VIEWS)}


def test_a_view_is_saved_as_it_is_and_replaced_under_its_name(store: Store) -> None:
    store.write(put_view, " nightly ", SETTINGS, AT)
    assert views(store) == {"nightly": SETTINGS}
    store.write(put_view, "nightly", {}, AT)
    assert views(store) == {"nightly": {}}
    for name, settings in (("", SETTINGS), ("long", {"runs_text": "x" * MAX_CHARACTERS})):
        with pytest.raises(UsageError):
            store.write(put_view, name, settings, AT)
    assert [*views(store)] == ["nightly"]


@pytest.mark.parametrize("content", ["[]", "1", "null", '"x"'])
def test_settings_that_are_no_settings_are_none(content: str) -> None:
    assert settings_of(Saved("a", content, AT)) == {}


@pytest.mark.parametrize(
    "kind", [Format.PARQUET, pytest.param(Format.JSONL, marks=pytest.mark.slow)]
)
def test_views_travel_with_the_whole_database(store: Store, tmp_path: Path, kind: Format) -> None:
    put(store, RUNS[0])
    store.write(put_view, "theirs", SETTINGS, AT)
    store.write(put_view, "both", SETTINGS, AT)
    file = export(store, None, kind, tmp_path / "all").path
    with open_store(made(tmp_path / "other" / "runs.duckdb")) as other:
        other.write(put_view, "both", {"runs_text": "mine"}, AT)
        outcome = import_file(other, file)
        assert views(other) == {"both": {"runs_text": "mine"}, "theirs": SETTINGS}
        assert any('["both"]' in note for note in outcome.notes)
        assert import_file(other, file).rows == 0
