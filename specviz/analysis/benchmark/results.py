"""The results of a benchmark, as tables, plots, the command line and JSON show them.

Frozen data only; `summary.py` computes it from the samples. A figure that the samples cannot
support is None, and `Cell.notes` says why.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from specviz.analysis.benchmark.disturbance import Disturbance
from specviz.analysis.benchmark.phases.figures import PhaseFigures
from specviz.analysis.k.optimum import Noise
from specviz.analysis.step_time.step_time import StepTime
from specviz.analysis.verdict import Verdict, no_interval_text, undecided_text, verdict_of


@dataclass(frozen=True, slots=True)
class Slo:
    """Service level objectives in ms; None: not asked for."""

    ttft_ms: float | None = None
    tpot_ms: float | None = None
    e2el_ms: float | None = None

    @property
    def is_set(self) -> bool:
        return any(limit is not None for limit in (self.ttft_ms, self.tpot_ms, self.e2el_ms))


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Linearly interpolated quantiles of `count` values."""

    count: int
    mean: float
    p50: float
    p90: float
    p95: float
    p99: float


@dataclass(frozen=True, slots=True)
class Speedup:
    """Baseline over method, paired per prompt: ratio of totals and its 95 % interval.

    `basis` is "time" where both arms gave the same output lengths, "time per token" where they did
    not (sampled answers). `excluded` prompts had no comparable pair. `low` and `high` are None for
    fewer prompts or blocks than an interval needs. `blocks`: what the interval counts as
    independent, prompts that shared a block as one; None: not known. `more_prompts` would decide
    it, 0 where it is decided, None where too many or nobody knows.
    """

    ratio: float
    low: float | None
    high: float | None
    prompts: int
    excluded: int
    basis: str
    blocks: int | None = None
    more_prompts: int | None = None
    verdict: Verdict = Verdict.UNDECIDED
    """Follows from the interval, whatever is given."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "verdict", verdict_of(self.low, self.high))

    @property
    def text(self) -> str:
        """`1.87× (1.66 to 2.05)`; the ratio alone where there is no interval."""
        if self.low is None or self.high is None:
            return f"{self.ratio:.2f}×"
        return f"{self.ratio:.2f}× ({self.low:.2f} to {self.high:.2f})"

    @property
    def with_verdict(self) -> str:
        """`1.87× (1.66 to 2.05), faster`."""
        return f"{self.text}, {self.verdict_text}"

    @property
    def verdict_text(self) -> str:
        """`faster`, `slower`, or what would decide it."""
        if self.low is None or self.high is None:
            return no_interval_text(self.prompts, self.blocks)
        if self.verdict is Verdict.UNDECIDED:
            return undecided_text(self.more_prompts)
        return self.verdict.value


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Acceptance of one cell. Rates are weighted by tokens, `…_request_mean` are means of requests.

    `mean_acceptance_length`: 1 + accepted / drafts. `alpha`: accepted / judged draft tokens, None
    where a request does not report what was judged. `acceptance_rate_per_pos[i]`: accepted at depth
    i + 1 / drafts; `conditional_acceptance_rate_per_pos[i]`: accepted there / steps
    that reached it.
    """

    draft_acceptance_rate: float
    draft_acceptance_rate_request_mean: float
    mean_acceptance_length: float
    mean_acceptance_length_request_mean: float
    alpha: float | None
    acceptance_rate_per_pos: tuple[float, ...]
    conditional_acceptance_rate_per_pos: tuple[float | None, ...]
    num_drafts: int
    num_draft_tokens: int
    num_accepted_tokens: int


@dataclass(frozen=True, slots=True)
class Cell:
    """One arm at one temperature and load: all categories together, or one of them.

    `arm` is the name shown, `arm_index` its place in the plan. `concurrency` is None for Poisson
    arrivals at `request_rate` per second. `step_ms` is the time between chunks: engine steps, not
    tokens. Throughput counts output tokens over the measured wall time, None per category where
    categories ran mixed (concurrency above 1). `request_goodput`: requests per second that met
    every SLO. `queue_ms`: how long requests waited in the client. `speedup` is None without a
    baseline of the same engine and model. `requests` finished, `failed` did not and are in no
    figure. Memory (largest) and GPU utilisation (mean, 0-1) are of the cell's rounds, which hold
    all categories. `step_time` is where the time of a step went, None where the engine does not
    report it. `plain_tpot_ms` is the time per token of the baseline measured alongside, longer
    answers weighing more; `step_time_text` compares the two in words.
    """

    arm: str
    arm_index: int
    method: str
    k: int | None
    engine: str
    draft: str | None
    category: str | None
    temperature: float
    concurrency: int | None
    request_rate: float | None
    prompts: int
    requests: int
    failed: int
    output_tokens: int | None
    ttft_ms: Quantiles | None
    tpot_ms: Quantiles | None
    step_ms: Quantiles | None
    e2el_ms: Quantiles | None
    queue_ms: Quantiles | None
    output_throughput: float | None
    request_throughput: float | None
    request_goodput: float | None
    acceptance: Acceptance | None
    speedup: Speedup | None
    memory_bytes: int | None
    memory_source: str | None
    gpu_utilization: float | None
    notes: tuple[str, ...] = ()
    disturbance: Disturbance | None = None
    """What else used the machine; None where nothing was recorded."""
    step_time: StepTime | None = None
    plain_tpot_ms: float | None = None
    step_time_text: str | None = None

    @property
    def load(self) -> str:
        """`concurrency 8`, or `2.5 requests/s`."""
        return load_text(self.concurrency, self.request_rate)


@dataclass(frozen=True, slots=True)
class CounterCheck:
    """Counts that the requests reported, next to those of the server's `/metrics` meanwhile.

    Sums over the rounds that both cover. `rounds_without`: rounds without a complete count
    (interrupted, or the server does not count).
    """

    arm: str
    arm_index: int
    num_drafts: int
    num_draft_tokens: int
    num_accepted_tokens: int
    server_drafts: int
    server_draft_tokens: int
    server_accepted_tokens: int
    rounds_without: int

    @property
    def agrees(self) -> bool:
        ours = (self.num_drafts, self.num_draft_tokens, self.num_accepted_tokens)
        return ours == (
            self.server_drafts,
            self.server_draft_tokens,
            self.server_accepted_tokens,
        )


@dataclass(frozen=True, slots=True)
class ArmState:
    """One arm of the plan as it ended: its name and what kept it from finishing, if anything.

    `prefix_caching`: off, salted (on, and kept out by a salt per request), None where the server
    does not report it. `start_s`: how long its server took to start.
    """

    arm: str
    arm_index: int
    engine: str
    method: str
    k: int | None
    model: str | None
    draft: str | None
    server: str | None
    prefix_caching: str | None
    start_s: float | None
    finished: int
    planned: int
    error: str | None
    baseline: int | None
    """Index of the arm it is compared with; None: the plan has no baseline for it."""


@dataclass(frozen=True, slots=True)
class Corrected:
    """A speed-up that was picked among several, corrected for that; see `Speedup` for the names."""

    ratio: float
    low: float | None
    high: float | None
    prompts: int
    more_prompts: int | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class KChoice:
    """Which of a method's measured `ks` at one place; `arms` by K. `category` None: all prompts.

    `equivalent_ks` are not worse than the fastest beyond noise, `k` is the smallest of them and
    `speedup` what it gains, corrected for the picking (`analysis/k/selection.py`). `noise` are the
    replicates behind it, not printed.
    """

    arms: tuple[int, ...]
    temperature: float
    concurrency: int | None
    request_rate: float | None
    category: str | None
    ks: tuple[int, ...]
    k: int
    equivalent_ks: tuple[int, ...]
    speedup: Corrected
    noise: Noise = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Results:
    """All results of a benchmark. `cells` are all categories together, `categories` each one, both
    at steady loads; `phases` are those of loads that changed."""

    arms: tuple[ArmState, ...]
    cells: tuple[Cell, ...]
    categories: tuple[Cell, ...]
    checks: tuple[CounterCheck, ...]
    notes: tuple[str, ...]
    k_choices: tuple[KChoice, ...] = ()
    phases: tuple[PhaseFigures, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; the keys are the field names."""
        found = asdict(self)
        for choice in found["k_choices"]:
            del choice["noise"]
        return found


def load_text(concurrency: int | None, request_rate: float | None) -> str:
    """`concurrency 8`, or `2.5 requests/s` where there is no concurrency."""
    if concurrency is not None:
        return f"concurrency {concurrency}"
    return f"{request_rate:g} requests/s"
