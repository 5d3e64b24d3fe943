"""Where two outputs part."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specviz.analysis.lossless import compare
from specviz.trace import (
    ROOT,
    EmittedToken,
    Fidelity,
    Origin,
    Step,
    TokenDecision,
    TopToken,
    Trace,
    Verdict,
)


def plain(*ids: int) -> Trace:
    steps = tuple(
        Step(index, float(index), (), (EmittedToken(index, token, f"t{token}", Origin.TARGET),))
        for index, token in enumerate(ids)
    )
    return Trace("r", Fidelity.COUNTED, steps)


def test_equal_outputs() -> None:
    comparison = compare(plain(1, 2, 3), plain(1, 2, 3))
    assert comparison is not None and comparison.equal and comparison.compared == 3


def test_the_first_difference_comes_with_the_targets_probabilities_there() -> None:
    top = (TopToken(9, "t9", 0.51), TopToken(3, "t3", 0.49))
    draft = TokenDecision(1, ROOT, 3, "t3", Verdict.REJECTED, target_top=top)
    step = Step(1, 1.0, (draft,), (EmittedToken(1, 9, "t9", Origin.RECOVERED),))
    speculated = Trace("s", Fidelity.TRACED, (*plain(1).steps, step))
    comparison = compare(plain(1, 3), speculated)
    assert comparison is not None
    assert comparison.divergence == 1
    assert (comparison.baseline_text, comparison.method_text) == ("t3", "t9")
    assert comparison.target_top == top


def without_ids(trace: Trace, fidelity: Fidelity = Fidelity.COUNTED) -> Trace:
    steps = tuple(
        replace(step, emitted=tuple(replace(token, token_id=None) for token in step.emitted))
        for step in trace.steps
    )
    return replace(trace, steps=steps, fidelity=fidelity)


def test_counted_tokens_without_ids_are_compared_by_their_texts() -> None:
    same = compare(without_ids(plain(1, 2, 3)), without_ids(plain(1, 2, 3)))
    other = compare(without_ids(plain(1, 2, 3)), without_ids(plain(1, 7, 3)))
    assert same is not None and same.equal
    assert other is not None and other.divergence == 1


def test_chunks_of_text_are_not_compared() -> None:
    known, texts = plain(1, 2), without_ids(plain(1, 2), Fidelity.INFERRED)
    assert compare(without_ids(known), texts) is None
    assert compare(known, without_ids(known)) is None, "two servers may cut tokens differently"


def test_a_shorter_output_is_not_equal() -> None:
    comparison = compare(plain(1, 2, 3), plain(1, 2))
    assert comparison is not None
    assert comparison.divergence is None and not comparison.equal


def test_text_without_ids_cannot_be_compared() -> None:
    step = Step(0, 0.0, (), (EmittedToken(0, None, "hello", Origin.UNKNOWN),))
    assert compare(plain(1), Trace("s", Fidelity.INFERRED, (step,))) is None


def chunked(*ids: int) -> Trace:
    """As a stock server's chunk is read: several tokens in a step, and no word of the drafts."""
    origins = [*[Origin.ACCEPTED] * (len(ids) - 1), Origin.UNKNOWN]
    emitted = tuple(
        EmittedToken(place, token, f"t{token}", origin)
        for place, (token, origin) in enumerate(zip(ids, origins, strict=True))
    )
    return Trace("s", Fidelity.INFERRED, (Step(0, 0.0, (), emitted),))


@pytest.mark.parametrize("differing", range(4))
def test_a_difference_inside_a_chunk_whose_drafts_are_not_reported(differing: int) -> None:
    ids = [1, 2, 3, 4]
    ids[differing] = 9
    comparison = compare(plain(1, 2, 3, 4), chunked(*ids))
    assert comparison is not None
    assert comparison.divergence == differing
    assert (comparison.method_text, comparison.target_top) == ("t9", ())
