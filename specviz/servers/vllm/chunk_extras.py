"""What vLLM adds to OpenAI's chunks: token ids and the counts of a request.

`--per-request-spec-decode-metrics detailed` makes a server put its counts into the last chunk,
`summary` their totals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from specviz.servers import checked
from specviz.servers.dialect import Extras, SpecCounts
from specviz.trace import SpecTotals


def read_extras(data: Mapping[str, Any]) -> Extras:
    """Token ids come with `return_token_ids`, the prompt's in the first chunk."""
    choice = data["choices"][0] if data["choices"] else {}
    return Extras(
        token_ids=choice.get("token_ids"),
        prompt_token_ids=data.get("prompt_token_ids"),
        spec=data.get("metrics"),
    )


def last_counts(spec: Sequence[object]) -> SpecCounts | None:
    """The counts that came last, None where no chunk had any."""
    found = map(_read_counts, reversed(spec))
    return next((counts for counts in found if counts is not None), None)


def totals(spec: Sequence[object]) -> SpecTotals | None:
    """The totals that came last, which the summary has, too; None where nothing was drafted."""
    for metrics in reversed(spec):
        if found := _speculative(metrics):
            drafts = checked.count(found.get("num_spec_steps"), "num_spec_steps")
            drafted = checked.count(found.get("num_draft_tokens"), "num_draft_tokens")
            name = "num_accepted_draft_tokens"
            accepted = checked.count(found.get(name), name)
            return SpecTotals(drafted, accepted, drafts) if drafts else None
    return None


def _speculative(metrics: object) -> dict[str, Any]:
    found = checked.json_object(metrics, "metrics").get("speculative_decoding")
    return checked.json_object(found or {}, "speculative_decoding")


def _read_counts(metrics: object) -> SpecCounts | None:
    speculative = _speculative(metrics)
    if not speculative:
        return None
    accepted = checked.token_ids(speculative.get("per_step_accepted") or (), "per_step_accepted")
    drafted = checked.token_ids(speculative.get("per_step_drafted") or (), "per_step_drafted")
    if len(accepted) != len(drafted) or len(accepted) != speculative.get("num_spec_steps"):
        return None  # the server runs with the summary only: totals, no steps
    return SpecCounts(accepted, drafted, checked.count(speculative.get("num_spec_tokens"), "K"))
