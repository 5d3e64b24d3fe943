"""What goes through the pipe comes out as it was, and nothing else comes out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.store.sql.frames import HEADER, packed, unpacked
from tests.support.properties import share

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**127), 2**127)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.binary()
    | st.decimals(allow_nan=False)
    | st.datetimes()
    | st.dates()
    | st.times()
    | st.timedeltas()
    | st.uuids(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("ab$"), inner),
    max_leaves=20,
)


@share(0.5)
@given(st.dictionaries(st.text("abc"), values))
def test_a_message_comes_back(message: dict[str, object]) -> None:
    frame = packed(message)
    (length,) = HEADER.unpack(frame[: HEADER.size])
    assert length == len(frame) - HEADER.size
    assert unpacked(frame[HEADER.size :]) == message


def test_half_a_character_does_not_stop_a_message() -> None:
    assert unpacked(packed({"a": "\ud83d"})[HEADER.size :]) == {"a": "?"}


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"[]", b"1", b"\xff", b"{" * 100_000, b"[" * 100_000, b'{"a": 1'),
        '{"a": {"\ue000specviz": 3}}'.encode(),
        '{"a": {"\ue000specviz": ["UUID", "x"]}}'.encode(),
        '{"a": {"\ue000specviz": ["datetime", "os.system"]}}'.encode(),
        '{"a": {"\ue000specviz": ["Decimal", "x"]}}'.encode(),
    ],
)
def test_what_is_no_message_is_refused(body: bytes) -> None:
    with pytest.raises((ValueError, TypeError, ArithmeticError)):
        unpacked(body)


def test_too_large_or_too_deep() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match="too deeply"):
        packed({"a": deep})
