"""Mutated files: taken whole or refused with one sentence, never anything else."""

from __future__ import annotations

import os
import resource
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from specviz.errors import UsageError
from specviz.store import Store, open_store
from specviz.store.exchange import Format, export, import_file
from specviz.store.exchange.exported_tables import EXPORTED_TABLES
from tests.support.faults.import_mutations import WAYS, Samples, mutated, samples
from tests.support.faults.kept_figures import keep
from tests.support.store.samples import frame_of

QUICK = range(18)
WHOLE = range(2000)
SECONDS_EACH = 60.0
MORE_MEMORY_MB = 1024
"""What the whole may take beyond what the process had: samples and rows are a few hundred KB."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Samples:
    return samples(tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def taking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("taking") / "runs.duckdb") as opened:
        yield opened


def test_some_mutated_files(taking: Store, whole: Samples, tmp_path: Path) -> None:
    for seed in QUICK:
        outcome(taking, mutated(whole, seed), tmp_path, seed)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_two_thousand_mutated_files(
    taking: Store, whole: Samples, tmp_path: Path, record_property: object
) -> None:
    outcomes: Counter[str] = Counter()
    before, longest = peak_mb(), 0.0
    for seed in WHOLE:
        began = time.monotonic()
        outcomes[outcome(taking, mutated(whole, seed), tmp_path, seed)] += 1
        longest = max(longest, time.monotonic() - began)
    print(f"{len(WHOLE)} files of {len(WAYS)} kinds: {dict(outcomes)}; longest {longest:.1f} s; "
          f"memory {before} MB before, {peak_mb()} MB at most")  # fmt: skip
    keep("imports", cases=len(WHOLE), **outcomes, longest_s=longest, mb_before=before,
         mb_at_most=peak_mb())  # fmt: skip
    assert longest < SECONDS_EACH
    assert peak_mb() - before < MORE_MEMORY_MB


def outcome(store: Store, content: bytes, folder: Path, seed: int) -> str:
    """Import the file of a seed; the store is empty before and after. Returns taken or refused."""
    path = folder / "mutated"
    path.write_bytes(content)
    try:
        imported = import_file(store, path)
    except UsageError as error:
        sentence = str(error)
        assert "\n" not in sentence and len(sentence.encode()) < 600, (seed, sentence)
        assert num_rows(store) == 0, (seed, sentence)
        return "refused"
    except Exception as error:
        raise AssertionError(f"seed {seed}: {type(error).__name__}: {error}") from error
    imported.sentence.encode()
    export(store, None, Format.JSONL, folder / "again.jsonl")
    os.unlink(folder / "again.jsonl")
    store.write(_delete_all)
    return "taken"


def _delete_all(cursor: object) -> None:
    for table in reversed(EXPORTED_TABLES):
        cursor.execute(f"DELETE FROM {table.name}")  # type: ignore[attr-defined]


def num_rows(store: Store) -> int:
    counts = [f"(SELECT count(*) FROM {table.name})" for table in EXPORTED_TABLES]
    return int(store.read(frame_of, f"SELECT {' + '.join(counts)} AS n")["n"][0])


def peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
