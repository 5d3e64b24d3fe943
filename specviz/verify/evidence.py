"""What both servers answered: all that the checks look at."""

from __future__ import annotations

from dataclasses import dataclass

from specviz.config import Prompt
from specviz.servers.client.probe import FoundServer
from specviz.servers.metrics import RequestTimes, SpecCounters
from specviz.trace import Trace


@dataclass(frozen=True, slots=True)
class Drawn:
    """One sampled answer; without ids where the server streams none."""

    token_ids: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Greedy:
    """One answer at temperature 0. `gaps`: by position, how far the most likely token was above the
    second, as a difference of log-probabilities; `moves`: by how much each of them changed where
    the server computed it again, among other requests. Both are empty where the server reports no
    log-probabilities."""

    prompt: Prompt
    trace: Trace
    gaps: tuple[float, ...] = ()
    moves: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Timing:
    """Requests one at a time, timed by the client; and by the server, None if it does not report
    its times: what its sums grew by during each.

    `round_trips_s`: one before each request, of a page that costs the server nothing.
    """

    client: tuple[RequestTimes, ...]
    server: tuple[RequestTimes, ...] | None
    round_trips_s: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class TracingCost:
    """Rounds of `batch` requests at once, traced and untraced in turn: seconds and output tokens of
    each round, [(untraced s, untraced tokens, traced s, traced tokens)]."""

    batch: int
    rounds: tuple[tuple[float, int, float, int], ...]


@dataclass(frozen=True, slots=True)
class Answered:
    """One server's answers; `sampled` [prompts, answers] is to the first of the greedy prompts."""

    server: FoundServer
    greedy: tuple[Greedy, ...]
    sampled: tuple[tuple[Drawn, ...], ...]


@dataclass(frozen=True, slots=True)
class Speculated:
    """What only the speculating server is asked: `traces` are all requests between the two readings
    of its counters (None: it has none), the greedy ones first; `output_tokens` is what it counted
    of all tokens between them."""

    answered: Answered
    traces: tuple[Trace, ...]
    before: SpecCounters | None
    after: SpecCounters | None
    timing: Timing
    tracing: tuple[TracingCost, ...] = ()
    output_tokens: int | None = None
