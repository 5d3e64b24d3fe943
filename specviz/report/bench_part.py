"""One benchmark in the HTML file, and results that another tool measured."""

from __future__ import annotations

from specviz.analysis.benchmark.cell_figures import COLUMNS, cell_figures, load_of
from specviz.analysis.benchmark.results import CounterCheck, Speedup
from specviz.analysis.step_time.step_time import StepTime
from specviz.analysis.text import digits
from specviz.methods import Method
from specviz.report.content import Json
from specviz.report.markup import block, pairs, table, text
from specviz.report.phases_part import phases_part
from specviz.report.step_time_part import step_time_part

ELSEWHERE = (
    *("model", "server", "dataset", "method", "k", "concurrency", "request_rate"),
    *("num_requests", "num_failed", "duration_s", "prompt_tokens", "output_tokens"),
    *("request_throughput", "output_throughput", "draft_acceptance_rate", "mean_acceptance_length"),
)
METRICS = (("TTFT", "ttft"), ("TPOT", "tpot"), ("E2E", "e2el"))


def bench_part(found: Json) -> str:
    """The section of a benchmark, from the document that `specviz bench --json` prints."""
    requests, results = found["requests"], found["results"]
    parts = [f"<section><h2>{text(found['name'])}</h2>"]
    parts.append(
        f'<p class="muted">benchmark {text(found["benchmark_id"])} · {text(found["status"])} · '
        f"{requests['finished']:,} of {requests['planned']:,} requests · "
        f"{text(found['hardware'])}</p>"
    )
    parts += [f'<p class="error">{text(found["error"])}</p>'] if found["error"] else []
    if results is not None:
        parts += _results(results)
    parts.append(f"<details><summary>plan</summary>{block(found['plan'])}</details>")
    return "".join(parts) + "</section>"


def elsewhere_part(row: Json) -> str:
    """Results that another tool measured; says so first."""
    quantiles = ("mean", "p50", "p95", "p99")
    figures = [
        (f"{name} ms", *(digits(row[f"{metric}_{quantile}_ms"]) for quantile in quantiles))
        for name, metric in METRICS
    ]
    named = [(column.replace("_", " "), row[column]) for column in ELSEWHERE]
    return (
        f"<section><h2>{text(row['name'])}</h2>"
        f'<p class="muted">Measured elsewhere with {text(row["tool"])}, imported from '
        f"{text(row['file_name'])} (SHA-256 {text(row['file_sha256'])})</p>"
        f"{table(('', *quantiles), figures)}{pairs(named)}</section>"
    )


def _results(results: Json) -> list[str]:
    parts = []
    cells = results["cells"]
    for temperature, load in dict.fromkeys((cell["temperature"], load_of(cell)) for cell in cells):
        here = [c for c in cells if (c["temperature"], load_of(c)) == (temperature, load)]
        parts.append(f"<h3>{text(load)}, temperature {temperature:g}</h3>")
        parts.append(table(("arm", *COLUMNS), map(_row, here)))
        parts += map(_step_time, here)
    parts.append(phases_part(results))
    notes = [_check(CounterCheck(**check)) for check in results["checks"]]
    notes += [*results["notes"], *(note for cell in cells for note in cell["notes"])]
    lines = "".join(f"<li>{text(note)}</li>" for note in dict.fromkeys(notes))
    return [*parts, f"<ul>{lines}</ul>"]


def _step_time(cell: Json) -> str:
    """Where the time of the arm's steps goes; empty where nothing is known of it."""
    if not cell["step_time_text"]:
        return ""
    found = StepTime(**cell["step_time"]) if cell["step_time"] else None
    plain = None if cell["method"] == Method.BASELINE else cell["plain_tpot_ms"]
    sentence = f"{cell['arm']}: {cell['step_time_text']}"
    return step_time_part(found, plain, sentence)


def _row(cell: Json) -> tuple[str | None, ...]:
    speedup = cell["speedup"]
    return (cell["arm"], *cell_figures(cell), Speedup(**speedup).with_verdict if speedup else None)


def _check(check: CounterCheck) -> str:
    counted = f"{check.num_accepted_tokens:,} of {check.num_draft_tokens:,} draft tokens accepted"
    agrees = "as" if check.agrees else "not as"
    return f"{check.arm}: {counted}, {agrees} /metrics of the server counted"
