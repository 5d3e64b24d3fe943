"""What a benchmark says about speculating: its speed-ups where they were measured, nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from specviz.analysis.advisor.evidence import Evidence, Figure, Kind
from specviz.analysis.benchmark.results import Cell, KChoice, Results, Speedup
from specviz.analysis.k.optimum import PLATEAU
from specviz.analysis.text import digits
from specviz.methods import Method


@dataclass(frozen=True, slots=True)
class Option:
    """One arm that drafts, at one temperature and load, with its baseline.

    `category` None: all kinds of text. `memory_bytes` is what `memory_source` says. Where several
    Ks were measured, `speedup` of the one to use is corrected for the picking, `equivalent_ks` are
    not worse beyond noise, and the others are passed over.
    """

    arm: str
    engine: str
    method: Method
    k: int | None
    draft: str | None
    temperature: float
    concurrency: int
    category: str | None
    speedup: Speedup
    acceptance: float | None
    tpot_p95_ms: float | None
    output_throughput: float | None
    request_throughput: float | None
    memory_bytes: int | None
    memory_source: str | None
    equivalent_ks: tuple[int, ...] = ()
    is_passed_over: bool = False

    @property
    def gains(self) -> bool | None:
        """Whether it is faster than plain decoding; None where the interval contains 1."""
        low, high = self.speedup.low, self.speedup.high
        if low is None or high is None:
            return None
        return True if low > 1 else (False if high < 1 else None)

    @property
    def family(self) -> tuple[str, Method, str | None]:
        """What arms have in common that differ in K only."""
        return self.engine, self.method, self.draft

    @property
    def place(self) -> str:
        """`temperature 0, concurrency 4`, and the kind of text if it is of one."""
        text = f", {self.category}" if self.category else ""
        return f"temperature {self.temperature:g}, concurrency {self.concurrency}{text}"


@dataclass(frozen=True, slots=True)
class Measured:
    """The options of one benchmark. `source` names it: `benchmark "K sweep" (579e9660)`."""

    source: str
    options: tuple[Option, ...]

    def evidence(self, option: Option) -> Evidence:
        return Evidence(Kind.MEASURED, f"{self.source}, {option.arm}, {option.place}")


def measured_of(results: Results, source: str) -> Measured:
    """Every cell with a speed-up and a concurrency; of a method that the server names."""
    cells = [*results.cells, *results.categories]
    found = (_option(cell) for cell in cells if _counts(cell))
    choice_of = {
        (arm, *_place(choice)): choice for choice in results.k_choices for arm in choice.arms
    }
    arms = [cell.arm_index for cell in cells if _counts(cell)]
    return Measured(
        source,
        tuple(
            _picked(option, choice_of.get((arm, *_place(option))))
            for arm, option in zip(arms, found, strict=True)
        ),
    )


def _place(of: KChoice | Option) -> tuple[float, int | None, str | None]:
    return of.temperature, of.concurrency, of.category


def _picked(option: Option, choice: KChoice | None) -> Option:
    if choice is None:
        return option
    if option.k != choice.k:
        return replace(option, is_passed_over=True)
    found = choice.speedup
    corrected = replace(
        option.speedup,
        ratio=found.ratio,
        low=found.low,
        high=found.high,
        more_prompts=found.more_prompts,
    )
    return replace(option, speedup=corrected, equivalent_ks=choice.equivalent_ks)


def options_at(
    measured: Measured, temperature: float | None, concurrency: int | None, category: str | None
) -> tuple[Option, ...]:
    """The options at a load, or at the next higher one that was measured; () beyond those.

    Gains shrink with temperature and concurrency, so the next higher one never promises too
    much. None asks for the lowest that was measured; a category with too few prompts for an
    interval, for all texts.
    """
    options = measured.options
    for wanted in ([category] if category else []) + [None]:
        of_text = [
            one
            for one in options
            if one.category == wanted and (wanted is None or one.speedup.low is not None)
        ]
        at = _at_or_above(of_text, temperature, concurrency)
        if at:
            return at
    return ()


def best(options: Sequence[Option], slo: str | None, tpot_ms: float | None) -> Option | None:
    """The best option for the aim; None if there is none, or none keeps the TPOT limit.

    Of several Ks the one to use is considered, see `Option`, and another only where no such one
    keeps the limit. Throughput and cost go by requests per second where they were measured for
    every option; everything else by speed-up.
    """
    fast = [one for one in options if slo != "tpot" or tpot_ms is None or _keeps(one, tpot_ms)]
    kept = [one for one in fast if not one.is_passed_over] or fast
    rates = [one.request_throughput for one in kept]
    if slo in ("throughput", "cost") and all(rate is not None for rate in rates):
        return max(kept, key=lambda one: one.request_throughput or 0.0, default=None)
    return max(kept, key=lambda one: one.speedup.ratio, default=None)


def plateau(options: Sequence[Option], chosen: Option) -> tuple[int, int] | None:
    """The smallest and largest K of the method that are as good: beyond noise, or within `PLATEAU`
    of its best speed-up where noise is not known."""
    if not chosen.k:
        return None
    if chosen.equivalent_ks:
        return min(chosen.equivalent_ks), max(chosen.equivalent_ks)
    same = [one for one in options if one.family == chosen.family]
    top = max(one.speedup.ratio for one in same)
    good = [one.k for one in same if one.k and one.speedup.ratio >= (1 - PLATEAU) * top]
    return min(*good, chosen.k), max(*good, chosen.k)


def interval_text(speedup: Speedup) -> str:
    """`1.32× to 1.74× (1.52×)`, or that there are too few prompts for an interval."""
    if speedup.low is None or speedup.high is None:
        return f"{digits(speedup.ratio)}×, too few prompts for an interval"
    return f"{digits(speedup.low)}× to {digits(speedup.high)}× ({digits(speedup.ratio)}×)"


def figures_of(measured: Measured, option: Option) -> tuple[Figure, ...]:
    """What was measured for an option, as expected figures."""
    memory = f"memory ({option.memory_source})" if option.memory_source else "memory"
    bytes_ = option.memory_bytes
    source, ratio = measured.evidence(option), option.speedup
    known = (
        ("acceptance rate", option.acceptance, ""),
        ("TPOT P95", option.tpot_p95_ms, "ms"),
        ("throughput", option.output_throughput, "tok/s"),
        ("requests", option.request_throughput, "per s"),
        (memory, None if bytes_ is None else bytes_ / 1e9, "GB"),
    )
    return (
        Figure("speed-up", ratio.ratio, "×", source, ratio.low, ratio.high),
        *(Figure(name, value, unit, source) for name, value, unit in known if value is not None),
    )


def _at_or_above(
    options: Sequence[Option], temperature: float | None, concurrency: int | None
) -> tuple[Option, ...]:
    warm = sorted({one.temperature for one in options if one.temperature >= (temperature or 0.0)})
    for at in warm[:1]:
        rows = [one for one in options if one.temperature == at]
        loads = sorted({one.concurrency for one in rows if one.concurrency >= (concurrency or 1)})
        return tuple(one for one in rows if loads and one.concurrency == loads[0])
    return ()


def _keeps(option: Option, limit_ms: float) -> bool:
    return option.tpot_p95_ms is not None and option.tpot_p95_ms <= limit_ms


def _counts(cell: Cell) -> bool:
    drafts = cell.method in set(Method) and cell.method != Method.BASELINE
    return drafts and cell.speedup is not None and cell.concurrency is not None


def _option(cell: Cell) -> Option:
    assert cell.speedup is not None and cell.concurrency is not None
    return Option(
        arm=cell.arm,
        engine=cell.engine,
        method=Method(cell.method),
        k=cell.k,
        draft=cell.draft,
        temperature=cell.temperature,
        concurrency=cell.concurrency,
        category=cell.category,
        speedup=cell.speedup,
        acceptance=cell.acceptance.draft_acceptance_rate if cell.acceptance else None,
        tpot_p95_ms=cell.tpot_ms.p95 if cell.tpot_ms else None,
        output_throughput=cell.output_throughput,
        request_throughput=cell.request_throughput,
        memory_bytes=cell.memory_bytes,
        memory_source=cell.memory_source,
    )
