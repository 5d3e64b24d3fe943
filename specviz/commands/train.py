"""`specviz train`: a draft for a Llama, Qwen2 or Qwen3 folder, from prompts alone.

The JSON has what was trained on, the folders written, and `before` (an untrained draft of the same
form) and `after`: acceptance by position and tokens per drafting step on held-out prompts, each
with `low` and `high`, the 95 % interval (null: too few prompts for one). The schema is
`docs/schemas/train.schema.json`.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specviz.analysis.text import percent_with
from specviz.commands.options import JsonOption, model_folder
from specviz.errors import UsageError
from specviz.methods import Method

if TYPE_CHECKING:
    from specviz.training.measure import Acceptance
    from specviz.training.train import Report

TRAINED = (Method.EAGLE3, Method.EAGLE, Method.MEDUSA, Method.DRAFT_MODEL)
DEVICES = ("cpu", "cuda")


def train(
    target: Annotated[str, typer.Option(help="Folder or name of the model to draft for.")],
    method: Annotated[str, typer.Option(help=f"What to train: {', '.join(TRAINED)}.")],
    prompts: Annotated[
        list[Path],
        typer.Option(
            help="File of prompts as they will be asked, some hundreds or more: JSONL, or text "
            "with one per line; - is standard input. Repeatable."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for answers, checkpoints and drafts (default: trained/TARGET)."),
    ] = None,
    tokens: Annotated[
        int, typer.Option(min=1, help="Tokens of the target's own answers to learn from.")
    ] = 1_000_000,
    minutes: Annotated[
        float, typer.Option(min=0.01, help="Training time, answers and measurement not included.")
    ] = 60.0,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    seed: Annotated[int, typer.Option(help="Seed of answers, weights and order.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """Train a draft for your model on its own answers, and measure what it gains.

    The model answers half of the prompts greedily and half at temperature 0.7. Answers and training
    go on where an earlier call with the same --out stopped.
    """
    wanted = _method(method)
    if device not in DEVICES:
        raise UsageError(f"There is no device {device!r}: use {' or '.join(DEVICES)}.")
    folder = model_folder(target)
    from specviz.training.train import Order
    from specviz.training.train import train as train_draft

    report = train_draft(
        Order(
            target=folder,
            method=wanted,
            prompts=tuple(prompts),
            out=out or Path("trained") / folder.name,
            tokens=tokens,
            minutes=minutes,
            device=device,
            seed=seed,
        ),
        lambda text: typer.echo(text, err=True),
    )
    if as_json:
        typer.echo(json.dumps(asdict(report), indent=2))
    else:
        typer.echo(_as_text(report))


def _method(name: str) -> Method:
    if name not in TRAINED:
        raise UsageError(f"{name!r} is not trained here: use {', '.join(TRAINED)}.")
    return Method(name)


def _as_text(report: Report) -> str:
    before, after = report.before, report.after
    lines = [
        f"{report.method} for {report.target}: {report.steps} steps in {report.minutes:.0f} "
        f"minutes on {report.answers:,} answers of {report.answer_tokens:,} tokens.",
        f"On {after.prompts} held-out prompts, greedy, with 95 % intervals:",
        f"{'':<18}{'untrained':>26}{'trained':>26}",
        f"{'tokens per step':<18}{_length(before):>26}{_length(after):>26}",
    ]
    for place, (old, new) in enumerate(zip(before.by_position, after.by_position, strict=True), 1):
        name = f"accepted at {place}"
        lines.append(f"{name:<18}{percent_with(old):>26}{percent_with(new):>26}")
    return "\n".join([*lines, f"Written: {', '.join(report.folders)}"])


def _length(of: Acceptance) -> str:
    low, high = of.length.low, of.length.high
    if low is None or high is None:
        return f"{of.length.value:.2f}"
    return f"{low:.2f} to {high:.2f} ({of.length.value:.2f})"
