"""The benchmarks of the sample that ships: each recording of it gives them new ids."""

from __future__ import annotations

from contextlib import closing
from functools import cache

from specviz.store.benchmarks.reads import read_benchmarks
from specviz.store.shipped import SAMPLE, Shipped


@cache
def by_load() -> str:
    """The id of the one with four ways to decode, at three loads and two temperatures."""
    with closing(Shipped(SAMPLE)) as shipped:
        store = shipped.store()
        assert store is not None, shipped.problem
        (found,) = [one for one in store.read(read_benchmarks) if "by load" in one.name]
    return found.benchmark_id
