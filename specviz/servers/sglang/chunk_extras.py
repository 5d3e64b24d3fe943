"""What SGLang adds to OpenAI's chunks: token ids and counts of the request, both at its end.

The stream has no counts per step, but each chunk says how many tokens the answer has so far, and
the last one has a histogram of the accepted tokens of all steps. Where every chunk is a step, the
chunk sizes less one are the accepted tokens, and the histogram proves it; where chunks were merged
or text was held back, it does not.
Source: 0.5.23, `entrypoints/openai/serving_chat.py` and `protocol.py` (SglExt, SpecTokensDetails).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from specviz.servers import checked
from specviz.servers.dialect import Extras, SpecCounts
from specviz.servers.trace_record import MAX_DRAFT
from specviz.trace import SpecTotals

REQUEST_FIELDS: dict[str, object] = {
    "return_spec_tokens_details": True,
    "return_output_ids_in_sglext": True,  # `return_token_ids` is refused in streams
}
STREAM_OPTIONS: dict[str, object] = {"continuous_usage_stats": True}


def read_extras(data: Mapping[str, Any]) -> Extras:
    """`spec` is the tokens so far (a number) or the details at the end (an object)."""
    sglext = data.get("sglext") or {}
    usage = data.get("usage") or {}
    ids = sglext.get("output_ids")
    return Extras(
        output_ids=ids[0] if ids else None,  # one list per choice
        spec=sglext.get("spec_tokens_details") or usage.get("completion_tokens"),
    )


def proven_counts(spec: Sequence[object]) -> SpecCounts | None:
    """Counts per step from the sizes of the chunks; None where the histogram does not prove them.

    The first chunk is the prompt's step. The last step may have accepted more than was sent: the
    answer was cut there.
    """
    details = _details(spec)
    sizes = _sizes(spec)
    if details is None or not sizes or sizes[0] != 1:
        return None
    steps = _count(details, "spec_verify_ct")
    drafted, rest = divmod(_count(details, "spec_num_proposed_drafts"), steps or 1)
    if not steps or rest or steps != len(sizes) - 1:
        return None
    histogram = checked.token_ids(
        details.get("spec_correct_drafts_histogram") or (), "histogram", MAX_DRAFT + 1
    )
    *sent, last = [size - 1 for size in sizes[1:]]
    left = Counter(dict(enumerate(histogram)))
    left.subtract(sent)
    of_last = [accepted for accepted, number in left.items() if number]
    if len(of_last) != 1 or left[of_last[0]] != 1 or of_last[0] < last:
        return None
    return SpecCounts((*sent, of_last[0]), (drafted,) * steps, drafted)


def totals(spec: Sequence[object]) -> SpecTotals | None:
    """The request's drafted, accepted and verification steps; None where nothing was drafted."""
    details = _details(spec)
    if details is None or not _count(details, "spec_verify_ct"):
        return None
    return SpecTotals(
        num_draft_tokens=_count(details, "spec_num_proposed_drafts"),
        num_accepted_tokens=_count(details, "spec_num_correct_drafts"),
        num_drafts=_count(details, "spec_verify_ct"),
    )


def _details(spec: Sequence[object]) -> Mapping[str, Any] | None:
    found = [one for one in spec if not isinstance(one, int)]
    return checked.json_object(found[-1], "spec_tokens_details") if found else None


def _sizes(spec: Sequence[object]) -> list[int]:
    """Tokens per chunk. Raises MalformedReply for totals that shrink."""
    so_far = [checked.count(one, "completion_tokens") for one in spec if isinstance(one, int)]
    ends = [0, *dict.fromkeys(total for total in so_far if total)]
    return [checked.count(end - start, "completion_tokens") for start, end in pairwise(ends)]


def _count(details: Mapping[str, Any], name: str) -> int:
    return checked.count(details.get(name), name)
