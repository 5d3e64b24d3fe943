"""JSON of a server reads the same whichever of the two readers takes it."""

import json
import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from specviz.errors import MalformedReply
from specviz.servers.checked import parsed

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES, st.booleans())
@example("half a character \ud83d", True)
@example(10**400, False)
def test_a_document_reads_as_json_reads_it(value: object, as_bytes: bool) -> None:
    document = json.dumps(value)
    read = parsed(document.encode() if as_bytes else document, "it")
    assert repr(read) == repr(json.loads(document))


@given(st.binary() | st.text().map(lambda text: f'"{text}"'.encode() + b"\xff"))
@example(b'"\xff"')
@example(b'"\\ud83d"')
@example(b"1e400")
@example(b"-NaN")
@example(b"\xef\xbb\xbf{}")
def test_any_bytes_read_as_json_reads_them_or_are_refused(data: bytes) -> None:
    try:
        expected = repr(json.loads(data.decode(errors="replace")))
    except ValueError:
        with pytest.raises(MalformedReply, match="it is not valid JSON"):
            parsed(data, "it")
    else:
        assert repr(parsed(data, "it")) == expected


def test_bytes_that_are_not_utf_8_become_replacement_characters() -> None:
    assert parsed(b'" \xff"', "it") == " �"


def test_infinity_comes_to_the_checks_of_ranges() -> None:
    assert parsed("1e400", "it") == math.inf


@pytest.mark.parametrize("nested", ["[" * 100_000, '{"a":' * 100_000])
def test_what_is_nested_too_deep_is_refused(nested: str) -> None:
    with pytest.raises(MalformedReply):
        parsed(nested, "it")
