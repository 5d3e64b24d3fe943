"""What a person adds to results of other tools, because their files lack it."""

from __future__ import annotations

from dataclasses import dataclass

from specviz.config import check_k
from specviz.errors import UsageError
from specviz.methods import Method


@dataclass(frozen=True, slots=True)
class ImportLabels:
    """The method, its K and the name shown. Raises UsageError for an impossible K."""

    method: Method | None = None
    k: int | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        check_k(self.method, self.k)

    def refuse_for_exports(self) -> None:
        """An export of specviz has all of these. Raises UsageError if any label is set."""
        if self != ImportLabels():
            raise UsageError(
                "An export of specviz has method, K and name already: leave --method, --k and "
                "--name out."
            )
