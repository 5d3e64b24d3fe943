"""Traffic: a load that changes in phases, with temperatures that are mixed.

All arms get the same requests in the same phases, so that they can be compared pass by pass.
`places.py` draws the requests of a pass, `block.py` sends them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from specviz.bench.load.load import Load
from specviz.config import Sampling
from specviz.errors import UsageError

MAX_PHASES = 100
MAX_REQUESTS = 10_000
"""In one pass."""
MAX_ARRIVALS = 1_000
"""Of a recorded file: a plan holds them all."""
DEFAULT_PHASE_S = 60.0
REQUESTS_PER_STREAM = 4
"""A phase of a ramp sends this many times its concurrency."""


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of steady load: a concurrency for so many `requests`, or a request rate for so many
    `seconds`. There is no pause before the next phase: what is in flight goes on."""

    load: Load
    requests: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.load.concurrency is not None:
            if self.requests is None or self.seconds is not None:
                raise UsageError("A phase with a concurrency needs requests, and no seconds.")
            if not self.load.concurrency <= self.requests <= MAX_REQUESTS:
                raise UsageError(
                    f"A phase at concurrency {self.load.concurrency} needs from "
                    f"{self.load.concurrency} to {MAX_REQUESTS:,} requests, not {self.requests}."
                )
        else:
            if self.seconds is None or self.requests is not None:
                raise UsageError("A phase with a request_rate needs seconds, and no requests.")
            if not 0 < self.seconds < math.inf or not 1 <= self.count <= MAX_REQUESTS:
                raise UsageError(
                    f"A phase of {self.seconds:g} s at {self.load.title} must have from 1 to "
                    f"{MAX_REQUESTS:,} requests."
                )

    @property
    def count(self) -> int:
        """Requests of the phase."""
        if self.requests is not None:
            return self.requests
        assert self.load.request_rate is not None
        assert self.seconds is not None
        return round(min(self.load.request_rate * self.seconds, MAX_REQUESTS + 1))


@dataclass(frozen=True, slots=True)
class Arrival:
    """A request of a recorded file, `at_s` seconds after the first second of the record. Without
    a temperature it draws one; without a category it asks any prompt."""

    at_s: float
    temperature: float | None = None
    category: str | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.at_s < math.inf:
            raise UsageError(f"An arrival must be 0 s or more after the start, not {self.at_s:g}.")
        if self.temperature is not None:
            Sampling(temperature=self.temperature)


@dataclass(frozen=True, slots=True)
class Traffic:
    """Either `phases`, or recorded `arrivals` that are summarised in windows of `phase_s`.

    Requests draw one of `temperatures`, equally often in each phase. Raises UsageError for what
    cannot be sent.
    """

    name: str
    phases: tuple[Phase, ...] = ()
    temperatures: tuple[float, ...] = (0.0,)
    arrivals: tuple[Arrival, ...] = ()
    phase_s: float = DEFAULT_PHASE_S

    def __post_init__(self) -> None:
        if bool(self.phases) == bool(self.arrivals):
            raise UsageError(f"The traffic {self.name} needs phases or recorded arrivals.")
        if not self.temperatures or len(set(self.temperatures)) < len(self.temperatures):
            raise UsageError(
                f"The temperatures of the traffic {self.name} must be different and at least one."
            )
        for temperature in self.temperatures:
            Sampling(temperature=temperature)
        if len(self.arrivals) > MAX_ARRIVALS:
            raise UsageError(
                f"The traffic {self.name} has {len(self.arrivals):,} arrivals: a plan holds up to "
                f"{MAX_ARRIVALS:,}, so cut the file."
            )
        if any(later.at_s < earlier.at_s for earlier, later in pairwise(self.arrivals)):
            raise UsageError(f"The arrivals of {self.name} must be in the order of their times.")
        if not 0 < self.phase_s < math.inf:
            raise UsageError(f"phase_s of {self.name} must be above 0, not {self.phase_s:g}.")
        if len(self.phase_titles) > MAX_PHASES or self.count > MAX_REQUESTS:
            raise UsageError(
                f"The traffic {self.name} has {len(self.phase_titles)} phases and {self.count:,} "
                f"requests per pass: up to {MAX_PHASES} and {MAX_REQUESTS:,} can be measured."
            )

    @property
    def title(self) -> str:
        return self.name

    @property
    def concurrency(self) -> None:
        """It has none of its own: its phases have."""
        return None

    @property
    def request_rate(self) -> None:
        return None

    @property
    def highest_temperature(self) -> float:
        """Of all requests."""
        recorded = (one.temperature for one in self.arrivals if one.temperature is not None)
        return max(*self.temperatures, *recorded, 0.0)

    @property
    def phase_titles(self) -> tuple[str, ...]:
        """`concurrency 4` and the like, in order; of recorded arrivals `60 to 120 s`."""
        if self.phases:
            return tuple(phase.load.title for phase in self.phases)
        windows = int(self.arrivals[-1].at_s // self.phase_s) + 1
        edges = [number * self.phase_s for number in range(min(windows, MAX_PHASES + 1) + 1)]
        return tuple(f"{first:g} to {last:g} s" for first, last in pairwise(edges))

    @property
    def seconds(self) -> tuple[float | None, ...]:
        """How long each phase lasts; None: until its requests have been sent."""
        if self.phases:
            return tuple(phase.seconds for phase in self.phases)
        return (self.phase_s,) * len(self.phase_titles)

    @property
    def most_at_once(self) -> int:
        """The highest concurrency of its phases."""
        return max((phase.load.most_at_once for phase in self.phases), default=1)

    @property
    def count(self) -> int:
        """Requests of one pass."""
        return len(self.arrivals) or sum(phase.count for phase in self.phases)


def ramp(ends: Sequence[int], requests_per_stream: int = REQUESTS_PER_STREAM) -> tuple[Phase, ...]:
    """Phases from one concurrency to the next, doubled or halved on the way.

    >>> [phase.load.concurrency for phase in ramp([1, 6, 2])]
    [1, 2, 4, 6, 3, 2]
    """
    if len(ends) < 2 or any(end < 1 for end in ends):
        raise UsageError("A ramp needs two concurrencies or more, such as [1, 16, 1].")
    steps = [ends[0]]
    for end in ends[1:]:
        if end == steps[-1]:
            raise UsageError(f"The ramp {list(ends)} stays at {end}: leave one of them out.")
        while steps[-1] != end:
            step = steps[-1]
            steps.append(min(2 * step, end) if end > step else max(step // 2, end))
    return tuple(Phase(Load(concurrency=step), step * requests_per_stream) for step in steps)
