"""Do the client's times agree with the server's own?"""

from __future__ import annotations

from operator import attrgetter
from statistics import median

from specviz.verify.evidence import Timing
from specviz.verify.finding import Figure, Finding, Outcome

NAME, TITLE = "timing", "Times agree with the server's own"

ALLOWED_MS, ALLOWED_SHARE = 20.0, 0.1
"""What client and server may add to a request, beside a round trip between them."""
CLOCKS_MS = 2.0
"""The server's interval lies inside the client's, but for what rounding does."""
FEW = 0.25
"""Share of requests that may agree by chance with a server whose times are wrong."""


def timing(name: str, timed: Timing) -> Finding:
    """`name`: the server's kind. The median request counts: a moment in which the client or the
    server was stopped is in one of them. A wrong clock is in nearly all: where the median is off
    and more than `FEW` of the requests agree, the machine was busy, and nothing is known.
    """
    if timed.server is None:
        sentence = f"{name} does not report the times of its requests."
        return Finding(NAME, TITLE, Outcome.NOT_REPORTED, sentence)
    if any(one.requests != 1 for one in timed.server):
        sentence = (
            "The server's count of finished requests did not grow by one with every request: "
            "verify a server that nobody else uses meanwhile."
        )
        return Finding(NAME, TITLE, Outcome.NOT_MEASURED, sentence)
    asked = len(timed.client)
    round_trip = 1000 * median(timed.round_trips_s)
    figures: dict[str, Figure] = {"requests": asked, "round_trip_ms": round_trip}
    expected = dict[str, Figure]()
    wrong, parts, agreed = list[str](), [], asked
    for label, read in (("ttft", attrgetter("ttft_s")), ("e2el", attrgetter("e2el_s"))):
        ours = [1000 * read(one) for one in timed.client]
        theirs = [1000 * read(one) for one in timed.server]
        here, there = median(ours), median(theirs)
        most = round_trip + ALLOWED_MS + ALLOWED_SHARE * there
        figures |= {f"{label}_ms": here, f"server_{label}_ms": there}
        expected[f"{label}_ms"] = f"the server's, up to {most:.0f} ms more"
        parts.append(f"{label.upper()} {here:,.0f} ms here, {there:,.0f} ms there")
        more = [one - other for one, other in zip(ours, theirs, strict=True)]
        if not _agrees(median(more), most):
            wrong.append(label.upper())
            agreed = min(agreed, sum(_agrees(one, most) for one in more))
    said = f"{'; '.join(parts)} (medians of {asked} requests; a round trip: {round_trip:,.0f} ms)"
    if wrong and agreed > FEW * asked:
        sentence = (
            f"{' and '.join(wrong)} agree in {agreed} of {asked} requests only, as on a busy "
            f"machine: {said}. Verify again when nothing else runs."
        )
        return Finding(NAME, TITLE, Outcome.NOT_MEASURED, sentence, figures, expected)
    if wrong:
        sentence = f"{' and '.join(wrong)} differ: {said}."
        return Finding(NAME, TITLE, Outcome.FAILS, sentence, figures, expected)
    return Finding(NAME, TITLE, Outcome.HOLDS, f"{said}.", figures, expected)


def _agrees(more_ms: float, most_ms: float) -> bool:
    """`more_ms`: the client's time beyond the server's."""
    return -CLOCKS_MS <= more_ms <= most_ms
