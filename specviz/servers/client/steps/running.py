"""Steps out of totals that grow while an answer streams.

Some servers say with every chunk how many tokens the request has so far, and how many were drafted
and accepted. Both draft totals grow once per step, with the step's first token, and a step gives
one token more than it accepts: so the totals name every step, those that drafted nothing included.
Where a server holds a token back (half a character) a chunk has several tokens, and more than one
row of steps may fit. All of them are kept until what follows leaves one; what stays ambiguous is
said to be, and nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from specviz.errors import MalformedReply
from specviz.servers.checked import array, count
from specviz.servers.dialect import SpecCounts
from specviz.servers.trace_record import MAX_DRAFT

MAX_MERGED = 8
"""Tokens of one chunk. A character has at most four bytes, so servers merge fewer."""

MAX_SUMS = 200
"""Different sums that are looked into for one chunk: more can only come of totals made up."""

UNREADABLE = "its running counts fit more than one row of steps"


@dataclass(frozen=True, slots=True)
class Totals:
    """Of one request so far: output tokens, drafted tokens, accepted tokens."""

    tokens: int = 0
    drafted: int = 0
    accepted: int = 0


def read_totals(value: object, name: str) -> Totals:
    """`[tokens, drafted, accepted]`, checked. Raises MalformedReply."""
    values = array(value, name, 3)
    if len(values) < 3:
        raise MalformedReply(f"{name} has {len(values)} of 3 counts")
    tokens, drafted, accepted = (count(one, name) for one in values)
    if accepted > drafted:
        raise MalformedReply(f"{accepted} accepted tokens of {drafted} drafted")
    return Totals(tokens, drafted, accepted)


@dataclass(frozen=True, slots=True)
class CountedStep:
    """One engine step; it emits one token more than it accepted. Nothing drafted: plain."""

    drafted: int
    accepted: int

    @property
    def emitted(self) -> int:
        return self.accepted + 1


Row = tuple[CountedStep, ...]
Readings = dict[int, Row | None]
"""By how many tokens of the last step are still due: the row of steps, or None where there are
several. Only those tokens decide what can follow, so nothing later would tell them apart."""


class RunningSteps:
    """Reads one request. `k` bounds a draft; None where it is not known."""

    def __init__(self, k: int | None) -> None:
        self._k = MAX_DRAFT if k is None else k
        self._totals = Totals()
        # the prompt's own step gives the first token and drafts nothing
        self._begun: Row = (CountedStep(0, 0),)
        self._readings: Readings = {1: self._begun}

    @property
    def tokens(self) -> int:
        return self._totals.tokens

    @property
    def begun(self) -> Row:
        """The step whose tokens were still due when the totals last fitted one row: it is certain
        although what follows is not."""
        return self._begun

    def take(self, totals: Totals) -> Row:
        """The steps that are certain and complete now, in order.

        Raises MalformedReply where the totals cannot be true or can no longer be read uniquely.
        """
        before, self._totals = self._totals, totals
        merged = totals.tokens - before.tokens
        grown = (totals.drafted - before.drafted, totals.accepted - before.accepted)
        if min(merged, *grown) < 0:
            raise MalformedReply("its running counts decrease")
        if not merged:
            if any(grown):
                raise MalformedReply("its running counts grow without a token")
            return ()
        if merged > MAX_MERGED:
            raise MalformedReply(f"a chunk has {merged} tokens")
        readings: Readings = {}
        for due, row in self._readings.items():
            for left, more in self._continued(due, merged, *grown).items():
                _add(readings, left, None if row is None or more is None else (*row, *more))
        return self._settled(readings)

    def finish(self) -> Row:
        """The last step, which a stop condition may have cut short.

        Raises MalformedReply where more than one row of steps fits.
        """
        if len(self._readings) > 1:
            raise MalformedReply(UNREADABLE)
        (row,) = self._readings.values()
        return row if row and self.tokens else ()

    def _settled(self, readings: Readings) -> Row:
        if not readings:
            raise MalformedReply("its running counts fit no row of steps")
        if all(row is None for row in readings.values()):
            raise MalformedReply(UNREADABLE)
        self._readings = readings
        if len(readings) > 1:
            return ()
        ((due, row),) = readings.items()
        assert row is not None
        complete = row if not due else row[:-1]
        self._begun = row[len(complete) :]
        self._readings = {due: self._begun}
        return complete

    def _continued(self, due: int, merged: int, drafted: int, accepted: int) -> Readings:
        """What `merged` more tokens can be, where `due` belong to a step already begun."""
        if merged > due:
            return self._rows(merged - due, drafted, accepted, {})
        return {} if drafted or accepted else {due - merged: ()}

    def _rows(
        self,
        tokens: int,
        drafted: int,
        accepted: int,
        known: dict[tuple[int, int, int], Readings],
    ) -> Readings:
        """Rows of steps that begin with `tokens` more tokens and have these sums."""
        asked = (tokens, drafted, accepted)
        if asked in known:
            return known[asked]
        if len(known) > MAX_SUMS:
            raise MalformedReply(UNREADABLE)
        readings: Readings = {}
        if accepted <= drafted <= self._k and accepted + 1 >= tokens:
            _add(readings, accepted + 1 - tokens, (CountedStep(drafted, accepted),))
        for taken in range(min(accepted, tokens - 2) + 1):
            for draft in range(taken, min(drafted, self._k) + 1):
                rest = self._rows(tokens - taken - 1, drafted - draft, accepted - taken, known)
                for left, row in rest.items():
                    first = CountedStep(draft, taken)
                    _add(readings, left, None if row is None else (first, *row))
        known[asked] = readings
        return readings


def _add(readings: Readings, left: int, row: Row | None) -> None:
    readings[left] = None if left in readings else row


def steps_counted(totals: Iterable[Totals], k: int | None) -> SpecCounts | None:
    """The verification steps of a finished request, None where it has no totals.

    Raises MalformedReply where they cannot be true or cannot be read uniquely.
    """
    running, steps = RunningSteps(k), list[CountedStep]()
    for one in totals:
        steps += running.take(one)
    if not running.tokens:
        return None
    drafting = [step for step in (*steps, *running.finish()) if step.drafted]
    return SpecCounts(
        tuple(step.accepted for step in drafting),
        tuple(step.drafted for step in drafting),
        k or max((step.drafted for step in drafting), default=0),
    )
