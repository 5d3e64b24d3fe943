"""How much memory a query may take, alone and after others.

In processes of their own: the ceiling is one on the whole process.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from store_samples import run_python


def test_a_memory_limit_of_its_own(tmp_path: Path) -> None:
    found = run_python(
        """
        from pathlib import Path
        import pytest
        from specviz.errors import StoreError
        from specviz.store import open_store
        from specviz.store.sql.sandbox import run_sql
        sql = "SELECT len(range(n)) FROM range(20_000_000, 20_000_001) t(n)"
        with open_store(Path(sys.argv[1])) as store:
            with pytest.raises(StoreError, match=r"takes more memory than it may") as raised:
                run_sql(store, sql, memory=64 * 1024**2)
            assert "\\n" not in str(raised.value)
            assert run_sql(store, sql, memory=2 * 1024**3).rows == ((20_000_000,),)
        """,
        tmp_path / "runs.duckdb",
    )
    assert found.returncode == 0, found.stderr


def test_one_query_does_not_leave_its_memory_to_the_next(tmp_path: Path) -> None:
    pytest.importorskip("resource")
    found = run_python(
        """
        import sys, time
        from pathlib import Path
        from specviz.errors import StoreError
        from specviz.store import open_store
        from specviz.store.sql.memory_ceiling import _data_bytes
        from specviz.store.sql.sandbox import run_sql
        greedy = "SELECT length(repeat('x', 10000000 + n)) FROM range(2048) a(n)"
        with open_store(Path(sys.argv[1])) as store:
            before = _data_bytes()
            for _ in range(2):
                try:
                    run_sql(store, greedy, memory=256 << 20)
                except StoreError as error:
                    assert "more memory than it may" in str(error), error
                time.sleep(1.2)  # what was freed is given back after a second
            print((_data_bytes() - before) >> 20)
        """,
        tmp_path / "runs.duckdb",
    )
    assert found.returncode == 0, found.stderr
    assert int(found.stdout) < 350


def test_the_ceiling_is_lifted_when_the_last_query_ends() -> None:
    pytest.importorskip("resource")
    found = run_python(
        """
        import resource
        from specviz.store.sql.memory_ceiling import memory_ceiling
        before = resource.getrlimit(resource.RLIMIT_DATA)
        with memory_ceiling(512 * 1024**2):
            lowered = resource.getrlimit(resource.RLIMIT_DATA)
            with memory_ceiling(1):
                assert resource.getrlimit(resource.RLIMIT_DATA) == lowered != before
            assert resource.getrlimit(resource.RLIMIT_DATA) == lowered
        assert resource.getrlimit(resource.RLIMIT_DATA) == before
        """
    )
    assert found.returncode == 0, found.stderr
