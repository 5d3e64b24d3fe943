"""`specviz train`: retrain the demo family, adapt its draft to a domain, or judge its answers.

The JSON of `--judge` has `tallies`: rule, category, judged, passed, share, low, high (the 95 %
interval), bar (null: nothing is asked for), and `verdicts`: category, rule, passed, why_not, and
the prompt, answer and reference. The schema is `docs/schemas/train.schema.json`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specviz.analysis.text import percent
from specviz.commands.options import JsonOption
from specviz.errors import UsageError

if TYPE_CHECKING:
    from specviz.training.judging.answers import Judged
    from specviz.training.judging.tally import Tally

FAILURES_SHOWN = 3
"""Of every rule and category; `--json` has all."""


def train(
    out: Annotated[
        Path | None, typer.Option(help="Folder for the models (default: data/models).")
    ] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    target_minutes: Annotated[float, typer.Option(help="Training time of the target.")] = 45.0,
    draft_minutes: Annotated[float, typer.Option(help="Training time of the draft.")] = 21.0,
    head_scale: Annotated[
        float,
        typer.Option(
            min=0.01, help="Multiplies the training times of the heads; less suffices on a GPU."
        ),
    ] = 1.0,
    seed: Annotated[int, typer.Option(help="Seed of the corpus and the weights.")] = 20,
    part: Annotated[
        list[str] | None,
        typer.Option(
            help="Train only this part: pair (target and draft), eagle3, medusa or eagle. "
            "Repeatable."
        ),
    ] = None,
    finetune_draft: Annotated[
        Path | None,
        typer.Option(
            help="Adapt the draft to these texts: JSONL prompts, with or without answers, or "
            "plain text."
        ),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start over instead of resuming.")] = False,
    further: Annotated[
        bool,
        typer.Option(
            "--further",
            help="Target and draft go on from what they are, with text they have not read.",
        ),
    ] = False,
    judge: Annotated[
        bool,
        typer.Option(
            "--judge",
            help="Train nothing: judge the target's answers to the held-out prompts by rule.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Retrain the demo models, adapt the draft model to your own texts, or judge the answers."""
    if as_json and not judge:
        raise UsageError("--json goes with --judge: training prints its progress.")
    if judge:
        _judge(out, as_json=as_json)
        return
    if finetune_draft is not None:
        _finetune(finetune_draft, out, device=device, seed=seed)
        return
    from specviz.paths import MODELS
    from specviz.training.train import PARTS, Minutes, train_family

    train_family(
        out or MODELS,
        device=device,
        minutes=Minutes(target=target_minutes, draft=draft_minutes).with_heads(head_scale),
        seed=seed,
        progress=typer.echo,
        parts=part or PARTS,
        resume=not fresh,
        further=further,
    )


def _finetune(file: Path, out: Path | None, *, device: str, seed: int) -> None:
    """Adapt the draft model to the texts in `file`; prints acceptance before and after."""
    from specviz.training.finetune import finetune_draft

    if not file.exists():
        raise UsageError(f"There is no file {file}: name a JSONL or text file of your domain.")
    report = finetune_draft(file, out=out, device=device, seed=seed, progress=typer.echo)
    typer.echo(report.sentence())


def _judge(out: Path | None, *, as_json: bool) -> None:
    """Print how many answers of the target pass each rule, and why some do not."""
    from specviz.paths import MODELS
    from specviz.training.family import TARGET_NAME
    from specviz.training.judging.answers import judge_target
    from specviz.training.judging.tally import tallies

    models = out or MODELS
    if not (models / TARGET_NAME).is_dir():
        raise UsageError(f"There is no {TARGET_NAME} in {models}: name the folder with --out.")
    judged = judge_target(models)
    counted = tallies(verdict for one in judged for verdict in one.verdicts)
    typer.echo(_as_json(counted, judged) if as_json else _as_text(counted, judged))


def _as_text(counted: list[Tally], judged: list[Judged]) -> str:
    """A line per rule and category, then failures."""
    lines = [f"{'rule':<14}{'category':<20}{'passed':>10}    share    95 % interval   asked for"]
    for tally in counted:
        low, high = tally.interval
        passed = f"{tally.passed} of {tally.judged}"
        asked = "" if tally.bar is None else percent(tally.bar)
        lines.append(
            f"{tally.rule:<14}{tally.category:<20}{passed:>10}{percent(tally.share, 1):>9}"
            f"{100 * low:>8.1f} to{percent(high, 1):>8}{asked:>12}".rstrip()
        )
    for tally in counted:
        lines += _failures(tally, judged)
    return "\n".join(lines)


def _failures(tally: Tally, judged: list[Judged]) -> list[str]:
    found = [
        (one.answer.document.prompt, verdict.why_not)
        for one in judged
        for verdict in one.verdicts
        if (verdict.rule, verdict.category, verdict.passed) == (tally.rule, tally.category, False)
    ]
    if not found:
        return []
    shown = [f"  {' '.join(p.split())[:90]}\n    {why}" for p, why in found[:FAILURES_SHOWN]]
    return [f"\n{tally.category}, {tally.rule}: {len(found)} fail", *shown]


def _as_json(counted: list[Tally], judged: list[Judged]) -> str:
    from dataclasses import asdict

    figures: list[dict[str, Any]] = [
        asdict(tally)
        | {"share": tally.share, "bar": tally.bar}
        | dict(zip(("low", "high"), tally.interval, strict=True))
        for tally in counted
    ]
    verdicts = [
        asdict(verdict)
        | {
            "prompt": one.answer.document.prompt,
            "answer": one.answer.text,
            "reference": one.answer.document.answer,
        }
        for one in judged
        for verdict in one.verdicts
    ]
    return json.dumps({"tallies": figures, "verdicts": verdicts}, ensure_ascii=False, indent=2)
