"""`specviz recommend`: the decision tree in a terminal, or as JSON for programs.

The JSON is one object:

    deployment    what was known: the answers by name (the option's, but draft_acceptance_rate), and
                 the sources of those that were read
    recommendation  speculate (on, off, undecided), leaf, method, technique, k, expected, reasons,
                 missing, contradictions, router, tree (every question)
    draft        one check per entry: name, verdict (pass, fail, unknown), finding, advice
    command      what starts vLLM so, null where there is nothing to start
    router_toml  thresholds for a router as TOML, null without a method

The schema is `docs/schemas/recommend.schema.json`.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specviz.commands.options import (
    BenchmarkOption,
    DbOption,
    JsonOption,
    ServerOption,
    model_folder,
)
from specviz.errors import UsageError

if TYPE_CHECKING:
    from specviz.analysis.advisor.deployment import Deployment, KnownFacts
    from specviz.analysis.advisor.draft import Check
    from specviz.analysis.advisor.recommend import Recommendation
    from specviz.store import Location

USUAL_CONTEXT = 4096


class Aim(StrEnum):
    """What to optimise; see `advisor.inputs.Slo`."""

    TPOT = "tpot"
    THROUGHPUT = "throughput"
    COST = "cost"


def recommend(
    temperature: Annotated[
        float | None, typer.Option(help="Sampling temperature of the requests.")
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(help="Requests in flight at the same time.")
    ] = None,
    output_tokens: Annotated[
        float | None, typer.Option(help="Mean output tokens per request.")
    ] = None,
    gpu_utilization: Annotated[
        float | None, typer.Option(help="GPU utilisation while generating, 0-1.")
    ] = None,
    memory_pressure: Annotated[
        bool | None,
        typer.Option("--memory-pressure/--no-memory-pressure", help="GPU memory is nearly full."),
    ] = None,
    draft_fits: Annotated[
        bool | None,
        typer.Option("--draft-fits/--no-draft-fits", help="A draft model fits into GPU memory."),
    ] = None,
    target_swapped: Annotated[
        bool | None,
        typer.Option(
            "--target-swapped/--no-target-swapped", help="The target model is replaced often."
        ),
    ] = None,
    spare_memory_gb: Annotated[float | None, typer.Option(help="Free GPU memory, GB.")] = None,
    light_training: Annotated[
        bool | None,
        typer.Option(
            "--light-training/--no-light-training",
            help="Light training of a draft is possible.",
        ),
    ] = None,
    slo: Annotated[Aim | None, typer.Option(help="What to optimise.")] = None,
    slo_tpot_ms: Annotated[
        float | None, typer.Option(help="Highest acceptable TPOT P95, ms.")
    ] = None,
    text: Annotated[str | None, typer.Option(help="Kind of text: a prompt category.")] = None,
    acceptance: Annotated[
        float | None, typer.Option(help="Draft acceptance rate: accepted / drafted, 0-1.")
    ] = None,
    speedup: Annotated[float | None, typer.Option(help="Speed-up you have measured, ×.")] = None,
    benchmark: BenchmarkOption = None,
    server: ServerOption = None,
    target: Annotated[
        str | None, typer.Option(help="Folder of the target model, or smollm2.")
    ] = None,
    draft: Annotated[str | None, typer.Option(help="Folder of the draft model.")] = None,
    context: Annotated[
        int, typer.Option(min=1, help="Context length: tokens per request.")
    ] = USUAL_CONTEXT,
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Recommend whether to speculate, the technique, K, the command and router thresholds.

    Measured figures win over rules of thumb.
    """
    from specviz.analysis.advisor.deployment import deployment_of
    from specviz.analysis.advisor.inputs import INPUTS
    from specviz.analysis.advisor.recommend import recommend as recommended

    values = locals()
    known = {name: values[name] for name in INPUTS if values[name] is not None}
    facts = _facts(benchmark, server, db, temperature, concurrency)
    if (target is None) != (draft is None):
        raise UsageError("Give both --target and --draft, or neither.")
    checks: tuple[Check, ...] = ()
    if target is not None and draft is not None:
        target, draft = str(model_folder(target)), str(model_folder(draft))
        checks, of_pair = _pair(target, draft, context, deployment_of(known, *facts))
        facts.append(of_pair)
    deployment = deployment_of(known, *facts)
    found = recommended(deployment)
    command = _command(found, target, draft)
    print(_json(deployment, found, checks, command) if as_json else _text(found, checks, command))


def _facts(
    benchmark: str | None,
    server: str | None,
    db: Location | None,
    temperature: float | None,
    concurrency: int | None,
) -> list[KnownFacts]:
    import asyncio

    from specviz.bench.results import results_of
    from specviz.commands.benchmark.stored import benchmark_with, store_with
    from specviz.known_facts import facts_of_benchmark, facts_of_server

    found = []
    if benchmark is not None:
        with store_with(benchmark, db) as store:
            row = benchmark_with(store, benchmark)
            results = results_of(store, row.benchmark_id)
            found.append(facts_of_benchmark(row, results, temperature, concurrency))
    if server is not None:
        facts, _ = asyncio.run(facts_of_server(server))
        found.append(facts)
    return found


def _pair(
    target: str, draft: str, context: int, deployment: Deployment
) -> tuple[tuple[Check, ...], KnownFacts]:
    from specviz.analysis.advisor.draft import Load, check_pair, facts_of
    from specviz.engines.model_folder import read_pair

    pair = read_pair(target, draft)
    load = Load(context, deployment.concurrency or 1, deployment.spare_memory_gb)
    source = deployment.source("acceptance") if deployment.acceptance is not None else None
    checks = check_pair(pair, load, deployment.acceptance, source, deployment.text)
    return checks, facts_of(checks, pair)


def _command(found: Recommendation, target: str | None, draft: str | None) -> str | None:
    from specviz.config import EngineKind
    from specviz.methods import Method
    from specviz.servers.kinds import launcher_of
    from specviz.servers.launch.printed_command import serving_command

    if found.method is None:
        return None
    own = draft if found.method is Method.DRAFT_MODEL else None
    try:
        return serving_command(
            launcher_of(EngineKind.VLLM),
            target,
            found.method,
            own or found.draft,
            found.k.k if found.k else None,
        )
    except UsageError:
        return None  # vLLM does not have the method: the text names it


def _json(
    deployment: Deployment,
    found: Recommendation,
    checks: tuple[Check, ...],
    command: str | None,
) -> str:
    document: dict[str, Any] = {
        "situation": {
            "answers": {_key(name): value for name, value in deployment.answers.items()},
            "sources": {_key(name): str(source) for name, source in deployment.sources.items()},
        },
        "recommendation": found.to_dict(),
        "draft": [asdict(check) for check in checks],
        "command": command,
        "router_toml": found.router.toml() if found.router else None,
    }
    return json.dumps(document, ensure_ascii=False, indent=2)


def _key(name: str) -> str:
    """The name of an answer in JSON: a figure that other documents have is called the same."""
    return {"acceptance": "draft_acceptance_rate"}.get(name, name)


def _text(found: Recommendation, checks: tuple[Check, ...], command: str | None) -> str:
    from specviz.analysis.advisor.sentences import figure_text, headline, k_text, reason_text
    from specviz.config import EngineKind
    from specviz.servers.kinds import launcher_of
    from specviz.servers.launch.printed_command import version_note

    lines = [headline(found)]
    lines += [f"  {reason_text(reason)}" for reason in found.reasons]
    if found.k is not None:
        lines.append(f"  K {k_text(found.k)}: {found.k.evidence}")
    lines += _block(
        "Expected", [f"{one.name} {figure_text(one)}, {one.evidence}" for one in found.expected]
    )
    lines += _block("Not known", [one.decides for one in found.missing])
    lines += _block(
        "Where they disagree",
        [f"{one.says} But: {one.but} Followed: {one.wins}." for one in found.contradictions],
    )
    lines += _block(
        "Draft model",
        [
            f"{check.verdict.value:<7} {check.name}: {check.finding}. {check.advice}".rstrip()
            for check in checks
        ],
    )
    if found.method is not None:
        note = version_note(launcher_of(EngineKind.VLLM), found.method)
        command = command or f"vLLM does not have {found.method.value}."
        lines += _block("Command", [command, *([note] if note else [])])
    if found.router is not None:
        lines += ["", found.router.toml().rstrip()]
    return "\n".join(lines)


def _block(title: str, lines: list[str]) -> list[str]:
    return ["", title, *(f"  {line}" for line in lines)] if lines else []
