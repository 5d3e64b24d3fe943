"""Where requests per hour come from: measured here, published, or typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from specviz.analysis.benchmark.results import Cell, KChoice, Results
from specviz.analysis.cost.answer import Served
from specviz.analysis.cost.interval import Interval
from specviz.errors import UsageError
from specviz.methods import Method
from specviz.reference import published


@dataclass(frozen=True, slots=True)
class Way:
    """One way to serve: its name, its method, what it serves by concurrency (None: unknown)."""

    name: str
    method: str
    served: Mapping[int | None, Served]
    is_passed_over: bool = False
    """Another K of its method is not worse and smaller."""

    @property
    def output_throughput(self) -> dict[int, float]:
        """Output tokens per second by concurrency, where both are known."""
        return {
            at: served.output_throughput
            for at, served in self.served.items()
            if at is not None and served.output_throughput is not None
        }


@dataclass(frozen=True, slots=True)
class Basis:
    """A baseline and the techniques compared with it. `notes`: what the figures cannot say."""

    title: str
    baseline: Way
    techniques: tuple[Way, ...]
    notes: tuple[str, ...] = ()

    def technique(self, name: str) -> Way:
        """Raises UsageError for a technique that is not in it."""
        for way in self.techniques:
            if way.name == name:
                return way
        known = ", ".join(way.name for way in self.techniques)
        raise UsageError(f"There is no technique {name!r} in {self.title}: choose from {known}.")

    @property
    def cheapest(self) -> Way:
        """The technique that serves most at the smallest concurrency that is known of it."""

        def most(way: Way) -> float:
            offered = self.concurrencies(way)
            return way.served[offered[0]].requests_per_hour.value if offered else 0.0

        return max(self.picked, key=most)

    @property
    def picked(self) -> tuple[Way, ...]:
        """Of each method the K to use."""
        return tuple(way for way in self.techniques if not way.is_passed_over) or self.techniques

    def concurrencies(self, way: Way) -> list[int | None]:
        """Where a technique can be compared with the baseline, ascending."""
        both = way.served.keys() & self.baseline.served.keys()
        return sorted(both, key=lambda at: at or 0)


NO_INTERVAL = "Published without intervals: none can be carried through."
TYPED = "Typed figures have no interval."
OPEN_LOOP = "Requests that arrived at a fixed rate do not say how many could be served: left out."
LENGTHS = (
    "Sampled answers differ in length between techniques: requests per hour compare different "
    "work, $ per million tokens does not."
)
MEASURED_INTERVAL = (
    "Intervals: the relative 95 % interval of the speed-up, paired per prompt, applied to the "
    "technique's requests per hour; of a K that was picked among several, corrected for that."
)


def published_cost() -> Basis:
    """The documents' cost table: requests per hour at concurrency 8."""
    rows = published("cost")
    ways = [
        Way(name, method, {8: Served(Interval(float(rate)))})
        for name, method, rate in zip(
            rows["technique"], rows["method"], rows["requests_per_hour"], strict=True
        )
    ]
    notes = (NO_INTERVAL, "No throughput is given with these rows, so no $ per million tokens.")
    return Basis("the published cost table", ways[0], tuple(ways[1:]), notes)


def published_by_concurrency(tokens_per_request: float) -> Basis:
    """EAGLE-3 by concurrency. Baseline throughput is computed: throughput / speed-up.

    Requests per hour are throughput * 3600 / `tokens_per_request`. Raises UsageError for tokens
    that are not above 0.
    """
    check_tokens(tokens_per_request)
    rows = published("concurrency")
    arm = dict(zip(rows["concurrency"].astype(int), rows["throughput_tok_s"], strict=True))
    gain = dict(zip(rows["concurrency"].astype(int), rows["e2e_speedup"], strict=True))
    baseline = {at: tok_s / gain[at] for at, tok_s in arm.items()}
    notes = (
        NO_INTERVAL,
        "The document gives no baseline by concurrency: it is computed, throughput / speed-up.",
        f"Requests per hour: throughput x 3600 / {tokens_per_request:g} tokens per request.",
    )
    return Basis(
        "the published concurrency table",
        Way("Baseline", Method.BASELINE, _of_throughput(baseline, tokens_per_request)),
        (Way("EAGLE-3", Method.EAGLE3, _of_throughput(arm, tokens_per_request)),),
        notes,
    )


def typed(baseline: float, method: float, tokens_per_request: float | None) -> Basis:
    """Requests per hour as typed. Raises UsageError for figures that are not above 0."""
    if tokens_per_request is not None:
        check_tokens(tokens_per_request)

    def served(rate: float) -> Served:
        if not 0 < rate < float("inf"):
            raise UsageError(f"Requests per hour are above 0, not {rate:g}.")
        tok_s = None if tokens_per_request is None else rate * tokens_per_request / 3600
        return Served(Interval(rate), tok_s)

    return Basis(
        "typed figures",
        Way("Baseline", Method.BASELINE, {None: served(baseline)}),
        (Way("With speculation", "", {None: served(method)}),),
        (TYPED,),
    )


def measured(results: Results) -> tuple[Basis, ...]:
    """One basis per baseline and temperature of a benchmark that has something to compare."""
    found = []
    arms = {arm.arm_index: arm for arm in results.arms}
    cells = [cell for cell in results.cells if cell.request_throughput]
    for temperature in sorted({cell.temperature for cell in cells}):
        here = [cell for cell in cells if cell.temperature == temperature]
        for index in sorted({arm.baseline for arm in results.arms if arm.baseline is not None}):
            own = [cell for cell in here if arms[cell.arm_index].baseline == index]
            choices = [one for one in results.k_choices if one.temperature == temperature]
            title = f"{arms[index].arm}, temperature {temperature:g}"
            basis = _measured(own, index, title, choices)
            if basis is not None:
                found.append(basis)
    return tuple(found)


def _measured(
    cells: Sequence[Cell], baseline: int, title: str, choices: Sequence[KChoice]
) -> Basis | None:
    picked = {
        (arm, choice.concurrency): choice
        for choice in choices
        if choice.category is None
        for arm in choice.arms
    }
    closed = [cell for cell in cells if cell.concurrency is not None]
    ways = {
        index: Way(
            own[0].arm,
            own[0].method,
            {
                cell.concurrency: _served(cell, picked.get((index, cell.concurrency)))
                for cell in own
            },
            all(
                (choice := picked.get((index, cell.concurrency))) is not None and choice.k != cell.k
                for cell in own
            ),
        )
        for index in sorted({cell.arm_index for cell in closed})
        if (own := [cell for cell in closed if cell.arm_index == index])
    }
    techniques = tuple(way for index, way in ways.items() if index != baseline)
    if baseline not in ways or not techniques:
        return None
    notes = [MEASURED_INTERVAL]
    if len(closed) < len(cells):
        notes.append(OPEN_LOOP)
    if any(cell.speedup and cell.speedup.basis != "time" for cell in closed):
        notes.append(LENGTHS)
    return Basis(title, ways[baseline], techniques, tuple(notes))


def _served(cell: Cell, choice: KChoice | None) -> Served:
    """With the speed-up's relative interval: at a fixed concurrency the time that requests take
    and how many are served are inversely proportional (Little's law)."""
    assert cell.request_throughput is not None
    rate, speedup = 3600 * cell.request_throughput, cell.speedup
    if speedup is None or speedup.low is None or speedup.high is None:
        return Served(Interval(rate), cell.output_throughput)
    found = choice.speedup if choice is not None and choice.k == cell.k else speedup
    assert found.low is not None and found.high is not None
    per = rate / speedup.ratio
    tok_s = cell.output_throughput and cell.output_throughput * found.ratio / speedup.ratio
    return Served(Interval(per * found.ratio, per * found.low, per * found.high), tok_s)


def _of_throughput(tok_s: Mapping[int, float], tokens: float) -> dict[int | None, Served]:
    return {at: Served(Interval(each * 3600 / tokens), each) for at, each in tok_s.items()}


def check_tokens(tokens_per_request: float) -> None:
    """Raises UsageError for output tokens per request that are not above 0."""
    if not 0 < tokens_per_request < float("inf"):
        raise UsageError(f"Output tokens per request are above 0, not {tokens_per_request:g}.")


def published_training(method: str) -> tuple[float, bool]:
    """$ of one training and whether target updates need another; 0 and no where none is needed."""
    rows = published("training")
    own = rows[rows["method"] == method]
    if own.empty:
        return 0.0, False
    return float(own["training_cost_usd"].iloc[0]), own["retraining"].iloc[0] == "required"


def mean_tokens_of_the_mix() -> float:
    """Output tokens per request of the published prompts: the middle of each expected range."""
    mix = published("prompt_mix")
    middle = (mix["output_tokens_low"] + mix["output_tokens_high"]) / 2
    return float((mix["prompts"] * middle).sum() / mix["prompts"].sum())
