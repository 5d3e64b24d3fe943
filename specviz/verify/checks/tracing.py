"""What a trace costs the request that asks for it."""

from __future__ import annotations

import numpy as np

from specviz.analysis.interval import ratio_replicates
from specviz.verify.evidence import Speculated, TracingCost
from specviz.verify.finding import Figure, Finding, Outcome

NAME, TITLE = "tracing cost", "What a trace costs"


def tracing_cost(found: Speculated) -> Finding:
    """Time per output token, traced / untraced, with its 95 % interval over rounds."""
    server = found.answered.server
    if server.dialect.trace is None:
        sentence = f"{server.dialect.name} has no tracing."
        return Finding(NAME, TITLE, Outcome.NOT_REPORTED, sentence)
    if not found.tracing:
        reason = server.capabilities.tracing_reason or "it does not say why"
        sentence = f"The server does not trace: {reason.rstrip('.')}."
        return Finding(NAME, TITLE, Outcome.NOT_MEASURED, sentence)
    parts, figures = [], dict[str, Figure]()
    for cost in found.tracing:
        ratio, low, high = _ratio(cost)
        figures |= {
            f"batch_{cost.batch}": ratio,
            f"batch_{cost.batch}_low": low,
            f"batch_{cost.batch}_high": high,
        }
        between = f" ({_change(low)} to {_change(high)})" if low and high else ""
        parts.append(f"{_change(ratio)}{between} at batch {cost.batch}")
    sentence = (
        f"Time per token with a trace: {', '.join(parts)}. Requests without one are not traced."
    )
    return Finding(NAME, TITLE, Outcome.HOLDS, sentence, figures)


def _ratio(cost: TracingCost) -> tuple[float, float | None, float | None]:
    replicates = ratio_replicates(np.array(cost.rounds, dtype=float))
    ends = replicates.ends[0]
    ratio = float(np.exp(replicates.values[0, 0]))
    if ends is None:
        return ratio, None, None
    return ratio, float(np.exp(ends[0])), float(np.exp(ends[1]))


def _change(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.0f} %"
