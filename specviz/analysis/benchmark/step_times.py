"""Why a cell is slower or faster than plain decoding at the same place."""

from __future__ import annotations

import pandas as pd

from specviz.analysis.benchmark.results import Cell
from specviz.analysis.step_time.explanation import explain_step, explain_tokens
from specviz.analysis.step_time.samples import mean_step_of, tpot_of
from specviz.analysis.verdict import Verdict
from specviz.methods import Method


def plain_tpot_ms(cell: Cell, plain: pd.DataFrame | None) -> float | None:
    """Time per token of the baseline's requests, `plain` (None without), ms.

    It is timed as the cell is: by steps, or by tokens where the cell's steps are not known.
    """
    if plain is None:
        return None
    if cell.step_time is None:
        return tpot_of(plain)
    found = mean_step_of(plain)
    return None if found is None else found.tpot_ms


def step_time_text(cell: Cell, finished: pd.DataFrame, plain_ms: float | None) -> str | None:
    """One sentence or two about the cell's finished requests, next to the baseline's `plain_ms`.

    None where not even the time per token is known.
    """
    is_plain = cell.method == Method.BASELINE
    decided = cell.speedup is None or cell.speedup.verdict is not Verdict.UNDECIDED
    if cell.step_time is not None:
        return explain_step(cell.step_time, plain_ms, drafts=not is_plain, decided=decided)
    tpot_ms = tpot_of(finished)
    if tpot_ms is None or is_plain:
        return None
    length = None if cell.acceptance is None else cell.acceptance.mean_acceptance_length
    return explain_tokens(tpot_ms, length, plain_ms, decided=decided)
