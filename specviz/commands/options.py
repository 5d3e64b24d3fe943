"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

JsonOption = Annotated[bool, typer.Option("--json", help="One JSON document, nothing else.")]
DbOption = Annotated[Path | None, typer.Option("--db", help="The DuckDB file of the runs.")]
