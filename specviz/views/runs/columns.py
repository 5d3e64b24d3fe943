"""The columns of the Runs list."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from specviz.analysis.text import counted, shortened, terminal_text
from specviz.store.history.line import HistoryRow, Kind
from specviz.views.shared.text import CATEGORY_NAMES

NAME, DELETED = "name", "deleted"  # always there; only where lines are deleted
COLUMNS = (
    *("arm", "kind", "runs", "tags", "started", "category", "requests", "acceptance", "tok/step"),
    *("tok/s", "status", "fidelity", "model", "server", "note", "imported"),
)
"""Those that a person can choose, in their usual order."""

USUAL_COLUMNS = ("arm", "started", "tags", "acceptance", "tok/step", "tok/s", "status")
"""As many as fit a window of 1280 pixels."""

LONGEST_CELL = 100


def table_of(rows: Sequence[HistoryRow], columns: Sequence[str] = COLUMNS) -> pd.DataFrame:
    """One line per row: its name and these columns, without those that are empty."""
    table = pd.DataFrame(
        {
            NAME: [_cell(row.name or row.prompt_start or row.title) for row in rows],
            DELETED: [row.deleted_at for row in rows],
            "arm": [_cell(_arm(row)) for row in rows],
            "kind": [row.item.kind.value for row in rows],
            "runs": [row.num_runs or None for row in rows],
            "tags": [[_cell(text) for text in row.tags] or None for row in rows],
            "started": [row.started_at for row in rows],
            "category": [
                ", ".join(CATEGORY_NAMES.get(name, _cell(name) or "") for name in row.categories)
                or None
                for row in rows
            ],
            "requests": [row.num_requests or None for row in rows],
            "acceptance": [row.draft_acceptance_rate for row in rows],
            "tok/step": [row.tokens_per_step for row in rows],
            "tok/s": [row.output_throughput for row in rows],
            "status": [row.status for row in rows],
            "fidelity": [", ".join(row.fidelities) or None for row in rows],
            "model": [_cell(", ".join(_last(name) for name in row.models)) for row in rows],
            "server": [_cell(", ".join(row.servers)) for row in rows],
            "note": [_cell(row.note) for row in rows],
            "imported": [row.imported_at for row in rows],
        }
    )
    return table[[NAME, DELETED, *columns]].dropna(axis="columns", how="all")


def _arm(row: HistoryRow) -> str:
    if row.item.kind in (Kind.BENCHMARK, Kind.PROMPT) and row.methods:
        return f"{counted(row.num_runs, 'run')}: {', '.join(row.methods)}"
    return row.title


def _last(path: str) -> str:
    """A model's own name, without the folders before it."""
    return path.rstrip("/").rpartition("/")[2] or path


def _cell(text: str | None) -> str | None:
    """One line of text, safe to show."""
    return shortened(terminal_text(text), LONGEST_CELL) if text else None
