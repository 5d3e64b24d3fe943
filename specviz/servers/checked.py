"""What a server says, checked before anything believes it.

Each function takes a value of any type, as it came out of JSON, and returns it with the type and in
the range that it must have. Otherwise it raises MalformedReply, whose message names the field and
shows the beginning of what came. Nothing else in `servers` converts or trusts what was received.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from reprlib import Repr
from typing import Any, TypeGuard, TypeVar

from msgspec import MsgspecError
from msgspec.json import Decoder

from specviz.errors import MalformedReply
from specviz.trace import whole

MAX_EXCERPT = 300
"""Characters of a server's own words that are shown and stored."""

MAX_ID = 2**31 - 1
"""The largest token id, and count of tokens, that the store takes (32 bits)."""

MAX_MS = 1e9
"""Eleven days: no step takes longer."""

ROUNDING = 1e-3
"""How far above 1 a probability that was computed in 16 or 32 bits may come out."""

_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = 4
_SHORT.maxlevel = 2

T = TypeVar("T")

_decode = Decoder().decode


def parsed(data: bytes | str, what: str) -> Any:
    """The value of a JSON document; bytes that are not UTF-8 read as U+FFFD.

    Every chunk of a stream comes through here, and msgspec takes a third of json's time. What it
    refuses goes to json, which also reads half a character and NaN.
    """
    try:
        return _decode(data)
    except (MsgspecError, ValueError, RecursionError):
        text = data.decode(errors="replace") if isinstance(data, bytes) else data
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:  # nested too deep
        raise MalformedReply(f"{what} is not valid JSON ({shown(text)})") from error


def object_on(page: str | None) -> dict[str, Any]:
    """The JSON object on a page, {} where there is none: no page, or another program's."""
    try:
        return json_object(parsed(page or "{}", "the page"), "the page")
    except MalformedReply:
        return {}


def json_object(value: object, what: str) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise _is_not("an object", value, what)


def array(value: object, what: str, most: int = MAX_ID) -> list[Any]:
    if isinstance(value, list | tuple) and len(value) <= most:
        return list(value)
    raise _is_not("a list" if most == MAX_ID else f"a list of at most {most}", value, what)


def text(value: object, what: str, longest: int = MAX_ID) -> str:
    """Text as it came, lone surrogates included: see `whole`."""
    if isinstance(value, str) and len(value) <= longest:
        return value
    raise _is_not("text" if longest == MAX_ID else f"a text of at most {longest}", value, what)


def label(value: object, what: str, longest: int = MAX_EXCERPT) -> str:
    """A short text that can be stored and is not empty: a name, a version, a reason."""
    if found := whole(text(value, what, longest)).strip():
        return found
    raise _is_not("a name", value, what)


def number(value: object, what: str, low: float, high: float) -> float:
    if _is_number(value) and low <= value <= high:
        return float(value)
    raise _is_not(f"a number from {low:g} to {high:g}", value, what)


def count(value: object, what: str, low: int = 0, high: int = MAX_ID) -> int:
    """A whole number, also where it is written as `3.0`."""
    if _is_number(value) and low <= value <= high and value == int(value):
        return int(value)
    raise _is_not(f"a whole number from {low} to {high}", value, what)


def probability(value: object, what: str) -> float:
    return min(number(value, what, 0.0, 1.0 + ROUNDING), 1.0)


def milliseconds(value: object, what: str) -> float:
    return number(value, what, 0.0, MAX_MS)


def token_ids(value: object, what: str, most: int = MAX_ID) -> tuple[int, ...]:
    ids = array(value, what, most)
    if set(map(type, ids)) == {int} and min(ids) >= 0 and max(ids) <= MAX_ID:
        return tuple(ids)  # in every chunk of a stream
    return tuple([count(one, what) for one in ids])


def optional(check: Callable[..., T], value: object, what: str, *limits: Any) -> T | None:
    """None stays None, everything else is checked."""
    return None if value is None else check(value, what, *limits)


def excerpt(value: str, longest: int = MAX_EXCERPT) -> str:
    """The beginning of a server's own words, on one line, for a message."""
    line = " ".join(whole(value[: 4 * longest]).split())
    return line if len(line) <= longest else f"{line[:longest]}…"


def listed(names: Collection[str], most: int = 10) -> str:
    """The first names of a list that may be long."""
    said = ", ".join([excerpt(name, 100) for name in list(names)[:most]])
    return said if len(names) <= most else f"{said} and {len(names) - most} more"


def shown(value: object) -> str:
    """The beginning of any value, for a message."""
    return excerpt(_SHORT.repr(value), 80)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_not(expected: str, value: object, what: str) -> MalformedReply:
    return MalformedReply(f"{what} is {shown(value)}, not {expected}")
