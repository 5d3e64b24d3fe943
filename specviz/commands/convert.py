"""`specviz convert`: an EAGLE-3 head in Speculators' format or in SpecForge's."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from specviz.commands.options import model_folder
from specviz.errors import UsageError


def convert(
    head: Annotated[Path, typer.Argument(help="Folder of an EAGLE-3 head.")],
    to: Annotated[
        str, typer.Option(help="speculators (vLLM) or specforge (SGLang, vLLM): the new format.")
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="The new folder.")],
    target: Annotated[
        Any,
        typer.Option(
            parser=model_folder,
            metavar="FOLDER",
            help="Folder of the head's target (default: smollm2).",
        ),
    ] = None,
) -> None:
    """Write an EAGLE-3 head in the format of Speculators or SpecForge; it drafts the same."""
    from specviz.checkpoints.convert import FORMATS
    from specviz.checkpoints.convert import convert as write
    from specviz.models.pair import default_model

    wanted = next((one for one in FORMATS if one.casefold() == to.casefold()), None)
    if wanted is None:
        names = " or ".join(one.casefold() for one in FORMATS)
        raise UsageError(f"There is no format {to}: write --to {names}.")
    write(head.expanduser(), wanted, str(target or model_folder(default_model())), out.expanduser())
    typer.echo(f"{out} holds the head of {head.name} in the {wanted.value} format.")
