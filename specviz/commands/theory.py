"""`specviz theory`: the formulae of speculative decoding, for people or as JSON for programs.

The JSON has one object per question that was asked, null for the others:

    formula   alpha, k, cost → mean_acceptance_length (tokens per step), step_cost (plain steps),
              speedup, best_k, best_speedup, break_even_alpha (null: not even an alpha of 1 pays)
    positions acceptance_rate_per_pos, k (their number), cost → mean_acceptance_length, speedup
    roofline  parameters, bytes_per_parameter, bandwidth_gb_s, peak_tflops, kv_bytes, gpus, batch →
              weights_bytes, memory_ms, compute_ms, step_ms, output_throughput, compute_utilisation,
              critical_batch, critical_batch_verifying, and with --alpha: speedup,
              last_gaining_batch (null: it gains at every batch). Without peak compute, what
              depends on it is null and step_ms is the memory time alone
    rejection target_probs, draft_probs (both scaled to 1) → acceptance, total_variation,
              residual (null: nothing is ever rejected)
    k         benchmark, method, temperature, concurrency, category, memory_gb → benchmark_id,
              method, engine, place, sources: "measured here", "redrafted exactly", "predicted from
              one run", each with note, best_k, best_speedup, plateau (Ks as good) and ks: k,
              memory_gb, speedup (ratio, low, high, or null), and tpot_ms, mean_acceptance_length,
              draft_acceptance_rate (each value, low, high, or null)

The schema is `docs/schemas/theory.schema.json`.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specviz.commands.options import K_HELP, DbOption, JsonOption
from specviz.errors import UsageError

if TYPE_CHECKING:
    from specviz.analysis.hardware import Precision
    from specviz.store import Location

UNITS = {
    "mean_acceptance_length": "tokens per step",
    "acceptance_rate_per_pos": "acceptance by position",
    "step_cost": "step cost, plain steps",
    "speedup": "speed-up, ×",
    "best_speedup": "speed-up with it, ×",
    "bandwidth_gb_s": "bandwidth, GB/s",
    "peak_tflops": "peak compute, TFLOPS",
    "memory_ms": "memory alone, ms",
    "compute_ms": "compute alone, ms",
    "step_ms": "plain step, ms",
    "output_throughput": "plain decoding, tok/s",
    "critical_batch": "memory-bound up to batch",
    "critical_batch_verifying": "verification memory-bound up to batch",
    "last_gaining_batch": "speculation gains up to batch",
}
"""Labels of figures in the table; the others are labelled by their JSON name."""

Alpha = Annotated[
    float | None, typer.Option(help="Share of judged draft tokens that are accepted, 0-1.")
]
Rates = Annotated[
    str | None, typer.Option(help="Unconditional acceptance by position, such as 0.9,0.8,0.7.")
]
GpuName = Annotated[
    str | None, typer.Option(help="Take bandwidth and compute from this GPU in the table.")
]


def theory(
    alpha: Alpha = None,
    k: Annotated[int, typer.Option(help=K_HELP)] = 5,
    cost: Annotated[float, typer.Option(help="Cost of a draft token, in plain steps.")] = 0.05,
    rates: Rates = None,
    parameters: Annotated[
        float | None, typer.Option(help="Parameters of the target, such as 70e9.")
    ] = None,
    bytes_: Annotated[float, typer.Option("--bytes", help="Bytes per parameter.")] = 2.0,
    gpu: GpuName = None,
    gpus: Annotated[int, typer.Option(min=1, help="Number of GPUs (tensor parallel).")] = 1,
    bandwidth: Annotated[
        float | None, typer.Option(help="Memory bandwidth of one GPU, GB/s.")
    ] = None,
    peak: Annotated[
        float | None, typer.Option(help="Peak dense compute of one GPU, TFLOPS.")
    ] = None,
    kv_bytes: Annotated[float, typer.Option(help="KV cache of one sequence, bytes.")] = 0.0,
    batch: Annotated[int, typer.Option(help="Batch size: sequences decoded at once.")] = 1,
    target_probs: Annotated[
        str | None, typer.Option(help="Target probabilities, such as 0.5,0.3,0.2.")
    ] = None,
    draft_probs: Annotated[
        str | None, typer.Option(help="Draft probabilities, such as 0.4,0.4,0.2.")
    ] = None,
    benchmark: Annotated[
        str | None, typer.Option(help="Id of a stored benchmark: the best K from each source.")
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="Method in the benchmark (default: the one with most Ks).")
    ] = None,
    temperature: Annotated[float, typer.Option(help="Temperature in the benchmark.")] = 0.0,
    concurrency: Annotated[int, typer.Option(help="Concurrency in the benchmark.")] = 1,
    category: Annotated[
        str | None, typer.Option(help="Prompt category in the benchmark (default: all).")
    ] = None,
    memory_gb: Annotated[
        float | None, typer.Option(help="Memory available for drafting, GB.")
    ] = None,
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Calculate tokens per step, speed-up, best K, roofline or rejection sampling."""
    if (target_probs is None) != (draft_probs is None):
        raise UsageError("Give both --target-probs and --draft-probs, or neither.")
    found = {
        "formula": None if alpha is None else _formula(alpha, k, cost),
        "positions": None if rates is None else _positions(_numbers("--rates", rates), cost),
        "roofline": None,
        "rejection": None,
        "k": None,
    }
    if parameters is not None:
        bandwidth, peak = _machine(gpu, bytes_, bandwidth, peak)
        machine = (bandwidth * gpus, None if peak is None else peak * gpus)
        model = (parameters, bytes_, kv_bytes)
        found["roofline"] = _roofline(model, machine, batch, alpha, k, cost) | {"gpus": gpus}
    elif gpu is not None or bandwidth is not None:
        raise UsageError("The roofline needs the model's size: give --parameters, as 70e9.")
    if target_probs is not None and draft_probs is not None:
        found["rejection"] = _rejection(
            _numbers("--target-probs", target_probs), _numbers("--draft-probs", draft_probs)
        )
    if benchmark is not None:
        place = (category, temperature, concurrency)
        found["k"] = _stored_k(benchmark, method, place, memory_gb, db)
    if not any(found.values()):
        raise UsageError(
            "Give at least one of --alpha, --rates, --parameters, --target-probs and --benchmark."
        )
    print(json.dumps(found, ensure_ascii=False, indent=2)) if as_json else _print(found)


def _formula(alpha: float, k: int, cost: float) -> dict[str, Any]:
    from specviz.analysis.theory import theory

    best = theory.best_k(alpha, cost)
    return {
        "alpha": alpha,
        "k": k,
        "cost": cost,
        "mean_acceptance_length": theory.expected_tokens(alpha, k),
        "step_cost": theory.step_cost(k, cost),
        "speedup": theory.speedup(alpha, k, cost),
        "best_k": best,
        "best_speedup": theory.speedup(alpha, best, cost),
        "break_even_alpha": theory.break_even_alpha(k, cost),
    }


def _positions(rates: list[float], cost: float) -> dict[str, Any]:
    from specviz.analysis.theory import theory

    if not all(0.0 <= rate <= 1.0 for rate in rates):
        raise UsageError("--rates are shares from 0 to 1.")
    if any(later > earlier for earlier, later in pairwise(rates)):
        raise UsageError("--rates cannot rise with the position: give unconditional acceptance.")
    k = len(rates)
    tokens = theory.expected_tokens_by_position(rates)
    return {
        "acceptance_rate_per_pos": rates,
        "k": k,
        "cost": cost,
        "mean_acceptance_length": tokens,
        "speedup": tokens / theory.step_cost(k, cost),
    }


def _machine(
    gpu: str | None, bytes_: float, bandwidth: float | None, peak: float | None
) -> tuple[float, float | None]:
    """Options win over the table. One byte per parameter means fp8, not int8."""
    from specviz.analysis import hardware

    if gpu is not None:
        found = hardware.gpu(gpu)
        precision: Precision | None = {
            2.0: hardware.Precision.BF16,
            1.0: hardware.Precision.FP8,
        }.get(bytes_)
        bandwidth = found.bandwidth_gb_s if bandwidth is None else bandwidth
        if peak is None and precision is not None:
            peak = found.peak_tflops.get(precision)
    if bandwidth is None:
        raise UsageError("The roofline needs memory bandwidth: give --bandwidth in GB/s, or --gpu.")
    return bandwidth, peak


def _roofline(
    model: tuple[float, float, float],
    machine: tuple[float, float | None],
    batch: int,
    alpha: float | None,
    k: int,
    cost: float,
) -> dict[str, Any]:
    """`model`: parameters, bytes per parameter, KV bytes; `machine`: GB/s, TFLOPS or None."""
    from specviz.analysis.theory.roofline import Roofline, check_batch

    (parameters, bytes_, kv_bytes), (bandwidth, peak) = model, machine
    check_batch(batch)
    # without peak compute any value will do: nothing that depends on it is reported
    found = Roofline(parameters, bytes_, bandwidth, 1.0 if peak is None else peak, kv_bytes)
    known = peak is not None
    step_ms = found.step_ms(batch) if known else found.memory_ms(batch)
    gains = known and alpha is not None
    return {
        "parameters": parameters,
        "bytes_per_parameter": bytes_,
        "bandwidth_gb_s": bandwidth,
        "peak_tflops": peak,
        "kv_bytes": kv_bytes,
        "batch": batch,
        "weights_bytes": found.weights_bytes,
        "memory_ms": found.memory_ms(batch),
        "compute_ms": found.compute_ms(batch) if known else None,
        "step_ms": step_ms,
        "output_throughput": batch / step_ms * 1000,
        "compute_utilisation": found.utilisation(batch) if known else None,
        "critical_batch": found.critical_batch() if known else None,
        "critical_batch_verifying": found.critical_batch(k + 1) if known else None,
        "speedup": found.speedup(alpha or 0.0, k, cost, batch) if gains else None,
        "last_gaining_batch": found.last_gaining_batch(alpha or 0.0, k, cost) if gains else None,
    }


def _rejection(target: list[float], draft: list[float]) -> dict[str, Any]:
    from specviz.analysis.theory import rejection

    target_probs = rejection.normalised(target, "--target-probs")
    draft_probs = rejection.normalised(draft, "--draft-probs")
    residual = rejection.residual(target_probs, draft_probs)
    return {
        "target_probs": target_probs.tolist(),
        "draft_probs": draft_probs.tolist(),
        "acceptance": rejection.acceptance(target_probs, draft_probs),
        "total_variation": rejection.total_variation(target_probs, draft_probs),
        "residual": None if residual is None else residual.tolist(),
    }


def _stored_k(
    benchmark: str,
    method: str | None,
    place: tuple[str | None, float, int],
    memory_gb: float | None,
    db: Location | None,
) -> dict[str, Any]:
    from specviz.commands.benchmark.stored import store_with
    from specviz.sweep.answer import k_answer
    from specviz.sweep.curves import Place

    with store_with(benchmark, db) as store:
        return k_answer(store, benchmark, method, Place(*place), memory_gb)


def _numbers(option: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"{option} {text!r} is not a list of numbers like 0.5,0.3,0.2.") from None


def _print(found: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    for name, figures in found.items():
        if figures is None:
            continue
        if name == "k":
            figures = {
                source: f"K {one['best_k']}, {one['best_speedup']:.2f}×, {one['verdict']} "
                f"(as good: {one['plateau']})"
                for source, one in figures["sources"].items()
                if one["best_k"] is not None
            }
        table = Table(title=name, title_justify="left", box=None, show_header=False)
        table.add_column(style="dim")
        table.add_column(justify="right")
        for label, value in figures.items():
            table.add_row(UNITS.get(label, label.replace("_", " ")), _text(value))
        console.print(table)


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, list):
        return ", ".join(f"{one:.3g}" for one in value)
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
