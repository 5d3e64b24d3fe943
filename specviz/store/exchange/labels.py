"""What the importing person says of results, because files of other tools do not."""

from __future__ import annotations

from dataclasses import dataclass

from specviz.config import check_k
from specviz.errors import UsageError
from specviz.methods import Method


@dataclass(frozen=True, slots=True)
class ImportLabels:
    """How tokens were drafted, and the name shown. Raises UsageError for a K that cannot be."""

    method: Method | None = None
    k: int | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        check_k(self.method, self.k)

    def refuse_for_exports(self) -> None:
        """An export of specviz tells all this itself. Raises UsageError if anything was told."""
        if self != ImportLabels():
            raise UsageError(
                "An export of specviz tells method, K and name itself: leave --method, --k and "
                "--name out."
            )
