"""`specviz cost`: what speculation saves, as a table for people or as JSON for programs.

The JSON, in dollars; null where a figure is not known (`docs/schemas/cost.schema.json`):

    basis, concurrency, usd_per_hour, requests_per_day, notes
    measured_on  hardware of the benchmark; null for other bases
    price_source  offer of the price list that usd_per_hour is of; null if you gave the price
    baseline    name, requests_per_hour, usd_per_request, usd_per_million_tokens
    techniques  name, requests_per_hour, usd_per_request, usd_per_million_tokens,
                saving_per_request, saving_share (0-1), saving_per_month (retraining deducted): each
                of these value, low, high
                verdict: faster, slower or undecided; null without an interval
                training_usd, retrains, payback: outcome, requests, days
                break_even: pays (everywhere, nowhere, up to, from, changing), concurrencies; null
                without throughput at any concurrency
                sensitivity: name, low_input, high_input, saving_at_low, saving_at_high,
                by_interval; the widest first
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specviz.commands.options import DbOption, JsonOption
from specviz.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from specviz.analysis.cost.basis import Basis, Way

A100_PRICE, A100S = 3.26, 4


def cost(
    benchmark: Annotated[str | None, typer.Option(help="Id of a stored benchmark.")] = None,
    by_concurrency: Annotated[
        bool, typer.Option("--by-concurrency", help="Use the published concurrency table.")
    ] = False,
    baseline_rate: Annotated[
        float | None, typer.Option(help="Requests/h without speculation.")
    ] = None,
    rate: Annotated[float | None, typer.Option(help="Requests/h with speculation.")] = None,
    against: Annotated[
        str | None, typer.Option(help="Title of the baseline to compare with.")
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(help="Concurrency at which requests/h were measured.")
    ] = None,
    price: Annotated[
        float | None,
        typer.Option(
            help="$ per hour of one GPU, or of the machine that a benchmark was measured on "
            f"(default: {A100_PRICE}, an A100; of a benchmark, the list price of its GPUs)."
        ),
    ] = None,
    gpus: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=f"Number of GPUs (default: {A100S}; those a benchmark ran on, 1 with --price).",
        ),
    ] = None,
    requests_per_day: Annotated[float, typer.Option(help="Requests per day.")] = 50_000,
    training: Annotated[
        float | None,
        typer.Option(help="Cost of one training in $, for every technique (default: published)."),
    ] = None,
    updates: Annotated[float, typer.Option(help="Target model updates per year.")] = 4,
    tokens_per_request: Annotated[
        float | None, typer.Option(help="Output tokens per request.")
    ] = None,
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Calculate what speculation saves, when training is paid back, and where it costs money.

    Requests/h come from the published cost table, unless you give a benchmark, --by-concurrency or
    --rate.
    """
    from specviz.analysis.cost.basis import typed
    from specviz.analysis.cost.prices import gpu_prices

    measured_on, price_source = None, None if price is not None else gpu_prices()[0].cited
    if benchmark is not None:
        basis, measured_on = _stored(benchmark, against, db)
        price, gpus, price_source = _price_of(measured_on, price, gpus)
    elif by_concurrency:
        basis = _published_curve(tokens_per_request)
    elif rate is not None and baseline_rate is not None:
        basis = typed(baseline_rate, rate, tokens_per_request)
    elif rate is None and baseline_rate is None:
        basis = _published_table()
    else:
        raise UsageError(
            "Give --rate and --baseline-rate together: one is compared with the other."
        )
    at = _place(basis, concurrency)
    usd_per_hour = round((A100_PRICE if price is None else price) * (gpus or A100S), 9)
    found = _document(basis, at, usd_per_hour, requests_per_day, training, updates)
    found |= {"measured_on": measured_on, "price_source": price_source}
    if as_json:
        print(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        _print(found)


def _stored(benchmark: str, against: str | None, db: Path | None) -> tuple[Basis, str]:
    """The basis, and the hardware that it was measured on."""
    from specviz.analysis.benchmark.disturbance import disturbed_text
    from specviz.analysis.cost.basis import measured
    from specviz.bench.results import results_of
    from specviz.commands.benchmark.stored import store_with
    from specviz.store.benchmarks.reads import read_benchmark

    with store_with(benchmark, db) as store:
        hardware = store.read(read_benchmark, benchmark).hardware or "unknown hardware"
        results = results_of(store, benchmark)
    if disturbed := disturbed_text(results.cells):
        typer.echo(disturbed, err=True)
    bases = {basis.title: basis for basis in measured(results)}
    if not bases:
        raise UsageError(
            "This benchmark has no technique with a baseline at the same fixed concurrency: add an "
            "arm of method baseline to the plan."
        )
    if against is None:
        return next(iter(bases.values())), hardware
    if against not in bases:
        raise UsageError(f"There is no baseline {against!r}: choose from {'; '.join(bases)}.")
    return bases[against], hardware


def _price_of(
    hardware: str, price: float | None, gpus: int | None
) -> tuple[float, int, str | None]:
    """$ per hour, of how many, and from where: as given, else the list price of the hardware that
    was measured. Raises UsageError where it has none."""
    from specviz.analysis.cost.prices import list_price

    if price is not None:
        return price, gpus or 1, None
    found = list_price(hardware)
    if found is None:
        raise UsageError(
            f"There is no list price of {hardware}, on which this was measured: give --price, what "
            "an hour of it costs you."
        )
    offer, count = found
    assert offer.usd_per_gpu_hour is not None
    return offer.usd_per_gpu_hour, gpus or count, offer.cited


def _published_table() -> Basis:
    from specviz.analysis.cost.basis import published_cost

    return published_cost()


def _published_curve(tokens_per_request: float | None) -> Basis:
    from specviz.analysis.cost.basis import mean_tokens_of_the_mix, published_by_concurrency

    tokens = mean_tokens_of_the_mix() if tokens_per_request is None else tokens_per_request
    return published_by_concurrency(tokens)


def _place(basis: Basis, concurrency: int | None) -> int | None:
    """The concurrency asked for, else 8 as in the published table, else the smallest."""
    offered = sorted(
        {at for way in basis.techniques for at in basis.concurrencies(way)}, key=lambda at: at or 0
    )
    if not offered:
        raise UsageError("No technique was measured at a concurrency of its baseline.")
    if concurrency is None:
        return 8 if 8 in offered else offered[0]
    if concurrency not in offered:
        names = ", ".join("not reported" if at is None else str(at) for at in offered)
        raise UsageError(f"There is no concurrency {concurrency}: choose from {names}.")
    return concurrency


def _document(
    basis: Basis,
    at: int | None,
    usd_per_hour: float,
    requests_per_day: float,
    training_usd: float | None,
    updates: float,
) -> dict[str, Any]:
    from specviz.analysis.cost.answer import Question, answer
    from specviz.analysis.cost.basis import published_training
    from specviz.analysis.cost.payback import Training

    baseline = basis.baseline.served[at]
    techniques = []
    for way in (way for way in basis.techniques if at in way.served):
        usd, retrains = published_training(way.method)
        if training_usd is not None:
            usd, retrains = training_usd, retrains or not way.method
        training = Training(usd, updates, retrains)
        asked = Question(usd_per_hour, baseline, way.served[at], requests_per_day, training)
        techniques.append(_technique(basis, way, asked))
    alone = answer(Question(usd_per_hour, baseline, baseline, requests_per_day))
    return {
        "basis": basis.title,
        "concurrency": at,
        "usd_per_hour": usd_per_hour,
        "requests_per_day": requests_per_day,
        "notes": list(basis.notes),
        "baseline": {
            "name": basis.baseline.name,
            "requests_per_hour": baseline.requests_per_hour.value,
            "usd_per_request": alone.baseline_per_request,
            "usd_per_million_tokens": alone.baseline_per_million_tokens,
        },
        "techniques": techniques,
    }


def _technique(basis: Basis, way: Way, asked: Any) -> dict[str, Any]:
    from dataclasses import asdict

    from specviz.analysis.cost.answer import answer
    from specviz.analysis.cost.load import break_even
    from specviz.analysis.cost.sensitivity import swings

    found = answer(asked)
    crossing = break_even(basis.baseline.output_throughput, way.output_throughput)
    return {
        "name": way.name,
        "requests_per_hour": asdict(asked.method.requests_per_hour),
        "usd_per_request": asdict(found.per_request),
        "usd_per_million_tokens": found.per_million_tokens and asdict(found.per_million_tokens),
        "saving_per_request": asdict(found.saving_per_request),
        "saving_share": asdict(found.saving_share),
        "saving_per_month": asdict(found.saving_per_month),
        "training_usd": asked.training.usd,
        "retrains": asked.training.retrains,
        "verdict": found.verdict,
        "payback": asdict(found.payback),
        "break_even": crossing
        and {
            "pays": crossing.pays,
            "concurrencies": [point.concurrency for point in crossing.crossings],
        },
        "sensitivity": [asdict(swing) for swing in swings(asked)],
    }


def _print(found: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from specviz.analysis.cost.interval import Interval
    from specviz.analysis.cost.payback import Outcome, Payback
    from specviz.analysis.text import digits, dollars, dollars_with, percent_with

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=140)
    at = "" if found["concurrency"] is None else f", concurrency {found['concurrency']}"
    console.print(Text(f"Requests/h of {found['basis']}{at}, ${found['usd_per_hour']:,.6g}/h"))
    table = Table(box=None, pad_edge=False, header_style="dim")
    names = (
        "technique",
        "requests/h",
        "per request",
        "saving",
        "per month",
        "verdict",
        "training",
        "paid back",
    )
    for name in names:
        table.add_column(
            name, justify="left" if name in ("technique", "verdict", "paid back") else "right"
        )
    base = found["baseline"]
    table.add_row(
        Text(base["name"]), digits(base["requests_per_hour"]), dollars(base["usd_per_request"])
    )
    for each in found["techniques"]:
        paid = Payback(**{**each["payback"], "outcome": Outcome(each["payback"]["outcome"])})
        table.add_row(
            Text(each["name"]),
            digits(each["requests_per_hour"]["value"]),
            dollars_with(Interval(**each["usd_per_request"])),
            percent_with(Interval(**each["saving_share"])),
            dollars_with(Interval(**each["saving_per_month"])),
            each["verdict"] or "",
            dollars(each["training_usd"]),
            paid.text,
        )
    console.print(table)
    if found["measured_on"]:
        console.print(Text(f"Measured on {found['measured_on']}."), style="dim")
    if found["price_source"]:
        console.print(Text(f"Price: {found['price_source']}."), style="dim")
    for note in found["notes"]:
        console.print(Text(note), style="dim")
