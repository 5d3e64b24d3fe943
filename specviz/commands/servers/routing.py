"""`specviz servers route`: what a proxy in front of the fleet is configured with."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated

import typer

from specviz.commands.options import DbOption, JsonOption
from specviz.commands.servers.fleet import checked_fleet
from specviz.errors import UsageError


def route(
    policy: Annotated[
        Path | None,
        typer.Option(help="Policy file: K = 0 is the plain server. Needed for LiteLLM."),
    ] = None,
    litellm: Annotated[
        Path | None, typer.Option(help="Write the files of a LiteLLM proxy into this folder.")
    ] = None,
    vllm_router: Annotated[
        bool, typer.Option("--vllm-router", help="Print a vllm-router command: load alone decides.")
    ] = False,
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Configure a proxy that sends each request to a plain or a speculating server of the fleet."""
    from specviz.deploy.files import write
    from specviz.fleet.routing.litellm import litellm_files
    from specviz.fleet.routing.route import route_of
    from specviz.fleet.routing.vllm_router import vllm_router_command
    from specviz.policy.file import read_policy

    if (litellm is None) == (not vllm_router):
        raise UsageError("Say which proxy: --litellm FOLDER or --vllm-router.")
    if vllm_router and policy is not None:
        raise UsageError("vllm-router reads no request, so it cannot follow a policy: use LiteLLM.")
    if litellm is not None and policy is None:
        raise UsageError("LiteLLM needs a rule: name a policy file with --policy.")
    rule = read_policy(policy) if policy is not None else None
    found = route_of(checked_fleet(db))
    if rule is None or litellm is None:
        argv, paths = vllm_router_command(found), list[Path]()
    else:
        paths = write(litellm_files(found, rule), litellm)
        argv = ["litellm", "--config", str(paths[0]), "--host", "127.0.0.1", "--port", "4000"]
    if as_json:
        document = {**found.to_dict(), "files": [str(path) for path in paths], "command": argv}
        print(json.dumps(document, ensure_ascii=False, indent=2))
        return
    for path in paths:
        print(path)
    print(shlex.join(argv))
