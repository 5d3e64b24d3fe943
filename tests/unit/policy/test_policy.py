"""The table of K: which cell a request gets, its file, and the hold while load changes."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.errors import UsageError
from specviz.policy.file import parse_policy, policy_toml, read_policy
from specviz.policy.hold import after_step, start
from specviz.policy.policy import Basis, Policy, Row

MAX_K = 8
FILE = """
version = 1
num_speculative_tokens = 5
requests_running = [1, 4, 16]

[[rows]]
temperature = 0.0
k = [5, 4, 2]
basis = ["measured", "equivalent", "predicted"]

[[rows]]
k = [2, 0, 0]
"""


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    columns = draw(st.lists(st.integers(1, 300), min_size=1, max_size=5, unique=True))
    width = len(columns)
    cells = st.lists(st.integers(0, MAX_K), min_size=width, max_size=width).map(tuple)
    bases = st.lists(st.sampled_from(Basis), min_size=width, max_size=width).map(tuple)
    conditioned = st.builds(
        Row,
        k=cells,
        basis=bases,
        temperature=st.floats(0, 2),
        top_p=st.none() | st.floats(0.01, 1),
        category=st.none() | st.sampled_from(["code_generation", "summarization"]),
    )
    rows = draw(st.lists(conditioned, max_size=4))
    last = Row(k=draw(cells), basis=draw(bases))
    return Policy(MAX_K, tuple(sorted(columns)), (*rows, last), draw(st.integers(1, 9)))


def test_a_request_gets_the_cell_of_its_temperature_and_the_load() -> None:
    policy = parse_policy(FILE)
    assert [policy.k(running, 0.0) for running in (0, 1, 2, 4, 5, 16, 99)] == [5, 5, 4, 4, 2, 2, 2]
    assert [policy.k(running, 0.7) for running in (1, 2, 16)] == [2, 0, 0]
    assert policy.rows[1].basis == (Basis.EDITED,) * 3


@given(policies())
def test_the_file_of_a_policy_is_read_as_the_same_policy(policy: Policy) -> None:
    assert parse_policy(policy_toml(policy)) == policy


@given(policies(), st.lists(st.integers(0, 400), min_size=1, max_size=60))
def test_the_column_changes_only_after_the_load_held(policy: Policy, loads: list[int]) -> None:
    held = start(policy, loads[0])
    for at, running in enumerate(loads[1:], start=1):
        before, held = held, after_step(held, policy, running)
        if held.column != before.column:
            asked = {policy.column(n) for n in loads[at + 1 - policy.hold_steps : at + 1]}
            assert asked == {held.column}


@given(policies(), st.integers(0, 400), st.integers(0, 400))
def test_a_load_that_stays_gets_its_column(policy: Policy, first: int, then: int) -> None:
    held = start(policy, first)
    for _ in range(policy.hold_steps):
        held = after_step(held, policy, then)
    assert held.column == policy.column(then)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("version = 1", "version = 2", "version"),
        ("[5, 4, 2]", "[6, 4, 2]", "K = 6"),
        ("[5, 4, 2]", "[5, -1, 2]", "K = -1"),
        ("[5, 4, 2]", "[5, 4]", "Row 1 has 2 K"),
        ("[5, 4, 2]", '"five"', "k of row 1"),
        ("[5, 4, 2]", "[5, true, 2]", "k of row 1"),
        ("[1, 4, 16]", "[1, 16, 4]", "requests_running"),
        ("[1, 4, 16]", "[]", "requests_running"),
        ("[1, 4, 16]", "[0, 4, 16]", "requests_running"),
        ("k = [2, 0, 0]", "temperature = 1.0\nk = [2, 0, 0]", "last row"),
        ("temperature = 0.0\n", "", "never used"),
        ("temperature = 0.0", "temperature = nan", "temperature"),
        ("temperature = 0.0", "temperature = -1", "temperature"),
        ("temperature = 0.0", 'temperature = "warm"', "temperature"),
        ("temperature = 0.0", "top_p = 0", "top_p"),
        ("temperature = 0.0", "warmth = 0", "warmth"),
        ('"predicted"', '"guessed"', "basis"),
        ("num_speculative_tokens = 5", "num_speculative_tokens = 0", "num_speculative_tokens"),
        ("num_speculative_tokens = 5", "", "num_speculative_tokens"),
        ("[[rows]]", "[[rows", "not TOML"),
    ],
)
def test_nonsense_is_refused_in_one_sentence(old: str, new: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(FILE.replace(old, new, 1))
    with pytest.raises(UsageError, match=r"policy\.toml") as refused:
        read_policy(path)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone\.toml"):
        read_policy(tmp_path / "gone.toml")
