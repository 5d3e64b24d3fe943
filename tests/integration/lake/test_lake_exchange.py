"""Exports from and imports into a shared store: the same files as those of a DuckDB file."""

from __future__ import annotations

from pathlib import Path

import pytest

from specviz.errors import UsageError
from specviz.store import open_store
from specviz.store.exchange import Format, export, import_file
from tests.support.store.exchange_samples import filled
from tests.support.store.postgres import Postgres
from tests.support.store.round_trip import assert_equal_rows


@pytest.mark.slow
def test_out_of_a_file_into_a_lake_and_back(
    postgres: Postgres, files: Path, empty: str, tmp_path: Path
) -> None:
    with open_store(tmp_path / "here.duckdb") as here, open_store(tmp_path / "back.duckdb") as back:
        filled(here)
        export(here, None, Format.PARQUET, tmp_path / "all.zip")
        with open_store(postgres.copy(empty, files)) as lake:
            import_file(lake, tmp_path / "all.zip")
            assert_equal_rows(here, lake)
            assert not import_file(lake, tmp_path / "all.zip").stored
            export(lake, None, Format.JSONL, tmp_path / "all.jsonl")
            lake.write(lambda cursor: cursor.execute("UPDATE runs SET max_tokens = 7"))
            with pytest.raises(UsageError, match="already with other rows"):
                import_file(lake, tmp_path / "all.zip")
        import_file(back, tmp_path / "all.jsonl")
        assert_equal_rows(here, back)
