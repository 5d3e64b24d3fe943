"""A cell that nobody measured, from a neighbour: the steps of its own temperature at the step times
of its own load.

What is accepted depends on the temperature and hardly on the load; what a step costs depends on the
load and hardly on the temperature. So the requests of another temperature at the same load are
taken, and the time after their first token is stretched by how many more steps the same tokens
would need. The K page's prediction says how many: acceptance by position carries over
(`analysis/k/predict.py`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from specviz.analysis.k.answers import Answer
from specviz.analysis.k.predict import predict


def tokens_per_step(arms: Mapping[int, pd.DataFrame], k: int) -> float | None:
    """Output tokens per step with K = k, from the smallest measured K that is not smaller.

    `arms`: finished requests by K at one temperature and load. None where no such K was measured,
    or its steps were not counted.
    """
    larger = [one for one in sorted(arms) if one >= k]
    answers = answers_of(arms[larger[0]]) if larger else []
    found = predict(answers, {}, None, [k])
    if not found:
        return None
    steps = sum(answer.num_steps for answer in answers)
    drafting = sum(len(answer.drafted) for answer in answers) / steps
    return 1 + drafting * (found[0].mean_acceptance_length.value - 1)


def stretched(finished: pd.DataFrame, by: float) -> pd.DataFrame:
    """The requests with the time after their first token times `by`, and so their blocks."""
    later_ms = (finished["e2el_ms"] - finished["ttft_ms"]).fillna(0.0)
    e2el_ms = finished["e2el_ms"] + (by - 1) * later_ms
    # requests that follow each other in a block begin later by as much
    share = e2el_ms.sum() / finished["e2el_ms"].sum()
    return finished.assign(
        e2el_ms=e2el_ms, tpot_ms=finished["tpot_ms"] * by, sent_ms=finished["sent_ms"] * share
    )


def answers_of(finished: pd.DataFrame) -> list[Answer]:
    """Requests whose steps were counted, as predictions of K take them."""
    counted = finished[finished["per_step_drafted"].notna() & finished["output_tokens"].notna()]
    return [
        Answer(
            key=(row.prompt_index, row.turn),
            category=row.category,
            output_tokens=int(row.output_tokens),
            ttft_ms=row.ttft_ms,
            e2el_ms=row.e2el_ms,
            drafted=tuple(int(count) for count in np.asarray(row.per_step_drafted)),
            accepted=tuple(int(count) for count in np.asarray(row.per_step_accepted)),
            num_chunks=0 if row.chunk_ms is None else len(row.chunk_ms),
            block=f"{row.round_id}/{row.block}",
        )
        for row in counted.itertuples(index=False)
    ]
