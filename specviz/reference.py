"""Figures that others published, as tables beside which measured ones are shown.

The files and what their words mean: `data/reference/README.md`. A new table is a CSV file there
and a line in `TABLES`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specviz.config import Method
from specviz.errors import UsageError
from specviz.paths import DATA

if TYPE_CHECKING:
    import pandas as pd

REFERENCE = DATA / "reference"

TABLES = {
    "overall": "Every technique, all prompts",
    "categories": "EAGLE-3 by prompt category",
    "temperature": "EAGLE-3 by temperature",
    "concurrency": "EAGLE-3 by concurrency",
    "cost": "Requests per hour and cost per request",
    "k": "EAGLE-3 by number of draft tokens",
}
"""What there is, by the name of its file."""

METHODS = {
    "Baseline": Method.BASELINE,
    "Vanilla SD": Method.DRAFT_MODEL,
    "Medusa-2": Method.MEDUSA,
    "EAGLE-1": Method.EAGLE,
    "EAGLE-3": Method.EAGLE3,
    "Prompt Lookup": Method.NGRAM,
}
"""The method here that a published technique is; techniques without one are left out."""


def published(table: str) -> pd.DataFrame:
    """One row per row of the published table, in its order.

    `document`, `section` and `technique` say where a row is from, `method` which of ours it is,
    `definition` what its words mean where that is not what they mean here, sentences split by ";".
    Units are in the names of the columns. NaN: the document does not say, or there is none.

    Raises UsageError for a table that is not in `TABLES`.
    """
    import pandas as pd

    if table not in TABLES:
        raise UsageError(f"There is no published table {table!r}: choose from {', '.join(TABLES)}.")
    frame = pd.read_csv(REFERENCE / f"{table}.csv", encoding="utf-8")
    method_of = {technique: method.value for technique, method in METHODS.items()}
    frame.insert(3, "method", frame["technique"].map(method_of))
    return frame
