"""Triton's random numbers, computed on the host."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.servers.vllm.tracing.v2.uniform import SMALLEST, uniform

SEEDS = st.integers(-(2**63), 2**63 - 1)

DRAWN = [
    (0, 0, 0.7980929017066956),
    (1, 1, 0.6560034155845642),
    (42, 1000, 0.43787887692451477),
    (-1, 2**31 - 1, 0.323047935962677),
    (2**63 - 1, 2**33 + 5, 0.862969160079956),
    (-(2**63), 7, 0.06002108380198479),
]
"""Seed, offset and `tl.rand` of triton 3.7.1, in its interpreter."""


@pytest.mark.parametrize(("seed", "position", "drawn"), DRAWN)
def test_it_is_the_number_that_triton_draws(seed: int, position: int, drawn: float) -> None:
    assert uniform(seed, position) == drawn


@given(SEEDS, st.integers(0, 2**40))
def test_it_is_above_zero_and_at_most_one(seed: int, position: int) -> None:
    assert SMALLEST * 0.999 < uniform(seed, position) <= 1.0
