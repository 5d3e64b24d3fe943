"""Policies as TOML.

```toml
version = 1
num_speculative_tokens = 5       # the server's K
requests_running = [1, 4, 16]    # columns: up to so many requests; the last also for more
hold_steps = 16                  # steps at another load before the column changes

[[rows]]                         # the first row that fits a request is its row
temperature = 0.0                # at most; also top_p (at most) and category
k = [5, 4, 2]
basis = ["measured", "equivalent", "predicted"]

[[rows]]                         # the last one fits every request
k = [2, 0, 0]
```
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from specviz.errors import UsageError
from specviz.policy.policy import Basis, Policy, Row

VERSION = 1
KEYS = {"version", "num_speculative_tokens", "requests_running", "hold_steps", "rows"}
ROW_KEYS = {"temperature", "top_p", "category", "k", "basis"}


def read_policy(path: Path) -> Policy:
    """The policy in a file. Raises UsageError with the file's name for what is not one."""
    try:
        return parse_policy(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"Cannot read the policy {path}: {error}") from error
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


def parse_policy(text: str) -> Policy:
    """The policy in a TOML text. Raises UsageError for what is not one. Without `basis`, every K
    of a row was typed by somebody: `edited`."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"This is not TOML: {error}.") from error
    _only(KEYS, table, "the policy")
    if table.get("version") != VERSION:
        raise UsageError(f"Give version = {VERSION}, not {table.get('version')!r}.")
    rows = table.get("rows", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise UsageError("Write the rows as [[rows]] tables.")
    return Policy(
        num_speculative_tokens=_whole(table, "num_speculative_tokens"),
        requests_running=_wholes(table, "requests_running"),
        hold_steps=_whole(table, "hold_steps", 16),
        rows=tuple(_row(number, row) for number, row in enumerate(rows, start=1)),
    )


def policy_toml(policy: Policy) -> str:
    """The file of a policy: `parse_policy` reads the same policy from it."""
    import tomli_w  # the Python of a server, which only reads policies, need not have it

    return tomli_w.dumps(
        {
            "version": VERSION,
            "num_speculative_tokens": policy.num_speculative_tokens,
            "requests_running": list(policy.requests_running),
            "hold_steps": policy.hold_steps,
            "rows": [_row_table(row) for row in policy.rows],
        }
    )


def _row_table(row: Row) -> dict[str, Any]:
    conditions = {"temperature": row.temperature, "top_p": row.top_p, "category": row.category}
    return {
        **{name: value for name, value in conditions.items() if value is not None},
        "k": list(row.k),
        "basis": [basis.value for basis in row.basis],
    }


def _row(number: int, table: Mapping[str, Any]) -> Row:
    where = f"row {number}"
    _only(ROW_KEYS, table, where)
    k = _wholes(table, "k", where)
    category = table.get("category")
    if not (category is None or isinstance(category, str)):
        raise UsageError(f"category of {where} must be a text, not {category!r}.")
    return Row(
        k=k,
        basis=_basis(table.get("basis", [Basis.EDITED] * len(k)), where),
        temperature=_number(table, "temperature", where),
        top_p=_number(table, "top_p", where),
        category=category,
    )


def _basis(values: Any, where: str) -> tuple[Basis, ...]:
    known = {basis.value for basis in Basis}
    if not isinstance(values, list) or not all(
        isinstance(value, str) and value in known for value in values
    ):
        raise UsageError(f"basis of {where} must be a list of {', '.join(known)}, not {values!r}.")
    return tuple(Basis(value) for value in values)


def _only(known: set[str], table: Mapping[str, Any], where: str) -> None:
    if unknown := sorted(table.keys() - known):
        raise UsageError(
            f"Unknown in {where}: {', '.join(unknown)}. Known are {', '.join(sorted(known))}."
        )


def _whole(table: Mapping[str, Any], name: str, default: int | None = None) -> int:
    value = table.get(name, default)
    if type(value) is not int:  # True is an int to isinstance
        raise UsageError(f"{name} must be a whole number, not {value!r}.")
    return value


def _wholes(table: Mapping[str, Any], name: str, where: str = "the policy") -> tuple[int, ...]:
    values = table.get(name)
    if not isinstance(values, list) or not all(type(value) is int for value in values):
        raise UsageError(f"{name} of {where} must be a list of whole numbers, not {values!r}.")
    return tuple(values)


def _number(table: Mapping[str, Any], name: str, where: str) -> float | None:
    value = table.get(name)
    if value is None:
        return None
    if type(value) not in (int, float):
        raise UsageError(f"{name} of {where} must be a number, not {value!r}.")
    return float(value)
