"""Goodput: only requests that met every service level objective count."""

from __future__ import annotations

import pandas as pd

from specviz.analysis.benchmark.results import Slo


def met(samples: pd.DataFrame, slo: Slo) -> int | None:
    """How many finished requests met every limit that is set; None as `meets`."""
    good = meets(samples, slo)
    return None if good is None else int(good.sum())


def meets(samples: pd.DataFrame, slo: Slo) -> pd.Series | None:
    """Which finished requests met every limit that is set, the limit itself included.

    An answer of one token (or of one chunk) has no TPOT and meets a limit on it. None without an
    SLO, and where a limit on TPOT is set but some answer's length is not known.
    """
    if not slo.is_set:
        return None
    tpot_ms = samples["tpot_ms"]
    if slo.tpot_ms is not None and (tpot_ms.isna() & samples["output_tokens"].isna()).any():
        return None
    good = pd.Series(True, index=samples.index)
    if slo.ttft_ms is not None:
        good &= samples["ttft_ms"] <= slo.ttft_ms
    if slo.tpot_ms is not None:
        good &= (tpot_ms <= slo.tpot_ms) | tpot_ms.isna()
    if slo.e2el_ms is not None:
        good &= samples["e2el_ms"] <= slo.e2el_ms
    return good
