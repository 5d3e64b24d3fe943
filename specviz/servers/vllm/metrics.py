"""What vLLM says on `/metrics`.

Its speculation counters are cumulative and server-wide, so only differences between two snapshots
mean anything, and only while nobody else uses the server.
"""

from __future__ import annotations

from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

_PREFIX = "vllm:spec_decode_num_"


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


def parse_counters(text: str) -> SpecCounters | None:
    """Read the counters from a `/metrics` page; None where the server does not speculate."""
    totals: dict[str, float] = {}
    per_pos: dict[int, float] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if not sample.name.startswith(_PREFIX) or not sample.name.endswith("_total"):
                continue
            if "position" in sample.labels:
                position = int(sample.labels["position"])
                per_pos[position] = per_pos.get(position, 0.0) + sample.value
            else:
                name = sample.name.removeprefix(_PREFIX).removesuffix("_total")
                totals[name] = totals.get(name, 0.0) + sample.value
    if "drafts" not in totals:
        return None
    return SpecCounters(
        int(totals["drafts"]),
        int(totals["draft_tokens"]),
        int(totals["accepted_tokens"]),
        tuple(int(per_pos[position]) for position in sorted(per_pos)),
    )


def parse_prefix_caching(text: str) -> bool | None:
    """Whether prefixes are cached, from a `/metrics` page; None where it does not say."""
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if sample.name == "vllm:cache_config_info":
                told = sample.labels.get("enable_prefix_caching", "")
                return {"True": True, "False": False}.get(told)
    return None
