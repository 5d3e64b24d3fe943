"""`specviz bench`: run a benchmark plan; its JSON is `docs/schemas/bench.schema.json`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from specviz.commands.options import DbOption, JsonOption


def bench(
    plan: Annotated[
        Path | None, typer.Argument(help="A plan (TOML file), or the name of a shipped one.")
    ] = None,
    db: DbOption = None,
    resume: Annotated[
        str | None, typer.Option(help="Id of a benchmark: send only its missing requests.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run a benchmark plan: arms are interleaved, results stored, and it can be resumed."""
    from specviz.commands.benchmark.run import run_bench

    raise typer.Exit(run_bench(plan, db, resume, as_json=as_json))
