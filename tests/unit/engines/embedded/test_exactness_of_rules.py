"""Exact rejection sampling, over tables: the output is distributed as the target's own sampling.

Each case draws outputs of three tokens from `verify` on drafts of two levels and holds all of them
against the joint distribution enumerated from the target (Pearson's chi-square, failed at
p <= `ALPHA` or by a single impossible output): `FEW` in `make test`, `SAMPLES` in `make test-slow`
and `MANY` in `make test-long`. `test_mutations.py` shows that the same check fails by far when a
rule is broken, with half as many samples as `SAMPLES`.
"""

from __future__ import annotations

import pytest

from tests.support.embedded.exactness import CHAIN, DEEP, TREE, problem

FEW = 2_000
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
    ("shape", "drawn", "temperature", "samples"),
    [
        pytest.param(*case, samples, id=f"{name} {samples}", marks=marks)
        for case, name in zip(CASES, IDS, strict=True)
        for samples, marks in (
            (FEW, [] if case[2] < 1 else pytest.mark.slow),
            (SAMPLES, pytest.mark.slow),
            (MANY, pytest.mark.long),
        )
    ],
)
def test_three_tokens_are_distributed_as_the_target_s(
    shape, drawn, temperature, samples: int
) -> None:
    check = problem(shape, drawn=drawn, temperature=temperature).check(samples)
    assert check.samples == samples
    assert check.passed, check
