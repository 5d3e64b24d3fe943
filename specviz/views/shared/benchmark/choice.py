"""Which stored benchmark a page is about: the most informative one, unless another is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from specviz.analysis.benchmark.informative import Contents, Need, most_informative, why_text
from specviz.store import Store
from specviz.store.benchmarks.contents import read_contents
from specviz.store.benchmarks.reads import read_benchmarks
from specviz.store.benchmarks.rows import BenchmarkRow
from specviz.views.shared.text import escaped
from specviz.views.shared.url_controls import begin_with, kept, write

OFFERED = 50


@dataclass(frozen=True, slots=True)
class Offered:
    """The newest benchmarks with finished requests, newest first. `first` is opened unasked, and
    `why` says why that one; None where there is no choice."""

    rows: tuple[BenchmarkRow, ...]
    first: BenchmarkRow | None = None
    why: str | None = None

    @property
    def by_id(self) -> dict[str, BenchmarkRow]:
        return {row.benchmark_id: row for row in self.rows}


def offered(store: Store, need: Need) -> Offered:
    """What a page can be about that compares what `need` names. Raises StoreError."""
    rows = tuple(row for row in store.read(read_benchmarks, limit=OFFERED) if row.finished)
    contents = _contents(store, tuple((row.benchmark_id, row.finished) for row in rows))
    if not contents:
        return Offered(rows)
    best = most_informative(contents, need)
    first = next(row for row in rows if row.benchmark_id == best.benchmark_id)
    return Offered(rows, first, why_text(best, need, len(rows)))


def choose_benchmark(found: Offered, key: str) -> BenchmarkRow:
    """The control, whose choice is always in the address. `found` has at least one."""
    assert found.first is not None
    by_id, first = found.by_id, found.first.benchmark_id
    linked = linked_id(str(st.query_params.get(key, "")), [*by_id])
    if key not in st.session_state and linked is not None:
        st.session_state[key] = linked
    begin_with(key, [*by_id], first)
    chosen: str = st.selectbox(
        "Benchmark", [*by_id], format_func=lambda one: title_of(by_id[one]), **kept(key)
    )
    write(key, chosen)
    if found.why and chosen == first:
        st.caption(escaped(found.why))
    return by_id[chosen]


def title_of(row: BenchmarkRow) -> str:
    """Its name and when it began."""
    return f"{row.name} · {row.started_at:%d %b %H:%M}"


def linked_id(linked: str, ids: Sequence[str]) -> str | None:
    """The id that an address names; addresses of earlier versions have a label that ends in the
    first six digits of one."""
    if linked in ids:
        return linked
    start = linked.rpartition(" · ")[2] if " · " in linked else ""
    return next((one for one in ids if len(start) == 6 and one.startswith(start)), None)


@st.cache_data(max_entries=8, show_spinner=False)
def _contents(_store: Store, marks: tuple[tuple[str, int], ...]) -> list[Contents]:
    """The cache key: read again only when a benchmark is added or continues."""
    found = _store.read(read_contents, [benchmark_id for benchmark_id, _ in marks])
    return [*found.values()]
