"""Do the client's times agree with the server's own?"""

from __future__ import annotations

from specviz.verify.evidence import Timing
from specviz.verify.finding import Finding, Outcome

CHECK, TITLE = "timing", "Times agree with the server's own"

ALLOWED_MS, ALLOWED_SHARE = 20.0, 0.1
"""What the way to the server and back may add to a request."""
CLOCKS_MS = 2.0
"""The server's interval lies inside the client's, but for what rounding does."""


def timing(name: str, timed: Timing) -> Finding:
    """`name`: the server's kind. One request at a time, the server's figures over the same ones."""
    if timed.server is None:
        sentence = f"{name} does not report the times of its requests."
        return Finding(CHECK, TITLE, Outcome.NOT_REPORTED, sentence)
    if timed.server.requests != timed.requests:
        sentence = (
            f"The server finished {timed.server.requests:,.0f} requests while {timed.requests} "
            "were asked: verify a server that nobody else uses meanwhile."
        )
        return Finding(CHECK, TITLE, Outcome.NOT_MEASURED, sentence)
    figures, wrong, parts = dict[str, float | int](requests=timed.requests), list[str](), []
    for label, ours, theirs in (
        ("ttft", timed.ttft_s, timed.server.ttft_s),
        ("e2el", timed.e2el_s, timed.server.e2el_s),
    ):
        here, there = 1000 * ours / timed.requests, 1000 * theirs / timed.requests
        figures |= {f"{label}_ms": here, f"server_{label}_ms": there}
        parts.append(f"{label.upper()} {here:,.0f} ms here, {there:,.0f} ms there")
        if not -CLOCKS_MS <= here - there <= ALLOWED_MS + ALLOWED_SHARE * there:
            wrong.append(label.upper())
    said = f"{'; '.join(parts)} (means of {timed.requests} requests)"
    if wrong:
        sentence = f"{' and '.join(wrong)} differ: {said}. The way to the server takes the rest."
        return Finding(CHECK, TITLE, Outcome.FAILS, sentence, figures)
    return Finding(CHECK, TITLE, Outcome.HOLDS, f"{said}.", figures)
