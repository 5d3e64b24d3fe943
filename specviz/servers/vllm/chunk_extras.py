"""What vLLM adds to OpenAI's chunks: token ids and the counts of a request.

`--per-request-spec-decode-metrics detailed` makes a server put its counts into the last chunk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from specviz.servers.dialect import Extras, SpecCounts


def read_extras(data: Mapping[str, Any]) -> Extras:
    """Token ids come with `return_token_ids`, the prompt's in the first chunk."""
    choice = data["choices"][0] if data["choices"] else {}
    return Extras(
        token_ids=_ids(choice.get("token_ids")),
        prompt_token_ids=_ids(data.get("prompt_token_ids")),
        spec=_read_counts(data.get("metrics")),
    )


def last_counts(spec: Sequence[object]) -> SpecCounts | None:
    """The counts that came last, None where no chunk had any."""
    return next((counts for counts in reversed(spec) if isinstance(counts, SpecCounts)), None)


def _ids(value: Any) -> tuple[int, ...] | None:
    return None if value is None else tuple(map(int, value))


def _read_counts(metrics: Mapping[str, Any] | None) -> SpecCounts | None:
    speculative = (metrics or {}).get("speculative_decoding")
    if not speculative:
        return None
    accepted = tuple(int(count) for count in speculative.get("per_step_accepted") or ())
    drafted = tuple(int(count) for count in speculative.get("per_step_drafted") or ())
    if len(accepted) != len(drafted) or len(accepted) != speculative["num_spec_steps"]:
        return None  # the server runs with the summary only: totals, no steps
    return SpecCounts(accepted, drafted, int(speculative["num_spec_tokens"]))
