"""`specviz policy`: K by temperature and load, from a sweep or a file, and as others take it.

The JSON is one object (`docs/schemas/policy.schema.json`):

    benchmark_id, measured  where the table is from: method, ks, objective, slo, cells with what
                            each rests on, notes; null for a policy that was read from a file
    policy                  num_speculative_tokens, requests_running, hold_steps, rows
    policy_toml             the same as a file
    schedule                of --vllm, --sglang, --tensorrt-llm: framework, version, option, files,
                            cannot, warnings; null without
    litellm                 of --litellm: model, plain, speculating, refused, files; null without
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specviz.commands.options import BenchmarkOption, DbOption, JsonOption
from specviz.errors import UsageError

if TYPE_CHECKING:
    from specviz.analysis.benchmark.results import Slo
    from specviz.analysis.policy.table import PolicyTable
    from specviz.deploy.schedules.steps import Schedule
    from specviz.policy.policy import Policy
    from specviz.store import Location

SLO_NAMES = ("ttft_ms", "tpot_ms", "e2el_ms")


def policy(
    benchmark: BenchmarkOption = None,
    method: Annotated[
        str | None, typer.Option(help="Drafting method (default: the one with the most Ks).")
    ] = None,
    slo: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=MS",
            help="tpot_ms=20, ttft_ms=… or e2el_ms=…, once for each: K by goodput. Without, by "
            "output throughput.",
        ),
    ] = None,
    mixed: Annotated[
        bool,
        typer.Option("--mixed", help="One K for all temperatures: for traffic that mixes them."),
    ] = False,
    hold_steps: Annotated[
        int | None,
        typer.Option(help="Engine steps at another load before K changes (default: 16)."),
    ] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Write the policy here.")] = None,
    policy_file: Annotated[
        Path | None, typer.Option("--policy", help="A policy file, instead of --benchmark.")
    ] = None,
    vllm: Annotated[bool, typer.Option("--vllm", help="As vLLM's own schedule.")] = False,
    sglang: Annotated[bool, typer.Option("--sglang", help="As SGLang's.")] = False,
    tensorrt_llm: Annotated[
        bool, typer.Option("--tensorrt-llm", help="As TensorRT-LLM's.")
    ] = False,
    litellm: Annotated[
        bool,
        typer.Option("--litellm", help="As files of a LiteLLM proxy for the servers with a name."),
    ] = False,
    version: Annotated[
        str | None, typer.Option(help="Version of that server (default: newest).")
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(help="Whose row a schedule is: requests at this temperature (default: 0)."),
    ] = None,
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Turn a sweep over K, load and temperature into a table of K, a server's schedule or a proxy's
    rule."""
    schedules = {"vllm": vllm, "sglang": sglang, "tensorrt-llm": tensorrt_llm}
    framework = next((name for name, wanted in schedules.items() if wanted), None)
    if [*schedules.values(), litellm].count(True) > 1:
        raise UsageError("Choose one of --vllm, --sglang, --tensorrt-llm and --litellm.")
    if (benchmark is None) == (policy_file is None):
        raise UsageError("Name a measured sweep with --benchmark, or a file with --policy.")
    if framework is None and (version is not None or temperature is not None):
        raise UsageError(
            "--version and --temperature are of a schedule: add --vllm, --sglang or --tensorrt-llm."
        )
    benchmark_id, table, found = _policy(benchmark, method, slo, mixed, hold_steps, policy_file, db)
    scheduled = _schedule(found, framework, temperature, version) if framework else None
    proxy = _proxy(found, db) if litellm else None
    if out is not None:
        _write(found, out)
    if as_json:
        print(_json(benchmark_id, table, found, scheduled, proxy))
    elif proxy is not None:
        _print_files(proxy["files"])
    elif scheduled is not None:
        _print_schedule(scheduled, temperature)
    elif table is not None:
        _print_table(table, found, out)
    else:
        print(_toml(found), end="")


def _policy(
    benchmark: str | None,
    method: str | None,
    slo: list[str] | None,
    mixed: bool,
    hold_steps: int | None,
    policy_file: Path | None,
    db: Location | None,
) -> tuple[str | None, PolicyTable | None, Policy]:
    from dataclasses import replace

    from specviz.analysis.policy.objective import Objective
    from specviz.analysis.policy.table import HOLD_STEPS
    from specviz.commands.benchmark.stored import benchmark_with, store_with
    from specviz.policy.file import read_policy
    from specviz.sweep.policy import policy_of

    if policy_file is not None:
        if method is not None or slo or mixed:
            raise UsageError(
                "--method, --slo and --mixed choose from a sweep: name it with --benchmark."
            )
        read = read_policy(policy_file)
        return None, None, replace(read, hold_steps=hold_steps or read.hold_steps)
    assert benchmark is not None
    objective = Objective(parse_slo(slo or []))
    with store_with(benchmark, db) as store:
        benchmark_id = benchmark_with(store, benchmark).benchmark_id
        table = policy_of(store, benchmark_id, objective, method, mixed=mixed)
    return benchmark_id, table, table.policy(HOLD_STEPS if hold_steps is None else hold_steps)


def parse_slo(texts: list[str]) -> Slo:
    """`tpot_ms=20` and the like. Raises UsageError for another name, or what is not ms above 0."""
    from specviz.analysis.benchmark.results import Slo

    limits: dict[str, float] = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            limit = float(value)
        except ValueError:
            limit = 0.0
        if name not in SLO_NAMES or not 0 < limit < float("inf"):
            raise UsageError(
                f"--slo {text!r} is not a limit: write {', '.join(SLO_NAMES)} and the ms, such as "
                "tpot_ms=20."
            )
        limits[name] = limit
    return Slo(**limits)


def _schedule(
    found: Policy, framework: str, temperature: float | None, version: str | None
) -> Schedule:
    from specviz.deploy.schedules.schedules import schedule_of

    return schedule_of(framework, found, temperature or 0.0, version=version)


def _proxy(found: Policy, db: Location | None) -> dict[str, Any]:
    from specviz.commands.servers.fleet import checked_fleet
    from specviz.fleet.routing.litellm import litellm_files
    from specviz.fleet.routing.route import route_of

    route = route_of(checked_fleet(db))
    return {**route.to_dict(), "files": litellm_files(route, found)}


def _write(found: Policy, path: Path) -> None:
    from specviz.deploy.files import write

    write({path.name: _toml(found)}, path.parent)


def _toml(found: Policy) -> str:
    from specviz.policy.file import policy_toml

    return policy_toml(found)


def _json(
    benchmark_id: str | None,
    table: PolicyTable | None,
    found: Policy,
    scheduled: Schedule | None,
    proxy: dict[str, Any] | None,
) -> str:
    from specviz.sweep.policy import as_document

    document: dict[str, Any] = {
        "benchmark_id": benchmark_id,
        "measured": table and as_document(table),
        "policy": asdict(found),
        "policy_toml": _toml(found),
        "schedule": scheduled and scheduled.to_dict(),
        "litellm": proxy,
    }
    return json.dumps(document, ensure_ascii=False, indent=2)


def _print_table(table: PolicyTable, found: Policy, out: Path | None) -> None:
    from specviz.analysis.policy.sentences import lines

    print("\n".join(lines(table)))
    print(f"\nK changes after {found.hold_steps} steps at another load.")
    print(f"Written to {out}." if out else "-o policy.toml writes it as a file.")


def _print_schedule(found: Schedule, temperature: float | None) -> None:
    """What it cannot say and what to know go to standard error, so that the rest can be piped."""
    typer.echo(f"# K of requests at temperature {temperature or 0:g}, for all requests.", err=True)
    typer.echo(f"# {found.cannot}", err=True)
    for remark in found.remarks:
        typer.echo(f"! {remark.text}\n  {remark.url or remark.source}", err=True)
    print(found.option)
    _print_files(found.files)


def _print_files(files: Mapping[str, str]) -> None:
    for name, text in files.items():
        print(f"# {name}\n{text}", end="")
