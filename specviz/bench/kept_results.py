"""Results of benchmarks, worked out once as long as no request is added."""

from __future__ import annotations

import threading
from collections import OrderedDict
from concurrent.futures import Future

from specviz.analysis.benchmark.results import Results
from specviz.bench.results import ResultsOf, work_out
from specviz.store import Store
from specviz.store.benchmarks.rows import BenchmarkRow

KEPT = 4
"""Benchmarks: as many as one looks at in turn. The results of a large one take seconds."""

_Key = tuple[str, int, str]


class KeptResults:
    """The results of the last benchmarks that were asked for.

    Methods may be called from any thread; what another is working out already is waited for.
    """

    def __init__(self, work_out: ResultsOf = work_out) -> None:
        self._work_out = work_out
        self._lock = threading.Lock()
        self._kept: OrderedDict[_Key, Future[Results]] = OrderedDict()

    def has(self, row: BenchmarkRow) -> bool:
        """Whether `of` answers at once."""
        with self._lock:
            kept = self._kept.get(_key(row))
        return kept is not None and kept.done()

    def of(self, store: Store, row: BenchmarkRow) -> Results:
        """Raises StoreError."""
        key = _key(row)
        with self._lock:
            is_new = key not in self._kept
            kept = self._kept.setdefault(key, Future())
            self._kept.move_to_end(key)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        if is_new:
            try:
                kept.set_result(self._work_out(store, row))
            except BaseException as error:
                with self._lock:
                    self._kept.pop(key, None)
                kept.set_exception(error)
        return kept.result()


def _key(row: BenchmarkRow) -> _Key:
    return row.benchmark_id, row.finished, row.status.value
