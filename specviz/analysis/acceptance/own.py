"""The drafts behind requests that specviz recorded."""

from __future__ import annotations

import pandas as pd

from specviz.analysis.acceptance.counts import Counts, RequestCounts, summed
from specviz.analysis.compare.positions import rates_by_position


def counts_of_requests(requests: pd.DataFrame) -> Counts:
    """Of finished requests; see `analysis.compare.paired` for the columns.

    Those whose server does not report count as not known, so that no sum leaves them out.
    """
    rows = [
        RequestCounts(
            _count(row.num_drafts),
            _count(row.num_draft_tokens),
            _count(row.num_accepted_tokens),
            _count(row.output_tokens),
        )
        for row in requests.itertuples()
    ]
    return summed(rows, [rate.rate for rate in rates_by_position(requests)])


def _count(value: float | None) -> int | None:
    return None if value is None or pd.isna(value) else int(value)
