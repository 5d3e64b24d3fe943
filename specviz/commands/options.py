"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specviz import __version__
from specviz.errors import UsageError

if TYPE_CHECKING:
    from specviz.store import Location


def _location(text: str) -> Any:
    from specviz.store.location import parse_location

    return parse_location(text)


def model_folder(name: str) -> Path:
    """The folder (or GGUF file) of a model; a short name's is written now if it is not there.

    Raises UsageError where the model cannot be had.
    """
    from specviz.models.kept import located

    return Path(located(name, note)).expanduser()


def note(text: str) -> None:
    """Say what a command does now, beside its output."""
    typer.echo(text, err=True)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"specviz {__version__}")
        raise typer.Exit


def version_option(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """See, store and evaluate every accept/reject decision of speculative decoding."""


ModelOption = Annotated[
    str | None,
    typer.Option(help="Folder or name of the target model (default: smollm2)."),
]
DraftOption = Annotated[
    str | None,
    typer.Option(help="Folder or name of the draft model or head (default: one that fits)."),
]
K_HELP = "Draft tokens per step (num_speculative_tokens)."
KOption = Annotated[int | None, typer.Option(help=K_HELP)]
BenchmarkOption = Annotated[
    str | None, typer.Option(help="Id of a stored benchmark, or the start of it.")
]
ServerOption = Annotated[str | None, typer.Option(help="URL of a running server.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
DbOption = Annotated[
    Any,  # Location | None, but typer knows no unions
    typer.Option(
        "--db",
        parser=_location,
        metavar="FILE|LAKE",
        help="DuckDB file with the runs, or a shared store (ducklake:postgres:…;data=…).",
    ),
]


def existing(db: Location | None) -> Location:
    """The store that was named, or the default. Raises UsageError for a file that is not there."""
    from specviz.store import default_location
    from specviz.store.owner import check_owner_gone

    location = db or default_location()
    if isinstance(location, Path) and not location.exists():
        check_owner_gone(location)
        raise UsageError(
            f"There is no database {location}: record a run first, or name one with --db."
        )
    return location
