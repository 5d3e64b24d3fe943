"""Do the client's times agree with the server's own?"""

from __future__ import annotations

from operator import attrgetter
from statistics import median

from specviz.verify.evidence import Timing
from specviz.verify.finding import Figure, Finding, Outcome

NAME, TITLE = "timing", "Times agree with the server's own"

ALLOWED_MS, ALLOWED_SHARE = 20.0, 0.1
"""The most that client and server may add to a request on a machine with nothing else to do,
beside a round trip between them."""
CLOCKS_MS, CLOCKS_SHARE = 2.0, 0.001
"""The server's interval lies inside the client's, but for what rounding does, and for a clock that
is being set: by at most 0.05 % (adjtimex)."""
BUSY = 10
"""Round trips that a request may cost in which either side waits for a processor: it does more on
the way than a round trip does."""


def timing(name: str, timed: Timing) -> Finding:
    """`name`: the server's kind. The median request counts: a moment in which the client or the
    server was stopped is in one of them.

    A wrong clock is in all of them, and by more than a busy machine explains. Otherwise, where the
    median is off, nothing is known.
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
    round_trip, longest = (1000 * of(timed.round_trips_s) for of in (median, max))
    figures: dict[str, Figure] = {"requests": asked, "round_trip_ms": round_trip}
    expected = dict[str, Figure]()
    wrong, doubtful, parts = list[str](), list[str](), []
    for label, read in (("ttft", attrgetter("ttft_s")), ("e2el", attrgetter("e2el_s"))):
        ours = [1000 * read(one) for one in timed.client]
        theirs = [1000 * read(one) for one in timed.server]
        here, there = median(ours), median(theirs)
        most = round_trip + ALLOWED_MS + ALLOWED_SHARE * there
        figures |= {f"{label}_ms": here, f"server_{label}_ms": there}
        expected[f"{label}_ms"] = f"the server's, up to {most:.0f} ms more"
        parts.append(f"{label.upper()} {here:,.0f} ms here, {there:,.0f} ms there")
        more = [one - other for one, other in zip(ours, theirs, strict=True)]
        least = -CLOCKS_MS - CLOCKS_SHARE * there
        if not least <= median(more) <= most:
            off = max(more) < least or min(more) > most + BUSY * longest
            (wrong if off else doubtful).append(label.upper())
    said = f"{'; '.join(parts)} (medians of {asked} requests; a round trip: {round_trip:,.0f} ms)"
    if wrong:
        sentence = f"{' and '.join(wrong)} differ: {said}."
        return Finding(NAME, TITLE, Outcome.FAILS, sentence, figures, expected)
    if doubtful:
        sentence = (
            f"{' and '.join(doubtful)} differ by no more than on a busy machine: {said}. Verify "
            "again when nothing else runs."
        )
        return Finding(NAME, TITLE, Outcome.NOT_MEASURED, sentence, figures, expected)
    return Finding(NAME, TITLE, Outcome.HOLDS, f"{said}.", figures, expected)
