"""`specviz train`: retrain the demo family, or adapt its draft to a domain."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from specviz.errors import UsageError


def train(
    out: Annotated[
        Path | None, typer.Option(help="Folder for the models (default: data/models).")
    ] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    target_minutes: Annotated[float, typer.Option(help="Training time of the target.")] = 45.0,
    draft_minutes: Annotated[float, typer.Option(help="Training time of the draft.")] = 21.0,
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
) -> None:
    """Retrain the demo models, or adapt the draft model to your own texts."""
    if finetune_draft is not None:
        _finetune(finetune_draft, out, device=device, seed=seed)
        return
    from specviz.paths import MODELS
    from specviz.training.train import PARTS, Minutes, train_family

    train_family(
        out or MODELS,
        device=device,
        minutes=Minutes(target=target_minutes, draft=draft_minutes),
        seed=seed,
        progress=typer.echo,
        parts=part or PARTS,
        resume=not fresh,
    )


def _finetune(file: Path, out: Path | None, *, device: str, seed: int) -> None:
    """Adapt the draft model to the texts in `file`; prints acceptance before and after."""
    from specviz.training.finetune import finetune_draft

    if not file.exists():
        raise UsageError(f"There is no file {file}: name a JSONL or text file of your domain.")
    report = finetune_draft(file, out=out, device=device, seed=seed, progress=typer.echo)
    typer.echo(report.sentence())
