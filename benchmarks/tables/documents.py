"""The blocks of README.md and docs/ that hold tables, filled from the result files."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from benchmarks.results_file import load
from benchmarks.tables.markdown import Figures, not_measured
from benchmarks.tables.measurements import (
    arrivals_coverage,
    categories,
    client_cost,
    coverage,
    embedded_methods,
    embedded_summary,
    first_minute,
    held_out,
    held_out_line,
    history_pages,
    history_size,
    history_store,
    k_errors,
    lossless,
    page_changes,
    plan,
    setup_time,
    side_by_side,
    tracing_cost,
)
from benchmarks.tables.policy import policy_cost, ramp, ramp_policy
from benchmarks.tables.reliability import (
    exchange_memory,
    hostile_sql,
    kills,
    mutated_input,
    soak,
    sql_snapshot,
)
from specviz.paths import PROJECT_ROOT

BLOCK = re.compile(
    r"(?P<begin><!-- figures: benchmarks/results/(?P<file>[\w-]+)\.json (?P<table>[\w-]+) -->\n)"
    r"(?P<body>.*?)(?P<end><!-- end of figures -->)",
    re.DOTALL,
)

TABLES: dict[str, dict[str, Callable[[Figures], str]]] = {
    "embedded_speed": {"summary": embedded_summary, "methods": embedded_methods},
    "embedded_speed_float32": {"methods": embedded_methods},
    "history_scale": {"store": history_store, "pages": history_pages},
    "history_scale_five_best": {"size": history_size},
    "coverage": {"coverage": coverage},
    "arrivals_coverage": {"units": arrivals_coverage},
    "k_prediction_error": {"held-out": held_out, "held-out-times": held_out_line},
    "k_prediction": {"errors": k_errors},
    "k_prediction_earlier": {"errors": k_errors},
    "k_prediction_vllm": {"errors": k_errors},
    "setup_time": {"seconds": setup_time},
    "sql_snapshot": {"questions": sql_snapshot},
    "hostile_sql": {"statements": hostile_sql},
    "hostile_input": {"mutated": mutated_input, "kills": kills},
    "exchange_memory": {"peaks": exchange_memory},
    "soak": {"held": soak},
    "first_token": {"first-minute": first_minute},
    "tracing_cost": {"ratios": tracing_cost},
    "policy_cost": {"zero": policy_cost},
    "routing": {"policy": ramp_policy, "ramp": ramp},
    "routing_by_temperature": {"policy": ramp_policy, "ramp": ramp},
    "speedup": {"categories": categories},
    "side_by_side": {"ratios": side_by_side},
    "client_cost": {"clients": client_cost},
    "page_changes": {"changes": page_changes},
    "lossless": {"answers": lossless},
    "plans": {name: plan(name) for name in ("two-minutes", "k-sweep", "temperature-sweep")},
}
"""By result file, the tables that it can fill."""


def documents() -> list[Path]:
    """The files that may hold blocks."""
    names = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")
    return [*(PROJECT_ROOT / name for name in names), *sorted(PROJECT_ROOT.glob("docs/*.md"))]


def write_tables() -> None:
    """Fill all blocks of all documents from the result files as they are now."""
    for path in documents():
        text = path.read_text(encoding="utf-8")
        if (filled := fill(text)) != text:
            path.write_text(filled, encoding="utf-8")
            print(f"updated {path.relative_to(PROJECT_ROOT)}")


def fill(text: str, read: Callable[[str], Figures | None] = load) -> str:
    """`text` with every block written again. Raises KeyError for an unknown file or table."""

    def block(found: re.Match[str]) -> str:
        table = TABLES[found["file"]][found["table"]]
        figures = read(found["file"])
        body = table(figures) if figures is not None else not_measured(found["file"])
        return f"{found['begin']}{body}\n{found['end']}"

    return BLOCK.sub(block, text)
