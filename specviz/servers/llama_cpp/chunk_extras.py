"""What llama.cpp adds to OpenAI's chunks: the request's totals so far.

They come with `timings_per_token`. `draft_n` and `draft_n_accepted` are left out until something
was drafted. Its log-probabilities are not read: those of drafted tokens are made up (0.0, no
alternatives; llama.cpp issue 27972). Neither are per-request settings of speculation sent, which it
ignores (issue 23052).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from specviz.servers import checked
from specviz.servers.dialect import Extras
from specviz.trace import SpecTotals


def read_extras(data: Mapping[str, Any]) -> Extras:
    timings = data.get("timings")
    if timings is None:
        return Extras()
    found = checked.json_object(timings, "timings")
    drafts = (found.get("draft_n", 0), found.get("draft_n_accepted", 0))
    return Extras(totals=(found.get("predicted_n"), *drafts), spec=drafts)


def last_totals(spec: Sequence[object]) -> SpecTotals | None:
    """Of the whole request, also where its steps cannot be read. Raises MalformedReply."""
    if not spec:
        return None
    drafted, accepted = checked.array(spec[-1], "timings", 2)
    return SpecTotals(
        checked.count(drafted, "draft_n"), checked.count(accepted, "draft_n_accepted")
    )
