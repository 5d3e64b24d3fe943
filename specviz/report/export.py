"""Every format of an export; HTML is made here, the others by the store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from specviz.bench.results import ResultsOf, work_out
from specviz.errors import UsageError
from specviz.report.content import gather
from specviz.report.page import page
from specviz.store import Store
from specviz.store.exchange import Exported, Format
from specviz.store.exchange import export as export_tables
from specviz.store.exchange.exporting import written


def export(
    store: Store,
    ids: Sequence[str] | None,
    kind: Format,
    path: Path,
    results_of: ResultsOf = work_out,
) -> Exported:
    """Write runs, benchmarks and imported results; `ids` None is everything.

    `results_of` gives an HTML file the results of a benchmark: the app has those that were looked
    at. Raises UsageError for ids and paths that cannot be used, StoreError if it cannot be written.
    """
    if kind is not Format.HTML:
        return export_tables(store, ids, kind, path)
    if ids is None:
        raise UsageError("An HTML file is for some runs: name them, or back up as parquet.")
    content = gather(store, ids, results_of)
    with written(path) as fresh:
        fresh.write_text(page(content), encoding="utf-8")
    rows = {"runs": len(content.runs), "benchmarks": len(content.benchmarks),
            "elsewhere": len(content.results)}  # fmt: skip
    shown = {noun: count for noun, count in rows.items() if count}
    return Exported(path, kind, path.stat().st_size, shown, content.ids, content.left_out)
