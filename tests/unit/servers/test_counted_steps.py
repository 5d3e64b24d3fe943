"""Labels from a stock server's counts, against simulated requests whose truth is known."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from specviz.servers.client.chunks import Chunk
from specviz.servers.client.steps.counted import counted_steps
from specviz.servers.client.tape import TokenTape, origins_of_step
from specviz.servers.dialect import SpecCounts
from specviz.trace import Channel, Origin, Verdict

K = 4
Spec = tuple[int, int]  # drafted, accepted; (0, 0) is a step without a draft

always = st.lists(st.integers(0, K).map(lambda accepted: (K, accepted)), max_size=12)
lookup = st.lists(
    st.one_of(st.just((0, 0)), st.integers(0, K).map(lambda accepted: (K, accepted))), max_size=12
)


def simulate(steps: list[Spec], cut: int, merge: bool = False) -> tuple[TokenTape, list[Origin]]:
    """The tape of a request: the prompt's step, then `steps`, the last `cut` tokens cut off."""
    truth = [[Origin.TARGET], *(origins_of_step(*step) for step in steps)]
    truth[-1] = truth[-1][: max(1, len(truth[-1]) - cut)]
    sizes = [len(origins) for origins in truth]
    if merge and len(sizes) > 2:
        sizes = [sizes[0], sizes[1] + sizes[2], *sizes[3:]]
    tape = TokenTape()
    token_id = 0
    for number, size in enumerate(sizes):
        ids = tuple(range(token_id, token_id + size))
        tape.add(Chunk(float(number), token_ids=ids), [("x", Channel.ANSWER)] * size)
        token_id += size
    return tape, [origin for origins in truth for origin in origins]


def spec_counts(steps: list[Spec]) -> SpecCounts:
    entries = [step for step in steps if step[0]]
    return SpecCounts(
        tuple(accepted for _, accepted in entries), tuple(drafted for drafted, _ in entries), K
    )


@given(always, st.integers(0, K), st.booleans())
def test_a_method_that_always_drafts_is_labelled_exactly(
    steps: list[Spec], cut: int, merge: bool
) -> None:
    tape, truth = simulate(steps, cut, merge)
    labelled = counted_steps(tape, spec_counts(steps), always_drafts=True)
    assert labelled is not None
    assert [token.origin for step in labelled for token in step.emitted] == truth


@given(lookup, st.integers(0, K))
def test_a_lookup_method_is_right_or_unknown_and_its_sums_are_exact(
    steps: list[Spec], cut: int
) -> None:
    tape, truth = simulate(steps, cut)
    labelled = counted_steps(tape, spec_counts(steps), always_drafts=False)
    assert labelled is not None
    found = [token.origin for step in labelled for token in step.emitted]
    assert len(found) == len(truth)
    assert all(
        label in (origin, Origin.UNKNOWN) for label, origin in zip(found, truth, strict=True)
    )
    drafted = [token for step in labelled for token in step.drafted]
    assert len(drafted) == sum(step[0] for step in steps)
    accepted = sum(token.verdict is Verdict.ACCEPTED for token in drafted)
    assert accepted == sum(step[1] for step in steps)


@given(st.lists(st.just((0, 0)), min_size=1, max_size=8))
def test_lookups_that_never_find_anything_leave_only_target_tokens(steps: list[Spec]) -> None:
    tape, _ = simulate(steps, 0)
    labelled = counted_steps(tape, spec_counts(steps), always_drafts=False)
    assert labelled is not None
    assert {token.origin for step in labelled for token in step.emitted} == {Origin.TARGET}


def test_a_miss_and_a_rejected_draft_side_by_side_are_unknown() -> None:
    steps = [(0, 0), (K, 0)]
    tape, _ = simulate(steps, 0)
    labelled = counted_steps(tape, spec_counts(steps), always_drafts=False)
    assert labelled is not None
    origins = [token.origin for step in labelled for token in step.emitted]
    assert origins == [Origin.TARGET, Origin.UNKNOWN, Origin.UNKNOWN]


def test_counts_that_do_not_fit_are_not_used() -> None:
    tape, _ = simulate([(K, 2), (K, 1)], 0)
    assert counted_steps(tape, spec_counts([(K, 2)]), always_drafts=True) is None
