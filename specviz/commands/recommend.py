"""`specviz recommend`: the decision tree in a terminal, or as JSON for programs.

The JSON is one object:

    situation    what was known: the answers by name, and the evidence of those that were read
    recommendation  speculate (on, off, undecided), leaf, method, technique, k, expected, reasons,
                 missing, contradictions, router, tree (every question)
    draft        one check per entry: name, verdict (pass, fail, unknown), finding, advice
    command      what starts vLLM so, null where there is nothing to start
    router_toml  thresholds for a router as TOML, null without a method
"""

from __future__ import annotations

import json
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specviz.commands.options import DbOption, JsonOption
from specviz.errors import UsageError

if TYPE_CHECKING:
    from specviz.analysis.advisor.draft import Check
    from specviz.analysis.advisor.recommend import Recommendation
    from specviz.analysis.advisor.situation import Facts, Situation
    from specviz.store import Location

USUAL_CONTEXT = 4096


class Aim(StrEnum):
    """What is aimed at; see `advisor.inputs.Slo`."""

    TPOT = "tpot"
    THROUGHPUT = "throughput"
    COST = "cost"


def recommend(
    temperature: Annotated[float | None, typer.Option(help="Of the requests.")] = None,
    concurrency: Annotated[int | None, typer.Option(help="Requests at once.")] = None,
    output_tokens: Annotated[float | None, typer.Option(help="Mean answer, tokens.")] = None,
    gpu_utilization: Annotated[float | None, typer.Option(help="While generating, 0-1.")] = None,
    memory_pressure: Annotated[
        bool | None, typer.Option("--memory-pressure/--no-memory-pressure")
    ] = None,
    draft_fits: Annotated[bool | None, typer.Option("--draft-fits/--no-draft-fits")] = None,
    target_swapped: Annotated[
        bool | None, typer.Option("--target-swapped/--no-target-swapped", help="Often.")
    ] = None,
    spare_memory_gb: Annotated[float | None, typer.Option(help="GPU memory left, GB.")] = None,
    light_training: Annotated[
        bool | None, typer.Option("--light-training/--no-light-training", help="Is there.")
    ] = None,
    slo: Annotated[Aim | None, typer.Option(help="What is aimed at.")] = None,
    slo_tpot_ms: Annotated[float | None, typer.Option(help="TPOT P95 at most, ms.")] = None,
    text: Annotated[str | None, typer.Option(help="Kind: a prompt category.")] = None,
    acceptance: Annotated[float | None, typer.Option(help="Accepted / drafted, 0-1.")] = None,
    speedup: Annotated[float | None, typer.Option(help="Measured yourself, ×.")] = None,
    benchmark: Annotated[
        str | None, typer.Option(help="Id of a stored benchmark, or its beginning.")
    ] = None,
    server: Annotated[str | None, typer.Option(help="URL of a running server.")] = None,
    target: Annotated[str | None, typer.Option(help="Folder of the target model.")] = None,
    draft: Annotated[str | None, typer.Option(help="Folder of the draft model.")] = None,
    context: Annotated[int, typer.Option(min=1, help="Tokens per request.")] = USUAL_CONTEXT,
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """On or off, technique, K, command and router thresholds; measured figures win over rules."""
    from specviz.analysis.advisor.inputs import INPUTS
    from specviz.analysis.advisor.recommend import recommend as recommended
    from specviz.analysis.advisor.situation import situation_of

    values = locals()
    told = {name: values[name] for name in INPUTS if values[name] is not None}
    facts = _facts(benchmark, server, db, temperature, concurrency)
    if (target is None) != (draft is None):
        raise UsageError("Give both --target and --draft, or neither.")
    checks: tuple[Check, ...] = ()
    if target is not None and draft is not None:
        checks, of_pair = _pair(target, draft, context, situation_of(told, *facts))
        facts.append(of_pair)
    situation = situation_of(told, *facts)
    found = recommended(situation)
    command = _command(found, target, draft)
    print(_json(situation, found, checks, command) if as_json else _text(found, checks, command))


def _facts(
    benchmark: str | None,
    server: str | None,
    db: Location | None,
    temperature: float | None,
    concurrency: int | None,
) -> list[Facts]:
    import asyncio

    from specviz.bench.advisor_facts import facts_of_benchmark, facts_of_server
    from specviz.bench.results import results_of
    from specviz.store import default_location, open_store
    from specviz.store.benchmarks.reads import read_benchmarks

    found = []
    if benchmark is not None:
        with open_store(db or default_location()) as store:
            rows = [
                row
                for row in store.read(read_benchmarks)
                if row.benchmark_id.startswith(benchmark.lower())
            ]
            if not benchmark or len(rows) != 1:
                number = "No" if not rows else "More than one"
                raise UsageError(
                    f"{number} stored benchmark has an id that begins with {benchmark!r}: "
                    "`specviz query 'SELECT benchmark_id, name FROM benchmarks'` lists them."
                )
            results = results_of(store, rows[0].benchmark_id)
            found.append(facts_of_benchmark(rows[0], results, temperature, concurrency))
    if server is not None:
        facts, _ = asyncio.run(facts_of_server(server))
        found.append(facts)
    return found


def _pair(
    target: str, draft: str, context: int, situation: Situation
) -> tuple[tuple[Check, ...], Facts]:
    from specviz.analysis.advisor.draft import Load, check_pair, facts_of
    from specviz.engines.model_folder import read_pair

    pair = read_pair(target, draft)
    load = Load(context, situation.concurrency or 1, situation.spare_memory_gb)
    source = situation.source("acceptance") if situation.acceptance is not None else None
    checks = check_pair(pair, load, situation.acceptance, source, situation.text)
    return checks, facts_of(checks, pair)


def _command(found: Recommendation, target: str | None, draft: str | None) -> str | None:
    from specviz.config import Method
    from specviz.servers.vllm.serving import serving_command

    if found.method is None:
        return None
    own = draft if found.method is Method.DRAFT_MODEL else None
    try:
        return serving_command(
            target, found.method, own or found.draft, found.k.k if found.k else None
        )
    except UsageError:
        return None  # vLLM does not have the method: the text names it


def _json(
    situation: Situation,
    found: Recommendation,
    checks: tuple[Check, ...],
    command: str | None,
) -> str:
    document: dict[str, Any] = {
        "situation": {
            "answers": situation.answers,
            "sources": {name: str(source) for name, source in situation.sources.items()},
        },
        "recommendation": found.to_dict(),
        "draft": [asdict(check) for check in checks],
        "command": command,
        "router_toml": found.router.toml() if found.router else None,
    }
    return json.dumps(document, ensure_ascii=False, indent=2)


def _text(found: Recommendation, checks: tuple[Check, ...], command: str | None) -> str:
    from specviz.analysis.advisor.sentences import figure_text, headline, k_text, reason_text
    from specviz.servers.vllm.serving import version_note

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
        note = version_note(found.method)
        command = command or f"vLLM does not have {found.method.value}."
        lines += _block("Command", [command, *([note] if note else [])])
    if found.router is not None:
        lines += ["", found.router.toml().rstrip()]
    return "\n".join(lines)


def _block(title: str, lines: list[str]) -> list[str]:
    return ["", title, *(f"  {line}" for line in lines)] if lines else []
