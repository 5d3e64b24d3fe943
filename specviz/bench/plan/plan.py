"""A benchmark plan: which arms, prompts, loads and temperatures, how often, for how long.

Frozen data with its checks. `toml.py` reads and writes it, `schedule.py` lays it out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from specviz.analysis.arm_names import arm_names
from specviz.analysis.benchmark.results import Slo
from specviz.bench.load.load import Load
from specviz.bench.load.traffic import Traffic
from specviz.config import RunConfig, Sampling
from specviz.errors import UsageError
from specviz.methods import Method
from specviz.prompts.sets import PromptSource


class Grid(StrEnum):
    """How lists of loads and temperatures combine.

    `full`: every load at every temperature. `axes`: every load at the first temperature, every
    temperature at the first load, as the published tables do.
    """

    FULL = "full"
    AXES = "axes"


@dataclass(frozen=True, slots=True)
class PlanArm:
    """One arm: how it drafts and on what. `base_only`: measured at the first load and temperature
    only, as a K sweep usually is. The configuration's sampling and concurrency are the plan's.

    `server` is the name of a server of the fleet; its URL is in the configuration once the plan is
    `located`.
    """

    config: RunConfig
    base_only: bool = False
    server: str | None = None

    @property
    def starts_server(self) -> bool:
        """Whether specviz starts a server for it."""
        return self.server is None and self.config.starts_server


@dataclass(frozen=True, slots=True)
class Plan:
    """A benchmark as asked for. Raises UsageError for what cannot be measured.

    `loads` are steady and combined with `temperatures`; `traffic` changes and has temperatures of
    its own. `warmup`: unmeasured requests per arm, temperature and load. `repetitions`: how often
    every prompt is asked, and how many passes of each traffic are measured. `max_tokens`: longest
    answer; a prompt may ask for less. `time_budget_s`: no round begins after it; what is missing
    can be resumed. `servers_at_once`: how many servers specviz starts side by side, None: what the
    machine allows.
    """

    name: str
    arms: tuple[PlanArm, ...]
    prompts: PromptSource = field(default_factory=PromptSource)
    loads: tuple[Load, ...] = (Load(concurrency=1),)
    temperatures: tuple[float, ...] = (0.0,)
    traffic: tuple[Traffic, ...] = ()
    grid: Grid = Grid.FULL
    warmup: int = 5
    repetitions: int = 1
    max_tokens: int = 256
    slo: Slo = field(default_factory=Slo)
    time_budget_s: float | None = None
    servers_at_once: int | None = None
    seed: int = 20

    def __post_init__(self) -> None:
        if not self.arms:
            raise UsageError("The plan has no arms: add at least a baseline under [[arms]].")
        names = [traffic.name for traffic in self.traffic]
        if len(set(names)) < len(names):
            raise UsageError("Two [[traffic]] of the plan have one name: give each its own.")
        for name in ("loads", "temperatures"):
            values = getattr(self, name)
            if not values and not (name == "loads" and self.traffic):
                raise UsageError(f"The plan's {name} are empty: give at least one.")
            if len(set(values)) < len(values):
                raise UsageError(f"The plan names one of its {name} twice.")
        for temperature in self.temperatures:
            Sampling(temperature=temperature, max_tokens=self.max_tokens)
        _at_least(0, warmup=self.warmup)
        _at_least(1, repetitions=self.repetitions)
        if self.servers_at_once is not None:
            _at_least(1, servers_at_once=self.servers_at_once)
        if self.time_budget_s is not None and not self.time_budget_s > 0:
            raise UsageError("time_budget_minutes must be above 0.")
        if any(arm in self.arms[:index] for index, arm in enumerate(self.arms)):
            raise UsageError("Two arms of the plan are the same: leave one out.")

    @property
    def arm_names(self) -> tuple[str, ...]:
        """One name per arm, in the plan's order; an arm on a named server has its name first."""
        names = arm_names([arm.config for arm in self.arms], [arm.server for arm in self.arms])
        return tuple(names)

    @property
    def has_baseline(self) -> bool:
        return any(arm.config.method is Method.BASELINE for arm in self.arms)

    def cells(self, arm: PlanArm) -> tuple[tuple[float, Load | Traffic], ...]:
        """The temperatures and loads at which the arm is measured; of traffic, whose requests
        differ in theirs, the highest temperature."""
        changing = tuple((one.highest_temperature, one) for one in self.traffic)
        cells: tuple[tuple[float, Load | Traffic], ...] = (*self._steady_cells, *changing)
        return cells[:1] if arm.base_only else cells

    @property
    def _steady_cells(self) -> tuple[tuple[float, Load], ...]:
        if self.grid is Grid.FULL or not self.loads:
            return tuple((t, load) for t in self.temperatures for load in self.loads)
        at_base = tuple((self.temperatures[0], load) for load in self.loads)
        return (*at_base, *((t, self.loads[0]) for t in self.temperatures[1:]))


def _at_least(least: int, **values: int) -> None:
    for name, value in values.items():
        if value < least:
            raise UsageError(f"{name} must be at least {least}, not {value}.")
