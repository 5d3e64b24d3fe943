"""Figures that others published, as tables to show next to measured ones.

The files and what their words mean: `data/reference/README.md`. A new table is a CSV file there
and a line in `TABLES`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from specviz.errors import UsageError
from specviz.methods import TECHNIQUES
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
    "training": "Training and retraining of the drafts",
    "slo": "Technique by service level objective",
    "alpha": "Tokens per step and speed-up by acceptance, K = 5",
    "headlines": "Figures named in the text",
    "rules": "Thresholds: when to switch on, off, or choose another technique",
    "k_guidelines": "K by situation",
    "environment": "Test environment",
    "prompt_mix": "Prompts by category",
    "limits": "Limits that the documents state",
    "disagreements": "Where the documents disagree with each other or with a formula",
}
"""What there is, by the name of its file."""


def published(table: str) -> pd.DataFrame:
    """One row per row of the published table, in its order.

    `document`, `section` and `technique` name where a row is from, `method` which of ours it is,
    `definition` what its words mean where that is not what they mean here, sentences split by ";".
    Units are in the names of the columns. NaN: the document does not say, or there is none;
    `technique` and `method` are NaN where a row is of no technique, or of several.

    Raises UsageError for a table that is not in `TABLES`.
    """
    if table not in TABLES:
        raise UsageError(f"There is no published table {table!r}: choose from {', '.join(TABLES)}.")
    return _read(table).copy()


@cache
def _read(table: str) -> pd.DataFrame:
    import pandas as pd

    text = dict.fromkeys(("technique", "definition"), object)  # also where every field is empty
    frame = pd.read_csv(REFERENCE / f"{table}.csv", encoding="utf-8", dtype=text)
    method_of = {technique: method.value for technique, method in TECHNIQUES.items()}
    frame.insert(3, "method", frame["technique"].map(method_of).astype(object))
    return frame


def disagreements(page: str) -> pd.DataFrame:
    """The rows of `disagreements` that concern a page: k, technique, cost, learn or benchmark.

    `says` contradicts `but`, each with its place in the documents; `says_value` and `but_value` are
    their numbers, NaN where words disagree.
    """
    rows = published("disagreements")
    return rows[[page in pages.split() for pages in rows["pages"]]].reset_index(drop=True)
