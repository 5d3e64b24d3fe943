"""What a server reports about the drafts of a request, as far as it can be believed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from specviz.errors import MalformedReply
from specviz.servers.capabilities import Capabilities
from specviz.servers.checked import count
from specviz.servers.dialect import Dialect, SpecCounts
from specviz.trace import SpecTotals


def counts_of(
    spec: Sequence[object], dialect: Dialect, capabilities: Capabilities
) -> SpecCounts | None:
    """Counts per step from the `Extras.spec` of all chunks; None where the server has none, or not
    of chains of one length.

    Raises MalformedReply, TypeError or ValueError for what cannot be.
    """
    if capabilities.drafts_trees or capabilities.adapts_k:
        return None
    return dialect.counts(spec)


def totals_of(
    spec: Sequence[object],
    predicted: SpecTotals | None,
    dialect: Dialect,
    capabilities: Capabilities,
) -> SpecTotals | None:
    """Totals of the request: the kind's own, else those in OpenAI's usage (`predicted`).

    Drafted tokens of a server that adapts K are what it could have drafted at most: left out.
    Raises MalformedReply, TypeError or ValueError for what cannot be.
    """
    totals = dialect.request_totals(spec) or predicted
    if totals is None:
        return None
    drafted, accepted = totals.num_draft_tokens, totals.num_accepted_tokens
    if drafted is not None:
        count(drafted, "num_draft_tokens")
        if accepted is not None and accepted > drafted:
            raise MalformedReply(f"{accepted} tokens accepted of {drafted} drafted")
    return replace(totals, num_draft_tokens=None) if capabilities.adapts_k else totals
