"""Every line of the report holds for servers that agree, and fails on what was spoilt."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.servers.metrics import RequestTimes, SpecCounters
from specviz.servers.vllm.verifier import verifier as named_rule
from specviz.trace import Fidelity, Trace, Verdict
from specviz.verify import same_distribution as sampling_test
from specviz.verify.checks.counts import counts
from specviz.verify.checks.greedy import greedy, own_rounding
from specviz.verify.checks.identity import identity
from specviz.verify.checks.runner import runner
from specviz.verify.checks.sampled import sampled
from specviz.verify.checks.timing import timing
from specviz.verify.checks.tracing import tracing_cost
from specviz.verify.checks.verdicts import verdicts
from specviz.verify.checks.verifier import verifier
from specviz.verify.evidence import Answered, Greedy, Speculated, Timing
from specviz.verify.finding import Finding, Outcome, exit_code
from specviz.verify.rounding import Rounding
from tests.support.evidence_made import (
    AGREES,
    BASELINE,
    DRAWN_STEP,
    GAPS,
    GREEDY_STEP,
    PROMPTS,
    ROUNDING,
    SPECULATING,
    answered,
    judged,
    plain,
    server,
    speculated,
    timed,
    traced,
)

INFERRED = replace(traced(), fidelity=Fidelity.INFERRED)
UNTRACED = server(speculates=True, tracing=False, tracing_reason="no plugin")


def of(trace: Trace, gaps: tuple[float, ...] = GAPS) -> list[Greedy]:
    return [Greedy(PROMPTS[0], trace, gaps)]


def compared(baseline: Trace, other: Trace, gaps: tuple[float, ...] = GAPS) -> Finding:
    rounding = ROUNDING if gaps else None
    return greedy("greedy", "Greedy answers", of(baseline, gaps), of(other), rounding)


def test_servers_that_agree_hold_on_every_line() -> None:
    found = [
        identity(BASELINE, SPECULATING),
        runner(BASELINE, SPECULATING),
        verifier(SPECULATING),
        counts(speculated()),
        verdicts(speculated()),
        compared(plain(), traced()),
        tracing_cost(speculated()),
        timing("vLLM", speculated().timing),
    ]
    assert [one.outcome for one in found] == [Outcome.HOLDS] * 8, [one.detail for one in found]
    assert exit_code(found) == 0


@pytest.mark.parametrize(
    ("baseline", "other", "outcome"),
    [
        (SPECULATING, SPECULATING, Outcome.FAILS),
        (BASELINE, BASELINE, Outcome.FAILS),
        (BASELINE, server(speculates=None), Outcome.NOT_MEASURED),
        (server(speculates=None), SPECULATING, Outcome.HOLDS),
    ],
)
def test_only_a_server_that_drafts_speculates(baseline, other, outcome: Outcome) -> None:
    assert identity(baseline, other).outcome is outcome


def test_the_runner_is_named_and_so_is_a_baseline_that_has_another() -> None:
    other = replace(BASELINE, capabilities=replace(BASELINE.capabilities, version="0.33.0"))
    found = runner(other, SPECULATING)
    assert found.outcome is Outcome.HOLDS
    assert "vLLM 0.32.0 with its V2 model runner" in found.detail
    assert "another one: vLLM 0.33.0" in found.detail
    assert "another one" not in runner(SPECULATING, SPECULATING).detail
    assert (found.found["runner"], found.found["baseline_version"]) == ("v2", "0.33.0")


def test_what_keeps_decisions_out_of_the_traces_is_said() -> None:
    sharded = server(speculates=True, tracing=True, runner="v2", hidden=("Sharded.",))
    assert runner(BASELINE, sharded).detail.endswith("Sharded.")


def test_only_the_plugin_names_the_runner_and_the_rule() -> None:
    assert runner(BASELINE, UNTRACED).outcome is Outcome.NOT_MEASURED
    assert verifier(UNTRACED).outcome is Outcome.NOT_MEASURED
    other = replace(UNTRACED, dialect=replace(UNTRACED.dialect, name="other", trace=None))
    assert runner(other, other).outcome is Outcome.HOLDS
    assert verifier(other).outcome is Outcome.NOT_REPORTED


@pytest.mark.parametrize(
    ("rule", "outcome"),
    [("standard", Outcome.HOLDS), ("block", Outcome.HOLDS), ("synthetic", Outcome.FAILS),
     ("fly", Outcome.FAILS), ("of tomorrow", Outcome.NOT_MEASURED)],
)  # fmt: skip
def test_a_rule_that_is_not_lossless_fails(rule: str, outcome: Outcome) -> None:
    found = verifier(server(speculates=True, verifier=named_rule(rule)))
    assert found.outcome is outcome
    assert found.detail.startswith(rule)


@pytest.mark.parametrize(
    ("changes", "outcome", "words"),
    [
        ({"after": SpecCounters(16, 48, 30, (16, 14, 0))}, Outcome.FAILS, "counted 18 drafted"),
        ({"output_tokens": 13}, Outcome.FAILS, "12 emitted; the server counted"),
        ({"after": SpecCounters(3, 9, 1, ())}, Outcome.NOT_MEASURED, "started again"),
        ({"after": None}, Outcome.NOT_MEASURED, "no speculation counters"),
        ({"traces": (INFERRED,)}, Outcome.NOT_MEASURED, "1 of 1"),
        (
            {"traces": (traced(), replace(INFERRED, revised="from token 4 on …"))},
            Outcome.NOT_MEASURED,
            "1 of 2 answers came without whole counts (from token 4 on …).",
        ),
        ({"traces": (traced(),) * 2}, Outcome.FAILS, "12 drafted and 6 accepted in 4 steps"),
    ],
)  # fmt: skip
def test_sums_are_the_counters(changes, outcome: Outcome, words: str) -> None:
    found = counts(speculated(**changes))
    assert found.outcome is outcome
    assert words in found.detail


ACCEPTED, REJECTED, UNVERIFIED = Verdict.ACCEPTED, Verdict.REJECTED, Verdict.UNVERIFIED


@pytest.mark.parametrize(
    ("drafted", "words"),
    [
        ([judged(11, REJECTED, accept_prob=1.0)], "an acceptance probability of 1.0"),
        ([judged(11, ACCEPTED, target_prob=0.2)], "first choice is 't11'"),
        ([judged(11, REJECTED, target_top=judged(11, ACCEPTED).target_top)], "it is the target's"),
        ([judged(11, ACCEPTED, accept_prob=None)], "no acceptance probability"),
        ([judged(11, ACCEPTED, accept_prob=0.4, u=0.6, draft_prob=None)], "u 0.6000"),
        ([judged(11, REJECTED, accept_prob=0.4, u=0.2, draft_prob=None)], "u 0.2000"),
        (
            [judged(11, ACCEPTED, draft_prob=0.5, target_prob=0.25, accept_prob=0.9, u=0.1)],
            "min(1, p / q) is 0.5000",
        ),
        ([judged(11, REJECTED), judged(12, ACCEPTED)], "after a rejection"),
        ([judged(11, UNVERIFIED)], "before any rejection"),
    ],
)  # fmt: skip
def test_one_wrong_verdict_is_found_and_named(drafted, words: str) -> None:
    spoilt = replace(GREEDY_STEP, drafted=tuple(drafted))
    found = verdicts(speculated(traced(spoilt, DRAWN_STEP)))
    assert found.outcome is Outcome.FAILS
    assert words in found.detail
    assert "step 1 of request specviz-1" in found.detail


def test_of_two_equal_first_choices_either_may_be_accepted() -> None:
    tops = tuple(replace(top, prob=0.4) for top in judged(11, REJECTED).target_top)
    tied = [
        judged(11, ACCEPTED, target_prob=0.4, target_top=tops),
        judged(98, REJECTED, target_prob=0.4, target_top=tops),
    ]
    for token in tied:
        step = replace(GREEDY_STEP, drafted=(token,))
        assert verdicts(speculated(traced(step))).outcome is Outcome.HOLDS


def test_a_server_that_does_not_trace_shows_no_verdicts() -> None:
    counted = replace(traced(), fidelity=Fidelity.COUNTED)
    untraced = speculated(counted, answered=answered(UNTRACED, counted), tracing=())
    assert verdicts(untraced).outcome is Outcome.NOT_MEASURED
    assert tracing_cost(untraced).outcome is Outcome.NOT_MEASURED
    assert exit_code([verdicts(untraced)]) == 2
    without = replace(UNTRACED, dialect=replace(UNTRACED.dialect, trace=None))
    other = replace(untraced, answered=answered(without, counted))
    assert verdicts(other).outcome is Outcome.NOT_REPORTED
    assert exit_code([verdicts(other), tracing_cost(other)]) == 0


def test_answers_may_part_at_a_near_tie_only() -> None:
    assert compared(plain((11, 12, 13, 77)), traced()).outcome is Outcome.HOLDS
    assert compared(plain((11, 77, 13, 14)), traced()).outcome is Outcome.FAILS
    unknown = compared(plain((11, 77, 13, 14)), traced(), gaps=())
    assert unknown.outcome is Outcome.NOT_MEASURED
    assert "near tie" in unknown.detail


PARTED, ENDED = (11, 12, 13, 77), (11, 12, 13)


def several(parted: int, rounding: Rounding, ids: tuple[int, ...] = PARTED) -> Finding:
    """The check of ten answers, so many of which part at a gap of 0.1."""
    baseline = [*of(plain(ids)) * parted, *of(plain()) * (10 - parted)]
    return greedy("greedy", "Greedy answers", baseline, of(traced()) * 10, rounding)


@pytest.mark.parametrize("ids", [PARTED, ENDED])
def test_more_answers_than_rounding_parts_are_another_model(ids: tuple[int, ...]) -> None:
    few, many = several(2, ROUNDING, ids), several(6, ROUNDING, ids)
    assert (few.outcome, many.outcome) == (Outcome.HOLDS, Outcome.FAILS)
    assert "too many for rounding" in many.detail
    assert "moved 40 of 100 log-probabilities, by 0.05 on average" in few.detail
    assert (few.found["near_ties"], few.found["parted"]) == (2, 0)
    most = int(str(few.expected["near_ties"]).removeprefix("at most "))
    assert few.detail.endswith(f"may part up to {most} of the answers.")
    still = several(0, replace(ROUNDING, moved=0), ids)
    assert "moved none of 100 log-probabilities, which are 0.05 or multiples" in still.detail
    outcomes = [several(number, ROUNDING, ids).outcome for number in (most, most + 1)]
    assert outcomes == [Outcome.HOLDS, Outcome.FAILS]


def test_how_near_a_tie_must_be_follows_from_the_servers_own_rounding() -> None:
    finer, coarser = replace(ROUNDING, size=0.001), replace(ROUNDING, size=0.5)
    found = several(1, finer)
    assert found.outcome is Outcome.FAILS
    assert "parts at token 4, where the best token is 0.1 above the second" in found.detail
    assert (found.found["near_ties"], found.found["parted"]) == (0, 1)
    assert several(7, coarser).outcome is Outcome.HOLDS
    assert several(7, replace(coarser, moved=0, positions=1000)).outcome is Outcome.FAILS


def test_a_baseline_with_one_slot_does_not_show_its_rounding() -> None:
    twice = tuple(replace(one, moves=(0.0,) * len(GAPS)) for one in of(plain(PARTED)))
    for slots, outcome in ((1, Outcome.NOT_MEASURED), (2, Outcome.FAILS)):  # nothing moved
        baseline = Answered(server(speculates=False, slots=slots), twice, ())
        found = greedy("greedy", "", baseline.greedy, of(traced()), own_rounding(baseline))
        assert found.outcome is outcome, found.detail
        assert ("start it with more slots" in found.detail) is (slots == 1)
    another = greedy("greedy", "", of(plain(prompt_ids=(1, 2))), of(traced()), None)
    assert another.outcome is Outcome.FAILS, "no rounding reads a prompt as other tokens"


def test_an_answer_may_end_early_at_a_near_tie_only() -> None:
    assert compared(plain((11, 12, 13)), traced()).outcome is Outcome.HOLDS
    assert compared(plain((11, 12)), traced()).outcome is Outcome.FAILS


def test_another_tokenizer_is_seen() -> None:
    """It reads the prompt as other tokens, or writes the same tokens as another text."""
    other_prompt = compared(plain(prompt_ids=(1, 2)), traced())
    assert "different tokens" in other_prompt.detail
    steps = [
        replace(step, emitted=tuple(replace(token, text="?") for token in step.emitted))
        for step in traced().steps
    ]
    other_text = compared(plain(), traced(*steps))
    assert (other_text.outcome, other_prompt.outcome) == (Outcome.FAILS, Outcome.FAILS)
    assert "another text" in other_text.detail


def test_sampled_answers_of_another_distribution_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling_test, "TRIALS", 20)
    rng = np.random.default_rng(4)
    drawn = [tuple(map(tuple, rng.integers(10, 40, (60, 4)).tolist())) for _ in range(2)]
    baseline = answered(BASELINE, plain(), drawn[0])
    same = sampled(baseline, answered(SPECULATING, plain(), drawn[1]), 1)
    assert same.outcome is Outcome.HOLDS, same.detail
    repeated = (tuple(traced().token_ids),) * 60
    other = sampled(baseline, answered(SPECULATING, plain(), repeated), 1)
    assert other.outcome is Outcome.FAILS
    without_ids = [
        replace(one, sampled=tuple(tuple(replace(d, token_ids=()) for d in p) for p in one.sampled))
        for one in (baseline, answered(SPECULATING, plain(), repeated))
    ]
    assert sampled(*without_ids, 1).outcome is Outcome.FAILS  # by their characters
    silent = sampled(answered(BASELINE, plain()), answered(SPECULATING, plain()), 1)
    assert silent.outcome is Outcome.NOT_MEASURED


SHORT = RequestTimes(1, 0.098, 0.3)  # 200 ms less than the client saw


@pytest.mark.parametrize(
    ("of_both", "outcome"),
    [
        (timed(*[SHORT] * 4), Outcome.FAILS),
        (timed(*[RequestTimes(1, 0.125, 0.495)] * 4), Outcome.FAILS),  # longer than the client's
        (timed(*[RequestTimes(1, 0.098, 0.51)] * 4), Outcome.FAILS),
        (timed(*[RequestTimes(1, 0.0001, 0.0005)] * 4), Outcome.FAILS),  # of another unit
        (timed(SHORT, SHORT, SHORT, AGREES), Outcome.NOT_MEASURED),
        (timed(AGREES, AGREES, AGREES, RequestTimes(1, 0.01, 0.3)), Outcome.HOLDS),  # one stalled
        (timed(*[RequestTimes(1, 0.02, 0.495)] * 2, AGREES, AGREES), Outcome.NOT_MEASURED),
        (timed(AGREES, AGREES, AGREES, RequestTimes(2, 0.098, 0.495)), Outcome.NOT_MEASURED),
        (timed(AGREES, AGREES, RequestTimes(0, 0, 0), RequestTimes(2, 1, 2)), Outcome.NOT_MEASURED),
        (Timing((AGREES,) * 4, None, (0.001,) * 4), Outcome.NOT_REPORTED),
    ],
)
def test_times_are_inside_the_clients(of_both: Timing, outcome: Outcome) -> None:
    assert timing("vLLM", of_both).outcome is outcome


def test_a_long_way_to_the_server_is_no_disagreement() -> None:
    theirs = [RequestTimes(1, 0.04, 0.44)] * 4
    near, far = timing("vLLM", timed(*theirs)), timing("vLLM", timed(*theirs, round_trip_s=0.05))
    assert (near.outcome, far.outcome) == (Outcome.FAILS, Outcome.HOLDS)
    assert "a round trip: 50 ms" in far.detail


def test_a_busy_machine_is_no_wrong_clock() -> None:
    """One round trip of four waited for a processor, as some part of every request did."""
    busy = replace(timed(*[SHORT] * 4), round_trips_s=(0.001, 0.001, 0.001, 0.02))
    found = timing("vLLM", busy)
    assert found.outcome is Outcome.NOT_MEASURED
    assert "E2EL differ by no more than on a busy machine" in found.detail


@given(
    st.lists(st.tuples(*[st.floats(0.001, 5.0)] * 4), min_size=1, max_size=12),
    st.floats(0.0, 3.0),
)
def test_a_sound_server_never_fails_however_long_either_side_waits(
    requests: list[tuple[float, float, float, float]], waits_s: float
) -> None:
    """Round trips wait with everything that waits inside the server's interval or outside of it: a
    tenth as long, once."""
    server = tuple(RequestTimes(1, ttft, ttft + decode) for ttft, decode, _, _ in requests)
    client = tuple(
        RequestTimes(1, own.ttft_s + waits_s * share / 5, own.e2el_s + waits_s * other / 5)
        for own, (_, _, share, other) in zip(server, requests, strict=True)
    )
    round_trips = (*[0.001] * (len(requests) - 1), waits_s / 10)
    found = timing("vLLM", Timing(client, server, round_trips))
    assert found.outcome is not Outcome.FAILS


def test_the_price_of_a_trace_has_its_interval() -> None:
    found: Speculated = speculated()
    figures = tracing_cost(found).found
    low, ratio, high = (figures[f"batch_1{end}"] for end in ("_low", "", "_high"))
    assert ratio == pytest.approx(1.09)
    assert low < ratio < high
