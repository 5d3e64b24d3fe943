"""What a K is chosen by: goodput at an SLO, or output throughput where there is none.

Never by acceptance: in vLLM's PR 26504 it stayed at 0.86 to 0.91 while the effect of speculation
went from +23 % to -16 %.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from specviz.analysis.benchmark.goodput import meets
from specviz.analysis.benchmark.results import Slo
from specviz.analysis.benchmark.throughput import BLOCK, wall_s_by_block
from specviz.analysis.interval import Array


@dataclass(frozen=True, slots=True)
class Objective:
    """More of it is better: requests per second that meet `slo`, or output tokens per second."""

    slo: Slo

    @property
    def name(self) -> str:
        """As results of a benchmark call the figure."""
        return "request_goodput" if self.slo.is_set else "output_throughput"

    @property
    def unit(self) -> str:
        return "req/s" if self.slo.is_set else "tok/s"

    def by_block(self, finished: pd.DataFrame) -> pd.DataFrame | None:
        """One row per block, indexed by round and block: `counted` (requests that met the SLO, or
        output tokens), its `seconds`, `server_group`, and one of its prompts. None where lengths
        are not known."""
        counted = meets(finished, self.slo) if self.slo.is_set else finished["output_tokens"]
        if counted is None or counted.isna().any():
            return None
        requests = finished[[*BLOCK, "server_group", "prompt_index"]]
        blocks = requests.assign(counted=counted.astype(float)).groupby(BLOCK, dropna=False)
        found = blocks[["server_group", "prompt_index"]].first()
        return found.assign(counted=blocks["counted"].sum(), seconds=wall_s_by_block(finished))

    def gains(self, figures: Array, plain: Array) -> Array:
        """How much better than plain decoding, on the scale on which noise is symmetric.

        The logarithm of the ratio of throughputs; the difference of goodputs, which may be 0.
        """
        if self.slo.is_set:
            return figures - plain
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios: Array = np.log(figures) - np.log(plain)
        return ratios

    def gain_shown(self, gain: float) -> float:
        """The gain as people read it: a ratio, or req/s more."""
        return gain if self.slo.is_set else float(np.exp(gain))

    def gain_text(self, gain: float) -> str:
        """`1.87×` of a throughput, `+0.41` req/s of a goodput."""
        return f"{gain:+.2f}" if self.slo.is_set else f"{gain:.2f}×"
