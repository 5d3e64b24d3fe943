"""Every method through the real loop: the output is distributed as the target's own sampling.

Target and drafters are real models over six tokens, so small in number of contexts that what they
say is computed once (`remembered.py`); loop, proposers, sampler and verifier run as they are. The
first three tokens of every request count, of which the loop drafts the last two, with top-p 0.9.
`make test` draws `FEW` requests of one case per method, `make test-slow` `SAMPLES` of all cases,
`make test-long` `MANY`; they are held against the joint distribution enumerated from the target by
Pearson's chi-square (`exactness.py`).
"""

from __future__ import annotations

from collections import Counter

import pytest

from specviz.methods import Method
from tests.support.embedded.exactness import Check
from tests.support.embedded.tiny_family import (
    CASES,
    Case,
    Tally,
    TinyFamily,
    check_case,
    decode,
    sampler_of,
)

FEW = 600
SAMPLES = 4_000
MANY = 100_000
SOME = 60

ALL = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
FIRST = {case.method: case for case in reversed(CASES) if case.temperature < 1}
QUICK = [*FIRST.values(), Case(Method.SUFFIX, 0.7, 4, (("shape", "tree"),))]
OF_EVERY_METHOD = pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.name, marks=[] if case in QUICK else pytest.mark.slow)
        for case in CASES
    ],
)


def checked(family: TinyFamily, case: Case, samples: int) -> Check:
    check, tally = check_case(family, case, samples)
    assert check.samples == samples
    assert tally.drafted > samples / 4 and tally.accepted, "too little was drafted to tell"
    return check


@OF_EVERY_METHOD
def test_output_is_distributed_as_the_target_s(family: TinyFamily, case: Case) -> None:
    check = checked(family, case, FEW)
    assert check.passed, check


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "samples",
    [
        pytest.param(SAMPLES, marks=pytest.mark.slow),
        pytest.param(MANY, marks=pytest.mark.long),
    ],
)
@ALL
def test_output_is_distributed_as_the_target_s_in_many_samples(
    family: TinyFamily, case: Case, samples: int
) -> None:
    check = checked(family, case, samples)
    assert check.passed, check


@OF_EVERY_METHOD
def test_remembering_changes_nothing(family: TinyFamily, case: Case) -> None:
    """The same seed gives the same output when every pass is computed again.

    For Mirror it also says that outputs do not depend on what was drafted in time.
    """
    outputs = []
    for remembered in (True, False):
        decoder = family.decoder(case, remembered=remembered)
        sampler, tally = sampler_of(case, 5, remembered=remembered), Tally(Counter())
        outputs.append([decode(decoder, sampler, case.k, 3, tally) for _ in range(SOME)])
    assert outputs[0] == outputs[1]
