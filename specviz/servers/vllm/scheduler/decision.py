"""Which K a request may use in the next step, and why."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

from specviz.policy import hold
from specviz.policy.policy import Policy
from specviz.policy.words import column_words, row_words
from specviz.servers.vllm.scheduler import wishes

ASKED = "the request asked for it"


@dataclass(frozen=True, slots=True)
class Decision:
    """At most `k` draft tokens in a step. There are few reasons, so they can be counted."""

    k: int
    reason: str


class Decider:
    """Follows a policy through the steps of one engine."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._cells = _cells(policy)
        self._held: hold.Held | None = None
        self._is_held = False
        self._requests: dict[str, Decision | int] = {}  # what is fixed, or the number of its row

    def next_step(self, requests_running: int) -> None:
        """One more step, with so many requests running."""
        policy = self._policy
        if self._held is None:
            self._held = hold.start(policy, requests_running)
        else:
            self._held = hold.after_step(self._held, policy, requests_running)
        self._is_held = self._held.column != self._held.wanted

    def decide(self, request_id: str, params: Any) -> Decision:
        """The decision for a request in this step. `params` are its SamplingParams."""
        assert self._held is not None  # `next_step` comes first
        found = self._requests.get(request_id)
        if found is None:
            found = self._requests[request_id] = self._first_look(params)
        if isinstance(found, Decision):
            return found
        return self._cells[found, self._held.column, self._is_held]

    def forget(self, request_id: str) -> None:
        """The request is over."""
        self._requests.pop(request_id, None)

    def _first_look(self, params: Any) -> Decision | int:
        if parameter := wishes.unspeculated(params):
            return Decision(0, parameter)
        asked = wishes.spec_k(params)
        if asked is not None:
            return Decision(min(max(asked, 0), self._policy.num_speculative_tokens), ASKED)
        row = self._policy.row(params.temperature, params.top_p, wishes.category(params))
        return self._policy.rows.index(row)


def _cells(policy: Policy) -> dict[tuple[int, int, bool], Decision]:
    """A decision per row and column; True: the load asks for another column by now."""
    cells = {}
    columns = range(len(policy.requests_running))
    for (number, row), column, is_held in product(enumerate(policy.rows), columns, (False, True)):
        reason = f"policy: {row_words(row)}, {column_words(policy, column)}"
        cells[number, column, is_held] = Decision(
            row.k[column], reason + (" (held)" if is_held else "")
        )
    return cells
