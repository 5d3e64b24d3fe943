"""What a server's `/metrics` page reports: speculation counters and load.

Counters are cumulative and server-wide, so only the difference between two snapshots means
anything, and only while nobody else uses the server.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample as MetricSample


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
                for now, before in zip(self.accepted_per_pos, earlier.accepted_per_pos, strict=True)
            ),
        )


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


def samples(page: str) -> Iterator[MetricSample]:
    """Every sample of a `/metrics` page."""
    for family in text_string_to_metric_families(page):
        yield from family.samples


def read_counters(page: str, prefix: str) -> SpecCounters | None:
    """The counters named `<prefix>drafts_total`, `…draft_tokens_total`, `…accepted_tokens_total`
    and `…accepted_tokens_per_pos_total{position}`; None where the server does not speculate."""
    totals: dict[str, float] = {}
    per_pos: dict[int, float] = {}
    for sample in samples(page):
        if not sample.name.startswith(prefix) or not sample.name.endswith("_total"):
            continue
        if "position" in sample.labels:
            position = int(sample.labels["position"])
            per_pos[position] = per_pos.get(position, 0.0) + sample.value
        else:
            name = sample.name.removeprefix(prefix).removesuffix("_total")
            totals[name] = totals.get(name, 0.0) + sample.value
    if "drafts" not in totals:
        return None
    return SpecCounters(
        int(totals["drafts"]),
        int(totals["draft_tokens"]),
        int(totals["accepted_tokens"]),
        tuple(int(per_pos[position]) for position in sorted(per_pos)),
    )


def read_load(page: str, fields: Mapping[str, str]) -> ServerLoad:
    """The load, summed over the server's engines. `fields`: metric name → field of `ServerLoad`."""
    found: dict[str, float] = {}
    for sample in samples(page):
        name = fields.get(sample.name)
        if name == "kv_cache_usage":
            found[name] = max(found.get(name, 0.0), sample.value)
        elif name:
            found[name] = found.get(name, 0.0) + sample.value
    return ServerLoad(**found)
