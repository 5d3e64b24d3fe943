"""The command line: `specviz`, or `python -m specviz`.

`--json` prints one JSON document on standard output and nothing else. Exit code 0: done, 1: failed,
2: wrong usage; an error is one sentence on standard error that says what to do.
"""

from __future__ import annotations

import sys
from typing import Any

import typer

from specviz.commands.benchmark.bench import bench
from specviz.commands.command import command
from specviz.commands.convert import convert
from specviz.commands.cost import cost
from specviz.commands.doctor import doctor
from specviz.commands.export import export
from specviz.commands.gguf import gguf
from specviz.commands.import_ import import_
from specviz.commands.options import version_option
from specviz.commands.policy import policy
from specviz.commands.query import query
from specviz.commands.recommend import recommend
from specviz.commands.run import run
from specviz.commands.serve import serve
from specviz.commands.servers.servers import app as servers
from specviz.commands.theory import theory
from specviz.commands.train import train
from specviz.commands.verify import verify
from specviz.errors import SpecvizError, UsageError

app = typer.Typer(
    name="specviz",
    help="See, store and evaluate every accept/reject decision of speculative decoding.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.callback()(version_option)
app.command()(run)
app.command(context_settings={"allow_extra_args": True})(serve)
app.command(context_settings={"allow_extra_args": True})(command)
app.add_typer(servers, name="servers")
app.command()(bench)
app.command()(query)
app.command()(export)
app.command("import")(import_)
app.command()(recommend)
app.command()(policy)
app.command()(cost)
app.command()(theory)
app.command()(train)
app.command()(convert)
app.command()(gguf)
app.command()(doctor)
app.command()(verify)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit. Every expected error ends as one sentence."""
    try:
        code: Any = app(args=arguments, standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except UsageError as error:
        _fail(str(error), 2)
    except SpecvizError as error:
        _fail(str(error), 1)
    except typer.Exit as stop:
        sys.exit(stop.exit_code)
    except typer.Abort:
        _fail("Stopped.", 1)
    except KeyboardInterrupt:
        _fail("Stopped.", 1)
    except typer.TyperException as error:
        _fail(f"{error.format_message()} See `specviz --help`.", 2)


def _fail(sentence: str, code: int) -> None:
    print(sentence, file=sys.stderr)
    sys.exit(code)
