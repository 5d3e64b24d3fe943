"""The command line: `specviz`, or `python -m specviz`.

`--json` prints one JSON document on standard output and nothing else. How a command ends, with its
exit codes and its one sentence on standard error: `commands/ending.py`.
"""

from __future__ import annotations

import sys
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, NoReturn

import typer

from specviz.commands.benchmark.bench import bench
from specviz.commands.command import command
from specviz.commands.convert import convert
from specviz.commands.cost import cost
from specviz.commands.doctor import doctor
from specviz.commands.ending import STOPPED, exit_code
from specviz.commands.export import export
from specviz.commands.gguf import gguf
from specviz.commands.import_ import import_
from specviz.commands.models import app as models
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
from specviz.errors import UsageError
from specviz.terminal import escaping

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
app.add_typer(models, name="models")
app.command()(bench)
app.command()(query)
app.command()(export)
app.command("import")(import_)
app.command()(recommend)
app.command()(policy)
app.command()(cost)
app.command()(train)
app.command()(doctor)
app.command()(verify)
for of_developers in (theory, convert, gguf):
    app.command(rich_help_panel="For developers")(of_developers)


def invoke(arguments: list[str]) -> int:
    """Run one command and return its exit code. Raises UsageError for words that it lacks."""
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError as error:
            raise UsageError(
                f"{ascii(argument)[:80]} is not valid UTF-8: write prompts, SQL and names in UTF-8."
            ) from error
    try:
        code: Any = app(args=arguments, standalone_mode=False)
    except typer.TyperException as error:
        raise UsageError(f"{error.format_message()} See `specviz --help`.") from error
    if code == STOPPED:  # typer makes this of an interrupt
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0


def main(arguments: list[str]) -> NoReturn:
    """Run one command and exit, in a process that does more."""
    with redirect_stdout(escaping(sys.stdout)), redirect_stderr(escaping(sys.stderr)):
        code = exit_code(invoke, arguments)
    sys.exit(code)
