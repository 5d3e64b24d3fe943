"""A policy: K by temperature, top-p, kind of prompt and requests running.

A table of rows and columns. The first row that fits a request is its row; the column is how many
requests are running. The last row fits every request, so that none is without a K.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from specviz.errors import UsageError


class Basis(StrEnum):
    """What a K of the table rests on."""

    MEASURED = "measured"
    EQUIVALENT = "equivalent"
    """Measured; larger K were not better beyond noise, so the smallest was taken."""
    PREDICTED = "predicted"
    """Nobody measured it: filled by the model of the K page."""
    EDITED = "edited"


@dataclass(frozen=True, slots=True)
class Row:
    """The requests with temperature and top-p at most the given ones and of the given kind; None
    fits all. `k` and `basis` have one entry per column of the policy."""

    k: tuple[int, ...]
    basis: tuple[Basis, ...]
    temperature: float | None = None
    top_p: float | None = None
    category: str | None = None

    def fits(self, temperature: float, top_p: float, category: str | None) -> bool:
        return (
            (self.temperature is None or temperature <= self.temperature)
            and (self.top_p is None or top_p <= self.top_p)
            and (self.category is None or category == self.category)
        )

    @property
    def fits_all(self) -> bool:
        return self.temperature is None and self.top_p is None and self.category is None


@dataclass(frozen=True, slots=True)
class Policy:
    """`requests_running` are the upper ends of the columns, ascending; the last column is also for
    more. `num_speculative_tokens` is the server's K. The column changes once the load has asked
    for another one for `hold_steps` steps in a row. Raises UsageError for a table that cannot be
    followed."""

    num_speculative_tokens: int
    requests_running: tuple[int, ...]
    rows: tuple[Row, ...]
    hold_steps: int = 16

    def __post_init__(self) -> None:
        if self.num_speculative_tokens < 1:
            raise UsageError(
                f"num_speculative_tokens must be at least 1, not {self.num_speculative_tokens}."
            )
        if self.hold_steps < 1:
            raise UsageError(f"hold_steps must be at least 1, not {self.hold_steps}.")
        self._check_columns()
        if not self.rows:
            raise UsageError("The policy has no rows: give at least one [[rows]].")
        for number, row in enumerate(self.rows, start=1):
            self._check_row(number, row)
        if not self.rows[-1].fits_all:
            raise UsageError(
                "The last row must fit every request: add one without temperature, top_p and "
                "category, else some requests have no K."
            )

    def _check_columns(self) -> None:
        columns = self.requests_running
        if not columns or columns[0] < 1 or any(b <= a for a, b in pairwise(columns)):
            raise UsageError(
                "requests_running must be whole numbers from 1 upwards, each larger than the one "
                f"before, not {list(columns)}."
            )

    def _check_row(self, number: int, row: Row) -> None:
        if not len(row.k) == len(row.basis) == len(self.requests_running):
            raise UsageError(
                f"Row {number} has {len(row.k)} K and {len(row.basis)} basis entries, and "
                f"requests_running has {len(self.requests_running)}: give one of each per column."
            )
        for k in row.k:
            if not 0 <= k <= self.num_speculative_tokens:
                raise UsageError(
                    f"Row {number} has K = {k}: give 0 to the server's "
                    f"{self.num_speculative_tokens}."
                )
        if row.temperature is not None and not 0 <= row.temperature < math.inf:
            raise UsageError(f"Row {number}: temperature must be 0 or more, not {row.temperature}.")
        if row.top_p is not None and not 0 < row.top_p <= 1:
            raise UsageError(f"Row {number}: top_p must be above 0, up to 1, not {row.top_p}.")
        if number < len(self.rows) and row.fits_all:
            raise UsageError(
                f"Row {number} fits every request, so the rows after it are never used: move it "
                "to the end."
            )

    def check_server(self, num_speculative_tokens: int | None) -> None:
        """Raise UsageError for a server with another K; None: one that does not speculate."""
        if not num_speculative_tokens:
            raise UsageError("A policy needs a server that speculates: name its method and draft.")
        if num_speculative_tokens != self.num_speculative_tokens:
            raise UsageError(
                f"The policy is for num_speculative_tokens = {self.num_speculative_tokens}, and "
                f"the server has {num_speculative_tokens}: start it with the policy's K, or make "
                "a policy for this one."
            )

    def column(self, requests_running: int) -> int:
        """The column of that many requests running; nobody running counts as one."""
        at = bisect_left(self.requests_running, requests_running)
        return min(at, len(self.requests_running) - 1)

    def row(self, temperature: float, top_p: float = 1.0, category: str | None = None) -> Row:
        """The first row that fits."""
        return next(row for row in self.rows if row.fits(temperature, top_p, category))

    def k(
        self,
        requests_running: int,
        temperature: float,
        top_p: float = 1.0,
        category: str | None = None,
    ) -> int:
        """The K of a request at a steady load.

        >>> row = Row(k=(5, 2), basis=(Basis.MEASURED, Basis.MEASURED))
        >>> Policy(5, (4, 16), (row,)).k(requests_running=9, temperature=0.0)
        2
        """
        return self.row(temperature, top_p, category).k[self.column(requests_running)]
