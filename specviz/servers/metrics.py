"""What a server's `/metrics` page reports: speculation counters and load.

Counters are cumulative and server-wide, so only the difference between two snapshots means
anything, and only while nobody else uses the server.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample as MetricSample

from specviz.errors import MalformedReply
from specviz.servers.checked import count, number, shown

MAX_TOTAL = 2**53
"""The largest count that a metrics page can show exactly."""

MAX_POSITION = 1024
"""Of a draft token."""


@dataclass(frozen=True, slots=True)
class SpecCounters:
    """Counts since the server started, summed over its engines."""

    num_drafts: int
    num_draft_tokens: int
    num_accepted_tokens: int
    accepted_per_pos: tuple[int, ...]

    def __sub__(self, earlier: SpecCounters) -> SpecCounters:
        return SpecCounters(
            self.num_drafts - earlier.num_drafts,
            self.num_draft_tokens - earlier.num_draft_tokens,
            self.num_accepted_tokens - earlier.num_accepted_tokens,
            tuple(
                now - before
                for now, before in zip_longest(
                    self.accepted_per_pos, earlier.accepted_per_pos, fillvalue=0
                )
            ),
        )

    @property
    def went_back(self) -> bool:
        """Whether a difference is none of one server: it was restarted in between."""
        totals = (self.num_drafts, self.num_draft_tokens, self.num_accepted_tokens)
        return min(*totals, *self.accepted_per_pos) < 0


@dataclass(frozen=True, slots=True)
class ServerLoad:
    """`running` and `waiting` requests now, KV cache usage 0-1 now (of the fullest engine);
    preemptions, output tokens and finished requests since the server started. None: not
    reported."""

    running: float | None = None
    waiting: float | None = None
    kv_cache_usage: float | None = None
    preemptions: float | None = None
    output_tokens: float | None = None
    requests: float | None = None

    @property
    def mean_output_tokens(self) -> float | None:
        """Per finished request; None before the first one."""
        if not self.requests or self.output_tokens is None:
            return None
        return self.output_tokens / self.requests


@dataclass(frozen=True, slots=True)
class RequestTimes:
    """Finished requests since the server started, and the sums of their times in s, as the server
    measured them."""

    requests: float
    ttft_s: float
    e2el_s: float

    def __sub__(self, earlier: RequestTimes) -> RequestTimes:
        return RequestTimes(
            self.requests - earlier.requests,
            self.ttft_s - earlier.ttft_s,
            self.e2el_s - earlier.e2el_s,
        )


def samples(page: str) -> Iterator[MetricSample]:
    """Every sample of a `/metrics` page. Raises MalformedReply for a page that is not metrics."""
    try:
        for family in text_string_to_metric_families(page):
            yield from family.samples
    except (ValueError, IndexError, KeyError, TypeError, AttributeError) as error:
        raise MalformedReply(f"/metrics is not a metrics page ({shown(page.strip())})") from error


def read_counters(page: str, prefix: str) -> SpecCounters | None:
    """The counters named `<prefix>drafts_total`, `…draft_tokens_total`, `…accepted_tokens_total`
    and `…accepted_tokens_per_pos_total{position}`; None where the server does not speculate.

    Raises MalformedReply for a page that is not metrics, or counts that cannot be.
    """
    totals: dict[str, float] = {}
    per_pos: dict[int, float] = {}
    for sample in samples(page):
        if not sample.name.startswith(prefix) or not sample.name.endswith("_total"):
            continue
        total = number(sample.value, sample.name, 0, MAX_TOTAL)
        if "position" in sample.labels:
            position = position_of(sample.labels["position"])
            per_pos[position] = per_pos.get(position, 0.0) + total
        else:
            name = sample.name.removeprefix(prefix).removesuffix("_total")
            totals[name] = totals.get(name, 0.0) + total
    if "drafts" not in totals:
        return None
    drafts, drafted, accepted = (
        count(totals.get(name), name, 0, MAX_TOTAL)
        for name in ("drafts", "draft_tokens", "accepted_tokens")
    )
    if accepted > drafted:
        raise MalformedReply(f"/metrics counts {accepted} accepted tokens of {drafted} drafted")
    by_position = tuple(
        count(per_pos[position], "per_pos", 0, MAX_TOTAL) for position in sorted(per_pos)
    )
    return SpecCounters(drafts, drafted, accepted, by_position)


def read_load(page: str, fields: Mapping[str, str]) -> ServerLoad:
    """The load, summed over the server's engines. `fields`: metric name → field of `ServerLoad`.

    Raises MalformedReply for a page that is not metrics, or figures that cannot be.
    """
    found: dict[str, float] = {}
    for sample in samples(page):
        name = fields.get(sample.name)
        if name is None:
            continue
        most = 1 if name == "kv_cache_usage" else MAX_TOTAL
        value = number(sample.value, sample.name, 0, most)
        if name == "kv_cache_usage":
            found[name] = max(found.get(name, 0.0), value)
        else:
            found[name] = found.get(name, 0.0) + value
    return ServerLoad(**found)


def read_request_times(page: str, fields: Mapping[str, str]) -> RequestTimes | None:
    """Summed over the server's engines; None where one of the figures is missing. `fields`: metric
    name → field of `RequestTimes`.

    Raises MalformedReply for a page that is not metrics, or figures that cannot be.
    """
    found: dict[str, float] = {}
    for sample in samples(page):
        if name := fields.get(sample.name):
            found[name] = found.get(name, 0.0) + number(sample.value, sample.name, 0, MAX_TOTAL)
    return RequestTimes(**found) if len(found) == len(fields) else None


def position_of(label: str) -> int:
    """The position that a label names, counted from 0. Raises MalformedReply."""
    if label.isascii() and label.isdigit() and len(label) <= 4:
        return count(int(label), "position", 0, MAX_POSITION)
    raise MalformedReply(f"position is {shown(label)}, not a whole number")
