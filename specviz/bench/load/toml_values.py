"""Values of a plan's TOML, each checked. `name` says in the sentence where the value is."""

from __future__ import annotations

from collections.abc import Mapping, Set
from enum import StrEnum
from typing import Any, TypeVar

from specviz.errors import UsageError

Table = Mapping[str, Any]
Choice = TypeVar("Choice", bound=StrEnum)


def check(right: bool, name: str, wanted: str) -> None:
    """Raises UsageError unless it is right, as everything here does."""
    if not right:
        raise UsageError(f"{name} must be {wanted}.")


def check_keys(given: Table, known: Set[str], where: str) -> None:
    if unknown := sorted(given.keys() - known):
        raise UsageError(
            f"{where} has no setting {unknown[0]!r}: use one of {', '.join(sorted(known))}."
        )


def table(value: Any, name: str) -> dict[str, Any]:
    check(isinstance(value, dict), name, "a table")
    return dict(value)


def array(value: Any, name: str) -> list[Any]:
    check(isinstance(value, list), name, "a list")
    return list(value)


def text(value: Any, name: str) -> str:
    check(isinstance(value, str) and bool(value.strip()), name, "text")
    return str(value)


def number(value: Any, name: str) -> float:
    check(isinstance(value, int | float) and not isinstance(value, bool), name, "a number")
    try:
        return float(value)
    except OverflowError:
        raise UsageError(f"{name} must be a number of less than 300 digits.") from None


def numbers(value: Any, name: str) -> tuple[float, ...]:
    return tuple(number(one, name) for one in array(value, name))


def is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def whole_number(value: Any, name: str) -> int:
    check(is_whole(value), name, "a whole number")
    return int(value)


def whole_numbers(value: Any, name: str) -> list[int]:
    found = array(value, name)
    check(all(map(is_whole, found)), name, "a list of whole numbers")
    return found


def choice(kind: type[Choice], value: Any, name: str) -> Choice:
    try:
        return kind(value)
    except ValueError:
        raise UsageError(f"{name} cannot be {value!r}: use one of {', '.join(kind)}.") from None
