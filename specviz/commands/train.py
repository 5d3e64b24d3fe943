"""`specviz train`: the demo family made again, or a draft for a domain of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from specviz.errors import UsageError
from specviz.paths import MODELS


def train(
    out: Path | None,
    *,
    device: str,
    target_minutes: float,
    draft_minutes: float,
    seed: int,
    parts: Sequence[str],
    resume: bool,
) -> None:
    """Train all of the family, or `parts` of it."""
    from specviz.training.train import PARTS, Minutes, train_family

    train_family(
        out or MODELS,
        device=device,
        minutes=Minutes(target=target_minutes, draft=draft_minutes),
        seed=seed,
        progress=typer.echo,
        parts=parts or PARTS,
        resume=resume,
    )


def finetune(file: Path, out: Path | None, *, device: str, seed: int) -> None:
    """Adapt the draft model to the texts in `file`; prints acceptance before and after."""
    from specviz.training.finetune import finetune_draft

    if not file.exists():
        raise UsageError(f"There is no file {file}: name a JSONL or text file of the domain.")
    report = finetune_draft(file, out=out, device=device, seed=seed, progress=typer.echo)
    typer.echo(report.sentence())
