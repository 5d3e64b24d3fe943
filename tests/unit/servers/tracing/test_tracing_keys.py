from __future__ import annotations

import pytest

from specviz.servers.vllm.tracing.keys import is_key, key_of, new_key

KEY = "specviz-0123456789abcdef0123456789abcdef"


def test_new_keys_are_keys_and_differ() -> None:
    assert is_key(new_key()) and new_key() != new_key()


@pytest.mark.parametrize(
    "engine_id",
    [
        f"cmpl-{KEY}-0-deadbeef",
        f"chatcmpl-{KEY}-deadbeef",
        f"0_cmpl-{KEY}-0-deadbeef",
        f"chatcmpl-{KEY}",
    ],
)
def test_the_first_sequence_of_a_request_is_traced(engine_id: str) -> None:
    assert key_of(engine_id) == KEY


@pytest.mark.parametrize(
    "engine_id",
    [
        "cmpl-80145736cc3572c4-0-deadbeef",
        f"1_cmpl-{KEY}-0-deadbeef",
        f"cmpl-{KEY}-1-deadbeef",
        "cmpl-specviz-../../etc/passwd-0-deadbeef",
        f"cmpl-{KEY.upper()}-0-deadbeef",
    ],
)
def test_everything_else_is_not(engine_id: str) -> None:
    assert key_of(engine_id) is None


@pytest.mark.parametrize("text", ["", "specviz-", KEY + "0", KEY + "/..", f"../{KEY}", KEY + "\n"])
def test_only_whole_keys_are_keys(text: str) -> None:
    assert not is_key(text)
