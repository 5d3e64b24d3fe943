"""`specviz servers`: the fleet at a shell.

The JSON has servers, each with name, url, kind, key_env, labels, baseline_of, added_at and health
(null where it was not asked); the schema is `docs/schemas/servers.schema.json`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from specviz.commands.options import DbOption, JsonOption
from specviz.commands.servers.fleet import checked_fleet, fleet_answer
from specviz.commands.servers.routing import route
from specviz.terminal import escaped

app = typer.Typer(
    help="The fleet: named inference servers, whether they answer and what they accept.",
    no_args_is_help=True,
)

app.command()(route)

NameArgument = Annotated[str, typer.Argument(help="Name of the server.")]


@app.command()
def add(
    name: NameArgument,
    url: Annotated[str, typer.Argument(help="URL of the server, such as http://gpu-1:8000.")],
    kind: Annotated[
        str | None, typer.Option(help="Kind that is expected there (default: recognised).")
    ] = None,
    key_env: Annotated[
        str, typer.Option(help="Name of the environment variable with its API key; not the key.")
    ] = "",
    label: Annotated[
        list[str] | None, typer.Option(help="A label, such as 'GPU box'; may be repeated.")
    ] = None,
    baseline_of: Annotated[
        str, typer.Option(help="Name of the server whose plain decoding this one is.")
    ] = "",
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give a server a name. It need not be running."""
    from specviz.fleet.answers import add_answer, kind_of
    from specviz.fleet.named import as_typed
    from specviz.remote.servers import add_there

    server = as_typed(
        name,
        url,
        kind=kind_of(kind),
        key_env=key_env,
        labels=label or (),
        baseline_of=baseline_of,
    )
    found = fleet_answer(
        db,
        lambda store, _: add_answer(store, server),
        lambda app_url, secret: add_there(app_url, server, secret=secret),
    )
    _print(found, as_json, lambda: print(f"Added {server.name}: {server.url}"))


@app.command("list")
def list_(db: DbOption = None, as_json: JsonOption = False) -> None:
    """List the servers; how they are is what a running app knows, nobody is asked."""
    from specviz.fleet.answers import list_answer
    from specviz.remote.servers import list_there

    found = fleet_answer(
        db, list_answer, lambda app_url, secret: list_there(app_url, secret=secret)
    )
    _print(found, as_json, lambda: _print_table(found))


@app.command()
def remove(name: NameArgument, db: DbOption = None, as_json: JsonOption = False) -> None:
    """Forget a server. It goes on running, and its runs stay."""
    from specviz.fleet.answers import remove_answer
    from specviz.remote.servers import remove_there

    found = fleet_answer(
        db,
        lambda store, _: remove_answer(store, name),
        lambda app_url, secret: remove_there(app_url, name, secret=secret),
    )
    _print(found, as_json, lambda: print(f"Removed {name}."))


@app.command()
def check(
    name: Annotated[
        str | None, typer.Argument(help="Name of the server (default: all of them).")
    ] = None,
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask servers now. The exit code is 1 if one of them cannot be used."""
    found = checked_fleet(db, name)
    _print(found, as_json, lambda: _print_table(found))
    if not all(server["health"]["reachable"] for server in found["servers"]):
        raise typer.Exit(1)


def _print(found: dict[str, Any], as_json: bool, for_people: Callable[[], None]) -> None:
    if as_json:
        print(escaped(json.dumps(found, ensure_ascii=False, indent=2)))
    else:
        for_people()


def _print_table(found: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from specviz.analysis.text import terminal_text

    if not found["servers"]:
        print("No server has a name yet: specviz servers add NAME URL")
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("name", "url", "kind", "model", "drafts with", "acceptance", "running", "state"):
        table.add_column(column)
    for server in found["servers"]:
        table.add_row(*(Text(terminal_text(cell)) for cell in _cells(server)))
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 100_000)
    console.print(table)


def _cells(server: dict[str, Any]) -> tuple[str, ...]:
    health = server["health"]
    if health is None:
        kind = server["kind"] or ""
        return (server["name"], server["url"], kind, "", "", "", "", "not asked")
    running, k = health["running"], health["k"]
    return (
        server["name"],
        server["url"],
        health["software"] or server["kind"] or "",
        health["model"] or "",
        (health["method"] or "") + (f" · K {k}" if k else ""),
        _acceptance(health["acceptance"]),
        "" if running is None else f"{running:g}",
        _state(health),
    )


def _acceptance(found: dict[str, Any] | None) -> str:
    if found is None:
        return ""
    rate = found["draft_acceptance_rate"]
    over = f"last {found['over_s']:.0f} s"
    return f"nothing drafted, {over}" if rate is None else f"{rate:.2f}, {over}"


def _state(health: dict[str, Any]) -> str:
    from datetime import datetime

    problem = health["problem"] or ""
    if health["reachable"]:
        return f"up, but {problem}" if problem else "up"
    since = datetime.fromisoformat(health["down_since"]).astimezone()
    return f"down since {since:%Y-%m-%d %H:%M:%S}: {problem}"
