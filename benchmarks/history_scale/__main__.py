"""Ten million token decisions in 20,000 requests: file size, ingest, queries, pages in Chromium.

The history is synthetic (`made_history`), in a temporary database or the one that `--db` names,
which is kept and reused. The queries of all pages take turns, so that background load hits them
alike; nothing is cached but DuckDB's buffers.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

from duckdb import DuckDBPyConnection
from playwright.sync_api import Page

from benchmarks.history_scale.made_history import batches, put
from benchmarks.results_file import add_save_option, save
from benchmarks.started.app import started_app
from benchmarks.started.chromium import chromium, wait_until_visible
from specviz.machine import hardware_summary
from specviz.store import Store, open_store
from specviz.store.benchmarks.reads import read_benchmarks
from specviz.store.history.comparison import read_candidates, read_compared, read_compared_requests
from specviz.store.history.filter import HistoryFilter, read_choices
from specviz.store.history.history import Order, read_history
from specviz.store.history.line import Item, Kind
from specviz.store.history.prompts import read_prompts
from specviz.store.history.size import read_share
from specviz.store.runs.runs import read_request, read_run, read_titles, read_trace
from specviz.store.saved import QUERIES, read_saved
from specviz.store.sql.questions import question_groups
from specviz.store.sql.sandbox import run_sql
from specviz.store.sql.schema import read_schema

DECISIONS = 10_000_000
TURNS, REQUESTS, LOADS = 20, 100, 10


@dataclass(frozen=True, slots=True)
class Ask:
    """One query that a page sends to the store."""

    page: str
    name: str
    call: Callable[[Store], object]


@dataclass(frozen=True, slots=True)
class Load:
    """One page, and a pattern of the text that appears once it has loaded."""

    name: str
    path: str
    ready: str


def asks(runs: list[str]) -> list[Ask]:
    """The queries of the pages whose cost grows with the number of stored rows."""
    run, pair = runs[0], runs[:2]
    filters = {
        "newest": HistoryFilter(),
        "by method, category, tag": HistoryFilter(
            methods=("eagle3",), categories=("code",), tags=("tag-3",)
        ),
        "by text of a prompt": HistoryFilter(text="tok"),
    }
    listed = [Ask("Runs", name, reading(read_history, wanted)) for name, wanted in filters.items()]
    asked = [
        Ask("Query", question.question_id, partial(run_sql, sql=question.sql))
        for group in question_groups()
        for question in group.questions
    ]
    items = [Item(Kind.RUN, run)]
    return [
        *listed,
        Ask("Runs", "together", reading(partial(read_history, together=True))),
        Ask("Runs", "by prompt", reading(read_prompts)),
        Ask("Runs", "by acceptance", reading(partial(read_history, order=Order.ACCEPTANCE))),
        Ask("Runs", "choices", reading(read_choices)),
        Ask("Runs", "storage of one", reading(read_share, items)),
        Ask("Run", "run", reading(read_run, run)),
        Ask("Run", "its requests", reading(read_titles, run)),
        Ask("Run", "a request", reading(read_request, run, 3)),
        Ask("Compare", "what there is", reading(read_candidates, 200)),
        Ask("Compare", "two runs", reading(read_compared, pair)),
        Ask("Compare", "their requests", reading(read_compared_requests, pair)),
        Ask("Query", "tables and columns", reading(read_schema)),
        Ask("Query", "saved queries", reading(read_saved, QUERIES)),
        Ask("Benchmark, K, Technique, Cost", "benchmarks", reading(read_benchmarks)),
        *asked,
    ]


def reading(read: Callable[..., object], *arguments: object) -> Callable[[Store], object]:
    """The query that a page sends with `store.read`."""
    return lambda store: store.read(read, *arguments)


def loads(runs: list[str]) -> list[Load]:
    """Pages opened by URL: the browser loads the whole app first."""
    return [
        Load("Live", "", "^Run$"),
        Load("Runs", "runs", "^[0-9,]+ lines · "),
        Load("a run", f"runs?run={runs[0]}", "^Figures$"),
        Load("Compare, two runs", f"compare?arms={runs[0]},{runs[1]}", "^Aligned by|^Marked"),
        Load("Query, a question", "query?question=category-position", "^Most: "),
        Load("Benchmark", "benchmark", "^New benchmark$"),
        Load("K", "k", "^K to use$"),
        Load("Technique", "technique", "^How sure: "),
        Load("Cost", "cost", "^saving per request$"),
    ]


def clicks() -> list[Load]:
    """Pages opened from the navigation of the running app; `path` is the link."""
    return [
        Load("Runs", "Runs", "^[0-9,]+ lines · "),
        Load("Query, a question", "Which category rejects most", "^Most: "),
        Load("Compare", "Compare", "^Runs, arms of benchmarks"),
        Load("Query", "Query", "^Ask the stored runs$"),
        Load("Benchmark", "Benchmark", "^New benchmark$"),
        Load("K", "K", "^K to use$"),
        Load("Technique", "Technique", "^How sure: "),
        Load("Cost", "Cost", "^saving per request$"),
        Load("Live", "Live", "^Run$"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.history_scale", description=__doc__)
    parser.add_argument("--db", type=Path, help="created if missing, and kept")
    parser.add_argument("--decisions", type=int, default=DECISIONS)
    parser.add_argument("--five-best", action="store_true", help="with the target's five best")
    add_save_option(parser, "history_scale")
    asked = parser.parse_args()
    print(hardware_summary())
    with tempfile.TemporaryDirectory() as folder:
        path = asked.db or Path(folder) / "runs.duckdb"
        figures: dict[str, object] = {"decisions": asked.decisions}
        if not path.exists():
            figures |= filled(path, asked.decisions, five_best=asked.five_best)
        figures |= asked_of(path)
        figures["pages_ms"] = seen(path, Path(folder))
    if asked.save:
        save(asked.save, figures)


def filled(path: Path, decisions: int, *, five_best: bool) -> dict[str, object]:
    """Generate the history; million rows per second over all tables, per batch, and the size."""
    rates = []
    with open_store(path) as store:
        for batch in batches(decisions, five_best=five_best):
            began_s = perf_counter()
            put(store, batch)
            rows = sum(
                table.num_rows
                for table in (batch.runs, batch.requests, batch.steps, batch.decisions)
            )
            rates.append(rows / (perf_counter() - began_s) / 1e6)
    size = path.stat().st_size / decisions
    print(
        f"ingest, Arrow batches: median {median(rates):.2f} M rows/s "
        f"({min(rates):.2f} to {max(rates):.2f}); file {size:.1f} bytes a decision"
    )
    return {"ingest_m_rows_per_s": rates, "bytes_a_decision": size, "five_best": five_best}


def asked_of(path: Path) -> dict[str, object]:
    """ms of each query of the pages, and of opening single requests."""
    rng = random.Random(1)
    with open_store(path) as store:
        ids = store.read(
            ids_of, f"SELECT request_id FROM requests ORDER BY hash(request_id) LIMIT {REQUESTS}"
        )
        everything = asks(runs_of(store))
        took: dict[str, list[float]] = {f"{ask.page}: {ask.name}": [] for ask in everything}
        opened: list[float] = []
        for turn in range(TURNS + 1):
            for ask in rng.sample(everything, len(everything)):
                took[f"{ask.page}: {ask.name}"].append(ms_of(partial(ask.call, store)))
            opened += [ms_of(partial(store.read, read_trace, one)) for one in ids[turn::TURNS]]
    took = {name: times[1:] for name, times in took.items()}  # the first one reads the disk
    for name, times in sorted(took.items(), key=lambda one: -p95(one[1])):
        print(f"{name:55} median {median(times):6.1f} ms   P95 {p95(times):6.1f} ms")
    print(f"opening a request: median {median(opened):.1f} ms, P95 {p95(opened):.1f} ms")
    return {"asked_ms": took, "opened_ms": opened}


def seen(path: Path, folder: Path) -> dict[str, dict[str, list[float]]]:
    """ms until a page's content is visible in Chromium: by URL, and by a click."""
    with open_store(path) as store:
        runs = runs_of(store)
    with started_app(path, folder / "app.log") as url, chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        opened = timed(page, loads(runs), lambda load: page.goto(
            f"{url}/{load.path}", wait_until="commit"))  # fmt: skip
        clicked = timed(page, clicks(), lambda load: page.get_by_role(
            "link", name=re.compile(rf"^{load.path}|: {load.path}")).first.click())  # fmt: skip
    for how, took in (("by its address", opened), ("by a click", clicked)):
        for name, times in took.items():
            print(f"{name:20} {how:15} {median(times):5.0f} ms, P95 {p95(times):5.0f} ms")
    return {"address": opened, "click": clicked}


def timed(page: Page, wanted: list[Load], go: Callable[[Load], object]) -> dict[str, list[float]]:
    took: dict[str, list[float]] = {load.name: [] for load in wanted}
    for turn in range(LOADS + 1):
        for load in wanted:
            ms = ms_of(partial(arrive, page, load, go))
            if turn > 0:  # the first time fills caches
                took[load.name].append(ms)
            page.wait_for_timeout(500)  # let it finish: the rest belongs to this page
    return took


def arrive(page: Page, load: Load, go: Callable[[Load], object]) -> None:
    go(load)
    wait_until_visible(page.get_by_text(re.compile(load.ready)))


def runs_of(store: Store) -> list[str]:
    """Two runs that can be compared: of the same method, the same prompts."""
    return store.read(
        ids_of, "SELECT run_id FROM runs WHERE method = 'eagle3' ORDER BY started_at LIMIT 2"
    )


def ids_of(cursor: DuckDBPyConnection, sql: str) -> list[str]:
    """The first column of a query."""
    return [str(row[0]) for row in cursor.execute(sql).fetchall()]


def ms_of(call: Callable[[], object]) -> float:
    began_s = perf_counter()
    call()
    return (perf_counter() - began_s) * 1000


def p95(times: list[float]) -> float:
    return quantiles(times, n=20, method="inclusive")[-1]


if __name__ == "__main__":
    main()
