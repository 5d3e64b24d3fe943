"""Two tools' acceptance of one pair: what the definitions make of it, and what is left."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.acceptance import definitions as d
from specviz.analysis.acceptance.counts import (
    Counts,
    RequestCounts,
    computed,
    conditional,
    summed,
)
from specviz.analysis.acceptance.difference import Report, differences
from specviz.analysis.acceptance.tools import TOOLS, Reported, reported

DATA = Path(__file__).parents[2] / "store" / "data"

SHORT = RequestCounts(2, 6, 6, 9)
LONG = RequestCounts(100, 300, 150, 251)
BOTH = summed([SHORT, LONG])


def value(counts: Counts, definition: d.Definition) -> float | None:
    return computed(counts)[definition.key].value


def test_by_hand() -> None:
    assert value(BOTH, d.RATE) == pytest.approx(156 / 306)
    assert value(BOTH, d.RATE_OF_REQUESTS) == pytest.approx((1 + 0.5) / 2)
    assert value(BOTH, d.VERIFIED_OF_REQUESTS) == pytest.approx((1 + 250 / 400) / 2)
    assert value(BOTH, d.LENGTH) == pytest.approx(1 + 156 / 102)
    assert value(BOTH, d.LENGTH_OF_REQUESTS) == pytest.approx((4 + 2.5) / 2)
    assert value(BOTH, d.ACCEPTED) == pytest.approx(156 / 102)
    assert value(BOTH, d.TOKENS) == pytest.approx(260 / 102)
    assert value(BOTH, d.TOKENS_OF_REQUESTS) == pytest.approx((4.5 + 2.51) / 2)
    assert value(BOTH, d.TOKENS_PER_CHUNK) is None


def test_tokens_per_chunk_leave_the_first_chunk_out() -> None:
    counts = summed([RequestCounts(2, 6, 6, 9, chunks=3), RequestCounts(0, 0, 0, 5, chunks=5)])
    assert value(counts, d.TOKENS_PER_CHUNK) == pytest.approx((8 + 4) / (2 + 4))


def test_a_request_without_drafts_is_in_no_mean_of_requests() -> None:
    counts = summed([SHORT, RequestCounts(0, 0, 0, 30)])
    assert value(counts, d.LENGTH_OF_REQUESTS) == 4.0


def test_a_request_that_does_not_tell_leaves_no_figure() -> None:
    """A sum or mean over the others would be of other requests than it says."""
    found = computed(summed([SHORT, RequestCounts(None, None, None, 30)]))
    assert {one.value for one in found.values()} == {None}
    assert all(one.lacks for one in found.values())


def test_rates_by_position_add_up_to_the_length() -> None:
    counts = Counts(rates=(0.8, 0.5, 0.2))
    assert value(counts, d.LENGTH) == pytest.approx(2.5)
    assert value(counts, d.RATE) is None  # the drafts may have been shorter than K
    assert conditional(counts.rates) == pytest.approx([0.8, 0.625, 0.4])
    assert conditional((0.5, 0.0, 0.0)) == [0.5, 0.0, None]


requests = st.lists(
    st.integers(1, 50).flatmap(
        lambda steps: st.integers(steps, 8 * steps).flatmap(
            lambda drafted: st.integers(0, drafted).map(
                lambda accepted: RequestCounts(steps, drafted, accepted, steps + accepted + 1)
            )
        )
    ),
    min_size=1,
)


@given(requests)
def test_definitions_that_follow_from_each_other(members: list[RequestCounts]) -> None:
    counts = summed(members)
    found = {key: one.value or 0.0 for key, one in computed(counts).items()}
    assert found["length"] == pytest.approx(1 + found["accepted"])
    assert found["verified_of_requests"] >= found["rate_of_requests"]
    # the first token of an answer is in no step
    assert found["tokens"] > found["length"]
    if len({one.num_drafts for one in members}) == 1:
        assert found["length"] == pytest.approx(found["length_of_requests"])
    lengths = [1 + (one.num_accepted_tokens or 0) / (one.num_drafts or 1) for one in members]
    assert found["length_of_requests"] == pytest.approx(fmean(lengths))


def aiperf(counts: Counts = Counts()) -> Report:  # noqa: B008 - frozen
    document = json.loads((DATA / "aiperf-summary.json").read_text())
    return Report("AIPerf", tuple(reported("aiperf", document)), counts)


def vllm() -> Report:
    document = json.loads((DATA / "vllm-bench-serve-speculating.json").read_text())
    return Report("vLLM", tuple(reported("vllm bench serve", document)), Counts(171, 513, 397, 570))


def test_two_real_files_differ_by_definition_alone() -> None:
    rate, length = differences(vllm(), aiperf())
    assert length.word is d.Word.LENGTH
    assert length.sentences == (
        "vLLM reports 3.32 as “Acceptance length”: over all steps, 1 + Σa / n.",
        "AIPerf reports 3.34 as “Acceptance Length”: mean of requests, mean(1 + Σaᵣ / nᵣ).",
        "By one definition, over all steps (1 + Σa / n), they are 3.32 and 3.32. The definitions "
        "explain the whole difference of +0.018.",
    )
    assert rate.sentences[-1].endswith("explain the whole difference of +0.006.")


def test_what_the_definitions_do_not_explain_is_said() -> None:
    slower = Report("ours", (), summed([RequestCounts(100, 300, 200, 301)]))
    _, length = differences(slower, aiperf())
    assert length.sentences[-1] == (
        "By one definition, over all steps (1 + Σa / n), they are 3.00 and 3.32. Of the difference "
        "of +0.340, the definitions make +0.018; +0.322 is left for what was counted and for the "
        "other reasons below."
    )


def test_one_definition_explains_nothing() -> None:
    slower = Report("ours", (), summed([RequestCounts(100, 300, 200, 301)]))
    _, length = differences(slower, vllm())
    assert (
        "One definition: it explains nothing of the difference of +0.322." in length.sentences[-1]
    )
    assert differences(vllm(), vllm())[0].sentences[-1] == "One definition, and the same figure."


def test_specforge_and_vllm_meet_at_output_tokens_per_step() -> None:
    """vLLM issue 42508: the mean of requests cannot be turned into the length over all steps."""
    counts = Counts(num_drafts=171, output_tokens=570)
    figure = Reported("Average acceptance length", d.TOKENS_OF_REQUESTS, 3.5)
    (length,) = differences(vllm(), Report("SpecForge", (figure,), counts))
    assert "output tokens per step (Σo / n), they are 3.33 and 3.33." in length.sentences[-1]


def test_what_cannot_be_turned_into_each_other_says_what_it_lacks() -> None:
    lone = Report("one", (Reported("Acceptance Length", d.LENGTH_OF_REQUESTS, 3.0),), Counts())
    other = Report("two", (Reported("length", d.LENGTH, 2.5),), Counts())
    (length,) = differences(lone, other)
    assert length.sentences[-1].startswith("Neither can be turned into the other: one lacks ")


def test_plain_decoding_has_no_difference() -> None:
    assert differences(Report("plain", (), summed([RequestCounts(0, 0, 0, 40)])), vllm()) == []


def test_a_document_of_anything_reports_nothing() -> None:
    odd: list[object] = [None, "3", True, [], {"avg": "x"}, {"avg": True}]
    for tool in [*TOOLS, "unheard of"]:
        for found in odd:
            document = dict.fromkeys(
                ("spec_decode_acceptance_length", "average_acceptance_length"), found
            )
            assert reported(tool, document) == []
