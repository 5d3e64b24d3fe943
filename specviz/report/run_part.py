"""One run in the HTML file: figures per request, configuration, environment, the texts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from specviz.analysis.step_time.arms import ArmTime, explained, plain_ms
from specviz.analysis.text import digits
from specviz.report.content import Json, ShownRun
from specviz.report.markup import block, pairs, table, text
from specviz.report.step_time_part import step_time_part
from specviz.store import RequestRow

HEAD = (
    *("request", "status", "output tokens", "TTFT ms", "TPOT ms", "E2E ms", "tok/s", "tok/step"),
    *("acceptance", "accept. length", "fidelity"),
)
CONFIGURATION = (
    *("engine", "method", "k", "model", "draft", "temperature", "top_p", "top_k", "max_tokens"),
    *("seed", "concurrency", "request_rate", "prompt_set", "traced"),
)
ENVIRONMENT = (
    *("hardware", "server_url", "server_version", "git_revision", "specviz_version"),
    *("started_at", "finished_at", "imported_at", "run_id", "group_id"),
)
ANSWERS_OPEN = 3


def run_part(shown: ShownRun, runs: Sequence[ShownRun]) -> str:
    """The section of a run; `runs` are all of the file, plain decoding among them."""
    row = shown.row
    title = row["name"] or shown.run.config.title
    parts = [f"<section><h2>{text(title)}</h2>"]
    parts.append(f'<p class="muted">run {text(row["run_id"])} · {text(row["status"])}</p>')
    parts += [f'<p class="error">{text(row["error"])}</p>'] if row["error"] else []
    if row["note"] or row["tags"]:
        tags = ", ".join(row["tags"] or ())
        parts.append(pairs([("note", row["note"]), ("tags", tags)]))
    requests = list(enumerate(shown.requests, start=1))
    parts.append(table(HEAD, (_figures(place, request) for place, request in requests)))
    parts.append(_step_time(shown, runs))
    parts.append("<h3>Configuration</h3>" + pairs(_named(row, CONFIGURATION) + _options(row)))
    parts.append("<h3>Environment</h3>" + pairs(_named(row, ENVIRONMENT)))
    parts += [_texts(place, request) for place, request in requests]
    return "".join(parts) + "</section>"


def _step_time(shown: ShownRun, runs: Sequence[ShownRun]) -> str:
    together = [_arm_time(one) for one in runs if one.run.group_id == shown.run.group_id]
    arm = _arm_time(shown)
    return step_time_part(arm.found, plain_ms(arm, together), explained(arm, together))


def _arm_time(shown: ShownRun) -> ArmTime:
    metrics = shown.requests[0].metrics if shown.num_requests == 1 else None
    return ArmTime(
        shown.run.config.title,
        shown.run.config,
        shown.step_time,
        metrics.tpot_ms if metrics else None,
        metrics.mean_acceptance_length if metrics else None,
    )


def _figures(place: int, request: RequestRow) -> tuple[Any, ...]:
    metrics = request.metrics
    if metrics is None:
        return (place, request.status.value, *[None] * 8, request.fidelity)
    times = (metrics.ttft_ms, metrics.tpot_ms, metrics.e2el_ms)
    rates = (metrics.output_throughput, metrics.tokens_per_step, metrics.draft_acceptance_rate)
    figures = [digits(figure) for figure in (*times, *rates, metrics.mean_acceptance_length)]
    return (place, request.status.value, metrics.output_tokens, *figures, request.fidelity)


def _texts(place: int, request: RequestRow) -> str:
    is_open = " open" if place <= ANSWERS_OPEN else ""
    error = f'<p class="error">{text(request.error)}</p>' if request.error else ""
    answer = block(request.output_text) if request.output_text else "<p>No answer arrived.</p>"
    return (
        f"<details{is_open}><summary>request {place}: prompt and answer</summary>{error}"
        f"<h4>Prompt</h4>{block(request.prompt.text)}<h4>Answer</h4>{answer}</details>"
    )


def _named(row: Json, columns: tuple[str, ...]) -> list[tuple[str, Any]]:
    return [(column.replace("_", " "), _value(row[column])) for column in columns]


def _value(value: Any) -> Any:
    if isinstance(value, datetime):
        return f"{value.isoformat(' ', 'seconds')} UTC"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else value


def _options(row: Json) -> list[tuple[str, Any]]:
    return list(json.loads(row["options"]).items())
