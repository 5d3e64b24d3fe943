"""What LM Studio adds to an answer: `stats`, with counts of the whole request.

Drafted tokens are accepted, rejected or ignored. LM Studio documents `stats` for its REST API; they
are read from wherever they come. Source: lmstudio.ai/docs/app/api-changelog, 0.3.10.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from specviz.servers import checked
from specviz.servers.dialect import Extras
from specviz.trace import SpecTotals


def read_extras(data: Mapping[str, Any]) -> Extras:
    return Extras(spec=data.get("stats"))


def totals(spec: Sequence[object]) -> SpecTotals | None:
    """Drafted and accepted tokens, from the last chunk that has them; None without a draft."""
    stats = checked.json_object(spec[-1], "stats") if spec else {}
    drafted = stats.get("total_draft_tokens_count")
    accepted = stats.get("accepted_draft_tokens_count")
    if drafted is None and accepted is None:
        return None
    return SpecTotals(
        num_draft_tokens=checked.count(drafted, "total_draft_tokens_count"),
        num_accepted_tokens=checked.count(accepted, "accepted_draft_tokens_count"),
    )
