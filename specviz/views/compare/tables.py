"""What the Compare page shows as tables, as text. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from specviz.analysis.benchmark.results import load_text
from specviz.analysis.compare.config_diff import Field
from specviz.analysis.compare.paired import Change
from specviz.analysis.text import digits, terminal_text
from specviz.store.history.comparison import ComparedRun, ComparedToolResult
from specviz.views.compare.figures.changes import percent_text
from specviz.views.compare.figures.positions import PositionLine
from specviz.views.compare.opened import Arm, RunArm
from specviz.views.shared.text import escaped

HERE = "here"
NOT_COMPARABLE = "not comparable"


def change_table(
    found: Mapping[str, Sequence[Change]], against: Mapping[str, Sequence[str]]
) -> pd.DataFrame:
    """One line per figure and run; the times of runs with something `against` have no verdict.

    A run's name is in the first of its lines only.
    """
    return pd.DataFrame(
        [
            {"run": "" if place else name}
            | _change_line(change, is_barred=change.figure.is_time and bool(against[name]))
            for name, own in found.items()
            for place, change in enumerate(own)
        ]
    )


def _change_line(change: Change, *, is_barred: bool) -> dict[str, object]:
    figure = change.figure
    interval = None
    if change.low is not None and change.high is not None:
        interval = f"{percent_text(change.low)} to {percent_text(change.high)}"
    shared = change.prompts + change.left_out
    return {
        "figure": f"{figure.name}, {figure.unit}" if figure.unit else figure.name,
        "verdict": NOT_COMPARABLE if is_barred else change.verdict,
        "change": None if change.ratio is None else percent_text(change.ratio),
        "95 % interval": interval,
        "reference → this run": f"{digits(change.reference)} → {digits(change.other)}",
        "difference": signed(change.difference),
        "prompts": f"{change.prompts:,} of {shared:,}" if change.left_out else f"{shared:,}",
    }


def signed(value: float) -> str:
    """`+4.10`, `−0.120`, `0`."""
    if value == 0:
        return "0"
    return f"{'+' if value > 0 else '−'}{digits(abs(value))}"


def position_table(lines: Sequence[PositionLine]) -> pd.DataFrame:
    """One line per run, one column per position, with intervals where there are any."""
    deepest = max(len(line.rates) for line in lines)
    return pd.DataFrame(
        [
            {
                "run": line.name,
                **{f"position {place + 1}": _rate_text(line, place) for place in range(deepest)},
            }
            for line in lines
        ]
    )


def _rate_text(line: PositionLine, place: int) -> str | None:
    if place >= len(line.rates):
        return None
    rate = line.rates[place]
    if rate.low is None or rate.high is None:
        return f"{rate.rate:.2f}"
    return f"{rate.rate:.2f} ({rate.low:.2f} to {rate.high:.2f})"


def own_table(
    runs: Sequence[RunArm], elsewhere: Sequence[tuple[Arm, ComparedToolResult]]
) -> pd.DataFrame:
    """Every run's and every foreign result's own figures, over its own requests."""
    lines = [_own_line(arm.name, arm.finished) for arm in runs]
    lines += [_elsewhere_line(arm.name, row) for arm, row in elsewhere]
    return pd.DataFrame(lines)


def _own_line(name: str, requests: pd.DataFrame) -> dict[str, object]:
    drafted, accepted = requests["num_draft_tokens"].sum(), requests["num_accepted_tokens"].sum()
    drafts = requests["num_drafts"].sum()
    return {
        "run": name,
        "source": HERE,
        "requests": f"{len(requests):,}",
        "TTFT P50 ms": _quantile(requests["ttft_ms"], 0.5),
        "TPOT P50 ms": _quantile(requests["tpot_ms"], 0.5),
        "TPOT P95 ms": _quantile(requests["tpot_ms"], 0.95),
        "E2E P50 ms": _quantile(requests["e2el_ms"], 0.5),
        "acceptance rate": digits(accepted / drafted) if drafted else None,
        "tok/drafted step": digits(1 + accepted / drafts) if drafts else None,
    }


def _elsewhere_line(name: str, row: ComparedToolResult) -> dict[str, object]:
    return {
        "run": name,
        "source": f"elsewhere: {terminal_text(row.tool)}",
        "requests": None if row.num_requests is None else f"{row.num_requests:,}",
        "TTFT P50 ms": digits(row.ttft_p50_ms),
        "TPOT P50 ms": digits(row.tpot_p50_ms),
        "TPOT P95 ms": digits(row.tpot_p95_ms),
        "E2E P50 ms": digits(row.e2el_p50_ms),
        "acceptance rate": digits(row.draft_acceptance_rate),
        "tok/drafted step": digits(row.mean_acceptance_length),
    }


def _quantile(values: pd.Series, share: float) -> str | None:
    known = values.dropna()
    return digits(float(known.quantile(share))) if len(known) else None


def field_table(fields: Sequence[Field], names: Sequence[str]) -> pd.DataFrame:
    """One line per field, one column per run."""
    return pd.DataFrame(
        [
            {
                "field": field.name,
                **{
                    name: None if value is None else terminal_text(value)
                    for name, value in zip(names, field.values, strict=True)
                },
            }
            for field in fields
        ]
    )


def identity(arms: Sequence[Arm]) -> list[Field]:
    """Identity: always different."""
    begun = [
        arm.row.run.started_at if isinstance(arm.row, ComparedRun) else arm.row.started_at
        for arm in arms
    ]
    return [
        Field("id", tuple(arm.key for arm in arms)),
        Field("started, UTC", tuple(f"{at:%d %b %Y, %H:%M:%S}" if at else None for at in begun)),
    ]


def more_facts(row: ComparedRun) -> dict[str, str | None]:
    """What the store adds to a run's configuration."""
    caching = row.prefix_caching
    return {
        "benchmark": row.benchmark,
        "prefix caching": None if caching is None else "on" if caching else "off",
        "status": row.run.status.value,
    }


def facts_of_elsewhere(row: ComparedToolResult) -> dict[str, str | None]:
    """What a foreign file contains of its configuration; the rest is unknown."""
    has_load = row.concurrency is not None or row.request_rate is not None
    known = {
        "method": row.method,
        "K": None if row.k is None else str(row.k),
        "model": row.model,
        "server": row.server,
        "load": load_text(row.concurrency, row.request_rate) if has_load else None,
        "prompts": row.dataset,
        "tool": row.tool,
    }
    return {name: value for name, value in known.items() if value is not None}


def as_label(name: str) -> str:
    """A name in a widget's label, which is Markdown."""
    return escaped(name)
