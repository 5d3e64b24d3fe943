"""Exact rejection sampling, over tables: the output is distributed as the target's own sampling.

Each case draws outputs of three tokens from `verify` on drafts of two levels and holds all of them
against the joint distribution enumerated from the target (Pearson's chi-square, failed at
p <= `ALPHA` or by a single impossible output): `SAMPLES` in `make test` and `make test-slow`,
`MANY` in `make test-long`. `test_mutations.py` shows that the same check fails by far when a rule
is broken, with half as many samples as `SAMPLES`.
"""

from __future__ import annotations

import pytest

from tests.support.embedded.exactness import CHAIN, DEEP, TREE, problem

SAMPLES = 20_000
MANY = 100_000
CASES = [
    (shape, drawn, temperature)
    for shape in (CHAIN, TREE)
    for drawn in (True, False)
    for temperature in (0.7, 1.3)
] + [(DEEP, True, 1.3)]


IDS = [f"{shape.name} {'drawn' if drawn else 'picked'} T={t}" for shape, drawn, t in CASES]


@pytest.mark.parametrize(
    ("shape", "drawn", "temperature"),
    [
        pytest.param(*case, id=name, marks=pytest.mark.slow if case[2] > 1 else [])
        for case, name in zip(CASES, IDS, strict=True)
    ],
)
def test_three_tokens_are_distributed_as_the_target_s(shape, drawn, temperature) -> None:
    check = problem(shape, drawn=drawn, temperature=temperature).check(SAMPLES)
    assert check.samples == SAMPLES
    assert check.passed, check


@pytest.mark.long  # the test above is the same with a fifth of the samples
@pytest.mark.parametrize(("shape", "drawn", "temperature"), CASES, ids=IDS)
def test_many_outputs_are_distributed_as_the_target_s(shape, drawn, temperature) -> None:
    check = problem(shape, drawn=drawn, temperature=temperature).check(MANY)
    assert check.samples == MANY
    assert check.passed, check
