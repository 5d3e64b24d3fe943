"""One request answered and stored: text for people or JSON for programs."""

from __future__ import annotations

import asyncio
import json
import sys
import uuid
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from rich.console import Console
from rich.text import Text

from specviz import palette
from specviz.analysis.metrics import Metrics, summarise
from specviz.analysis.step_time.explanation import explain_step
from specviz.analysis.step_time.step_time import StepTime, mean_step, step_totals
from specviz.analysis.text import digits
from specviz.config import Prompt, Run, RunConfig, RunStatus
from specviz.engines.embedded.options import repeats_plain
from specviz.errors import SpecvizError, UsageError
from specviz.live.record import Outcome, answer, store_failure
from specviz.methods import Method
from specviz.opening import open_arm
from specviz.paths import LOGS
from specviz.remote.ingest import RemoteStore
from specviz.remote.token import secret_for
from specviz.servers.launch.pool import ServerPool
from specviz.store import Location, RunSink, StoreBusy, default_location, open_store
from specviz.terminal import escaped
from specviz.trace import Channel, EmittedToken, Event, Origin, Step, Trace, Verdict, fold

STYLES = {
    Origin.ACCEPTED: f"underline {palette.ACCEPTED}",
    Origin.RECOVERED: f"bold {palette.RECOVERED}",
    Origin.BONUS: f"bold {palette.BONUS}",
    Origin.TARGET: "",
    Origin.UNKNOWN: "dim",
}
WORDS = {
    Channel.ANSWER: "answer",
    Channel.REASONING: "thinking",
    Channel.TOOL_CALL: "tool call",
    Channel.REFUSAL: "refusal",
}
"""Headings over parts of the output, where it is not all the answer."""

REJECTED = f"strike {palette.REJECTED}"


def run_once(
    config: RunConfig,
    prompt: Prompt,
    db: Location | None,
    *,
    to: str | None = None,
    as_json: bool,
) -> int:
    """Answer `prompt` and print the result; it is stored in `db` or by the app at the URL `to`.

    Returns the exit code.
    """
    notes = Console(stderr=True, highlight=False)

    def note(text: str) -> None:
        notes.print(Text(escaped(text)), style="dim", soft_wrap=True)

    sink, close = _open_sink(db, to, note)
    with closing(close):
        run, events, outcome = asyncio.run(_answer(config, prompt, sink, note))
    if not events or outcome.status is RunStatus.FAILED:
        raise SpecvizError(outcome.error or "The request failed without a reason.")
    trace = fold(events)
    if as_json:
        print(escaped(json.dumps(document(run, trace), ensure_ascii=False, indent=2)))
    else:
        _print(run, trace)
    if outcome.error:
        print(escaped(outcome.error), file=sys.stderr)
    return 0 if outcome.status is RunStatus.FINISHED and not outcome.error else 1


async def _answer(
    config: RunConfig,
    prompt: Prompt,
    sink: RunSink,
    note: Callable[[str], None],
) -> tuple[Run, list[Event], Outcome]:
    events: list[Event] = []
    run_id = uuid.uuid4().hex
    # closed in here: asyncio waits for the thread in which a server starts
    with closing(ServerPool(LOGS)) as pool:
        try:
            engine, config = await open_arm(config, pool, note)
        except SpecvizError as error:
            sentence = store_failure(_run(run_id, config), prompt, sink, str(error))
            raise type(error)(sentence) from error
        run = _run(run_id, config)
        try:
            outcome = await answer(engine, run, prompt, sink, events.append)
        finally:
            await engine.close()
    return run, events, outcome


def _run(run_id: str, config: RunConfig) -> Run:
    return Run(run_id, run_id, config, RunStatus.RUNNING, datetime.now(UTC))


class _Nothing:
    """A sink in another process has nothing to close here."""

    def close(self) -> None:
        return None


def _open_sink(
    db: Location | None, to: str | None, note: Callable[[str], None]
) -> tuple[RunSink, Any]:
    """The store itself, or an app: the one that owns it, or the one at `to`."""
    if to is not None:
        if db is not None:
            raise UsageError("A run is stored in one place: leave out --to or --db.")
        return RemoteStore(to, secret_for(to)), _Nothing()
    try:
        store = open_store(db or default_location())
    except StoreBusy as busy:
        if busy.url is None:
            raise
        note(f"The app at {busy.url} owns the database: the run is stored through it.")
        return RemoteStore(busy.url, busy.secret), _Nothing()
    return store, store


def document(run: Run, trace: Trace) -> dict[str, Any]:
    """The JSON of `specviz run`; its keys are a public format."""
    config, found = run.config, _mean_step(trace)
    return {
        "run_id": run.run_id,
        "engine": config.engine.value,
        "method": config.method.value if config.method else None,
        "k": config.k,
        "fidelity": trace.fidelity.value,
        "text": trace.text,
        "side_text": trace.side_text,
        "prompt_token_ids": list(trace.prompt_token_ids),
        "token_ids": list(trace.token_ids),
        "finish_reason": trace.finish_reason,
        "extra_bytes": asdict(trace.extra_bytes) if trace.extra_bytes else None,
        "lossless": config.is_lossless,
        "repeats_plain": repeats_plain(config),
        "steps": [_step(step) for step in trace.steps],
        "metrics": summarise(trace).to_dict(),
        "step_time": None if found is None else asdict(found),
    }


def _mean_step(trace: Trace) -> StepTime | None:
    totals = step_totals(trace)
    return mean_step([totals]) if totals else None


def _step(step: Step) -> dict[str, Any]:
    return {
        "index": step.index,
        "elapsed_ms": step.elapsed_ms,
        "draft_ms": step.draft_ms,
        "verify_ms": step.verify_ms,
        "wall_ms": step.wall_ms,
        "spans": [asdict(span) for span in step.spans],
        "skipped_layers": step.skipped_layers,
        "matched_tokens": step.matched_tokens,
        "allowed": asdict(step.allowed) if step.allowed else None,
        "drafted": [asdict(token) for token in step.drafted],
        "emitted": [asdict(token) for token in step.emitted],
    }


def _print(run: Run, trace: Trace) -> None:
    console = Console(highlight=False, soft_wrap=True)
    console.print(_answer_text(trace, rejected=console.color_system is not None))
    metrics = summarise(trace)
    figures = {
        "fidelity": trace.fidelity.value,
        "accepted": digits(metrics.draft_acceptance_rate),
        "tok/step": digits(metrics.tokens_per_step),
        "tok/s": digits(metrics.output_throughput),
        "TTFT ms": digits(metrics.ttft_ms),
        **_first_of_answer(metrics),
        "run": run.run_id,
    }
    shown = " · ".join(f"{name} {value or '–'}" for name, value in figures.items())
    console.print(Text(f"\n{escaped(run.config.title)} · {shown}"), style="dim")
    if found := _mean_step(trace):
        drafts = run.config.method is not Method.BASELINE
        console.print(Text(explain_step(found, drafts=drafts)), style="dim")


def _first_of_answer(metrics: Metrics) -> dict[str, str | None]:
    """The second figure, where the answer's text does not begin with the output."""
    same = metrics.ttfo_ms == metrics.ttft_ms
    return {} if same else {"first answer token ms": digits(metrics.ttfo_ms)}


def _answer_text(trace: Trace, *, rejected: bool) -> Text:
    """The answer, with its rejected drafts struck through if they are wanted; control characters
    made visible. In a file or a pipe nothing is struck through, so that they would be read as part
    of the answer.
    """
    text = Text()
    shown = Channel.ANSWER
    for step in trace.steps:
        accepted = [token for token in step.emitted if token.origin is Origin.ACCEPTED]
        rest = step.emitted[len(accepted) :]
        for token in accepted:
            shown = _append(text, token, shown)
        for draft in step.drafted:
            if rejected and draft.verdict is Verdict.REJECTED and draft.text:
                text.append(_visible(draft.text).replace("\n", "⏎"), REJECTED)
        for token in rest:
            shown = _append(text, token, shown)
    return text


def _append(text: Text, token: EmittedToken, shown: Channel) -> Channel:
    """Add a token, under a heading where another kind of output than `shown` begins."""
    channel = token.channel if token.text and token.channel is not Channel.MARKUP else shown
    if channel is not shown:
        text.append(
            f"{'' if text.plain[-1:] in ('', chr(10)) else chr(10)}[{WORDS[channel]}]\n", "dim"
        )
    aside = "" if token.channel is Channel.ANSWER else f"italic {palette.ASIDE} "
    text.append(_visible(token.text), f"{aside}{STYLES[token.origin]}")
    return channel


def _visible(text: str) -> str:
    """Model text is data: escape sequences must not reach the terminal."""
    return "".join(
        character if character in "\n\t" or character.isprintable() else "\ufffd"
        for character in text
    )
