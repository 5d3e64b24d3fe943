"""K by temperature and load: by what pays, never beyond noise below plain decoding, no gaps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from specviz.analysis.benchmark.results import Slo
from specviz.analysis.k.selection import not_worse
from specviz.analysis.policy.comparison import compare
from specviz.analysis.policy.objective import Objective
from specviz.analysis.policy.sentences import column_titles, lines, row_titles
from specviz.analysis.policy.table import PolicyTable, at_any_temperature, policy_table
from specviz.errors import UsageError
from specviz.policy.file import parse_policy, policy_toml
from specviz.policy.policy import Basis
from tests.support.analysis.sweeps import accepted, family, sweep
from tests.support.properties import share

KS = (1, 3, 5)
GRID = [(t, c) for t in (0.0, 0.7) for c in (1, 4, 16)]
SMALL = [(t, c) for t in (0.0, 0.7) for c in (1, 4)]
THROUGHPUT = Objective(Slo())
SOME = share(0.25)


def ks_of(table: PolicyTable) -> list[list[int]]:
    return [[one.k for one in row] for row in table.rows]


def bases_of(table: PolicyTable) -> list[list[Basis]]:
    return [[one.basis for one in row] for row in table.rows]


def falling(k: int, temperature: float, concurrency: int) -> float:
    """Each draft token gains 0.3 alone, less at 4, and costs at 16; half of it at 0.7."""
    gain = {1: 0.3, 4: 0.1, 16: -0.1}[concurrency]
    return 1 + k * gain * (1.0 if temperature == 0 else 0.5)


def test_what_pays_alone_is_off_under_load() -> None:
    table = policy_table(family(*KS), sweep(KS, GRID, falling), THROUGHPUT)
    assert ks_of(table) == [[5, 5, 0], [5, 5, 0], [5, 5, 0]]
    policy = table.policy(hold_steps=4)
    assert (policy.requests_running, policy.hold_steps) == ((1, 4, 16), 4)
    assert policy.num_speculative_tokens == 5
    assert parse_policy(policy_toml(policy)) == policy
    assert bases_of(table)[0] == [Basis.MEASURED] * 3


@pytest.mark.parametrize(("cost", "mixed_k"), [(0.02, 5), (0.12, 0)])
def test_one_k_for_all_temperatures_is_what_pays_for_all_of_them(cost: float, mixed_k: int) -> None:
    """A draft token gains 0.1 at temperature 0 and costs less or more than that at 0.7."""
    alone = [(0.0, 1), (0.7, 1)]
    samples = sweep(KS, alone, lambda k, t, _: 1 + k * (0.1 if t == 0 else -cost))
    apart = policy_table(family(*KS), samples, THROUGHPUT)
    assert ks_of(apart) == [[5], [0], [0]]
    together = policy_table(family(*KS), at_any_temperature(samples), THROUGHPUT)
    assert ks_of(together) == [[mixed_k], [mixed_k]]
    assert [row[0].temperature for row in together.rows] == [0.7, None]
    assert together.rows[0][0].prompts == 2 * apart.rows[0][0].prompts


def test_nothing_measured_is_a_sentence_for_mixed_temperatures_too() -> None:
    nothing = sweep(KS, SMALL, falling).iloc[:0]
    for samples in (nothing, at_any_temperature(nothing)):
        with pytest.raises(UsageError, match="Nothing compares"):
            policy_table(family(*KS), samples, THROUGHPUT)


def test_ks_within_noise_are_one_and_the_smallest_is_taken() -> None:
    flat = sweep(KS, [(0.0, 1)], lambda k, *_: 1.5 if k else 1.0)
    (row, _) = policy_table(family(*KS), flat, THROUGHPUT).rows
    assert (row[0].k, row[0].basis, row[0].equivalent_ks) == (1, Basis.EQUIVALENT, KS)
    nothing = sweep(KS, [(0.0, 1)], lambda *_: 1.0)
    (row, _) = policy_table(family(*KS), nothing, THROUGHPUT).rows
    assert row[0].k == 0 and 0 in row[0].equivalent_ks


def test_goodput_and_throughput_can_want_different_ks() -> None:
    """K 5 gives most tokens, but its first token comes after the limit."""
    speeds = {0: 1.0, 1: 1.6, 3: 1.3, 5: 2.0}
    samples = sweep(KS, [(0.0, 1)], lambda k, *_: speeds[k])
    samples.loc[samples["arm_index"] == 3, "ttft_ms"] = 150.0
    assert policy_table(family(*KS), samples, THROUGHPUT).rows[0][0].k == 5
    goodput = policy_table(family(*KS), samples, Objective(Slo(ttft_ms=100.0))).rows[0][0]
    assert (goodput.k, goodput.basis) == (1, Basis.MEASURED)
    assert goodput.gain is not None and goodput.gain.value > 0


def test_an_slo_that_nothing_meets_takes_the_smallest_k_and_says_so() -> None:
    table = policy_table(family(*KS), sweep(KS, GRID, falling), Objective(Slo(tpot_ms=0.01)))
    assert {k for row in ks_of(table) for k in row} == {0}
    assert "no request met the SLO" in table.rows[0][0].rests_on
    assert table.policy().num_speculative_tokens == 5  # of the server that was measured


def test_what_nobody_measured_is_predicted_from_its_neighbours() -> None:
    """Loads at temperature 0 and temperatures at load 1. At 16 drafting pays at 0; half accepted,
    it does not at 0.7."""

    def speed(k: int, temperature: float, concurrency: int) -> float:
        cost = 1 + k * {1: 0.05, 4: 0.1, 16: 0.5}[concurrency]
        return (1 + accepted(k, temperature)) / cost if k else 1.0

    places = [place for place in GRID if place[0] == 0 or place[1] == 1]
    found = policy_table(family(*KS), sweep(KS, places, speed), THROUGHPUT)
    assert [row[0].temperature for row in found.rows] == [0.0, 0.7, None]
    assert bases_of(found)[1] == [found.rows[1][0].basis, Basis.PREDICTED, Basis.PREDICTED]
    assert found.rows[1][0].basis is not Basis.PREDICTED
    assert "steps of temperature 0.7 at 1" in found.rows[1][2].rests_on
    whole = policy_table(family(*KS), sweep(KS, GRID, speed), THROUGHPUT)
    assert ks_of(found) == ks_of(whole) == [[5, 5, 5], [5, 5, 0], [5, 5, 0]]
    for predicted, measured in zip(found.rows[1][1:], whole.rows[1][1:], strict=True):
        for one, other in zip(predicted.candidates, measured.candidates, strict=True):
            assert one.figure.value == pytest.approx(other.figure.value, rel=0.06)
            assert one.figure.low is None


def test_a_temperature_whose_steps_nobody_counted_is_left_out_and_named() -> None:
    samples = sweep(KS, GRID, falling, counted=False, without=lambda _, place: place == (0.7, 16))
    table = policy_table(family(*KS), samples, THROUGHPUT)
    assert [row[0].temperature for row in table.rows] == [0.0, None]
    assert any("Temperature 0.7 is left out" in note for note in table.notes)


def test_each_k_is_predicted_from_where_it_was_measured() -> None:
    """Temperature 0 has K 1 at both loads and K 5 at one; 0.7 has K 5 at the other."""
    drafting = {(0.0, 1): {0, 1, 5}, (0.0, 4): {1}, (0.7, 4): {0, 5}}
    samples = sweep(KS, SMALL, falling, without=lambda k, place: k not in drafting.get(place, {}))
    table = policy_table(family(*KS), samples, THROUGHPUT)
    predicted = table.rows[0][1]
    assert [one.k for one in predicted.candidates] == [0, 5]
    assert "step times of temperature 0.7 at 4, steps of temperature 0 at 1" in predicted.rests_on


def test_without_a_temperature_that_has_every_load_there_is_no_table() -> None:
    diagonal = [(0.0, 1), (0.7, 4)]
    samples = sweep(KS, diagonal, falling, counted=False)
    with pytest.raises(UsageError, match="measure every load at one temperature"):
        policy_table(family(*KS), samples, THROUGHPUT)
    assert len(policy_table(family(*KS), sweep(KS, diagonal, falling), THROUGHPUT).rows) == 3


def test_the_row_for_everything_above_is_carried_on_and_says_so() -> None:
    table = policy_table(family(*KS), sweep(KS, GRID, falling), THROUGHPUT)
    assert ks_of(table)[-1] == ks_of(table)[-2]
    assert set(bases_of(table)[-1]) == {Basis.PREDICTED}
    assert lines(table)[-1 - len(table.notes)] == (
        "above 0.7: predicted: nothing was measured above temperature 0.7, its K is used"
    )


def test_one_block_has_no_interval_and_takes_the_smallest_within_two_per_cent() -> None:
    samples = sweep(KS, [(0.0, 4)], lambda k, *_: {0: 1.0, 1: 1.2, 3: 1.5, 5: 1.51}[k], noise=0.001)
    (row, _) = policy_table(family(*KS), samples.assign(block="0"), THROUGHPUT).rows
    assert (row[0].k, row[0].equivalent_ks, row[0].blocks) == (3, (3, 5), 1)
    assert row[0].rests_on == "no interval: 3 blocks needed"
    assert row[0].gain is not None and row[0].gain.low is None


@pytest.mark.parametrize(("of_zero", "k"), [(0.9, 5), (1.1, 0)])
def test_zero_is_what_the_policys_own_server_does_at_zero(of_zero: float, k: int) -> None:
    """K 5 is as fast as the method's server held at 0 makes it look, whatever plain decoding
    is, which no server of this policy does."""
    alone = [(0.0, 1)]
    samples = sweep((*KS, 9), alone, lambda k, *_: {0: 1.5, 5: 1.0, 9: of_zero}.get(k, 0.5))
    (row, _) = policy_table(family(*KS, at_zero=4), samples, THROUGHPUT).rows
    assert row[0].k == k and [one.k for one in row[0].candidates] == [0, *KS]
    assert row[0].figure(0) != policy_table(family(*KS), samples, THROUGHPUT).rows[0][0].figure(0)
    without = policy_table(family(*KS), samples, THROUGHPUT)
    assert without.rows[0][0].k == 0
    assert "schedule = [[1, 256, 0]]" in without.notes[0]
    no_baseline = policy_table(family(*KS, has_baseline=False, at_zero=4), samples, THROUGHPUT)
    assert no_baseline.rows[0][0].k == k


def test_without_plain_decoding_there_is_nothing_to_decide() -> None:
    samples = sweep(KS, GRID, falling)
    with pytest.raises(UsageError, match='method = "baseline"'):
        policy_table(family(*KS, has_baseline=False), samples, THROUGHPUT)
    with pytest.raises(UsageError, match="both must have answered"):
        policy_table(family(*KS), samples[samples["arm_index"] != 0], THROUGHPUT)


def test_poisson_arrivals_and_loads_without_plain_decoding_are_named() -> None:
    samples = sweep(KS, GRID, falling, without=lambda k, place: not k and place[1] == 16)
    poisson = samples.iloc[:1].assign(concurrency=pd.NA, request_rate=2.0)
    whole = pd.concat([samples, poisson.astype(samples.dtypes)])
    table = policy_table(family(*KS), whole, THROUGHPUT)
    assert table.policy().requests_running == (1, 4)
    assert len(table.notes) == 3  # and where K = 0 is from


@SOME
@given(
    st.lists(st.floats(0.6, 1.8), min_size=4, max_size=4),
    st.floats(0.001, 0.3),
    st.integers(0, 99),
    st.sampled_from([(0.0, 1), (0.7, 4)]),
    st.sampled_from([Slo(), Slo(tpot_ms=8.0)]),
)
def test_no_measured_cell_is_worse_than_plain_decoding_beyond_noise(
    speeds: list[float], noise: float, seed: int, place: tuple[float, int], slo: Slo
) -> None:
    speed = dict(zip((0, *KS), speeds, strict=True))
    samples = sweep(KS, [place], lambda k, *_: speed[k], noise=noise, seed=seed, prompts=16)
    objective = Objective(slo)
    found = policy_table(family(*KS), samples, objective).rows[0][0]
    arms = {k: samples[samples["arm_index"] == index] for index, k in enumerate(KS, start=1)}
    compared = compare(arms, samples[samples["arm_index"] == 0], objective)
    assert compared is not None and compared.is_enough
    places = [0, compared.ks.index(found.k)] if found.k else [0]
    assert len(places) - 1 in not_worse(compared.gains.of(places))
    assert found.basis in (Basis.MEASURED, Basis.EQUIVALENT)
    assert found.k == min(found.equivalent_ks)
    gave, plain = found.figure(found.k), found.figure(0)
    assert gave is not None and plain is not None
    if slo.is_set:
        assert gave.value > 0 or plain.value == 0
    else:  # figures differ by a third of the noise of one prompt
        assert gave.value > plain.value * (1 - 5 * noise)


@SOME
@example(  # K 1 alone is known at the place that is nearest
    {(3, (0.0, 1)), (1, (0.0, 1)), (5, (0.7, 1)), (0, (0.0, 4))}
    | {(3, (0.0, 4)), (0, (0.7, 1)), (1, (0.7, 4)), (5, (0.0, 4))}
)
@given(st.sets(st.tuples(st.sampled_from([0, *KS]), st.sampled_from(SMALL)), max_size=10))
def test_whatever_is_missing_the_policy_has_no_gap(missing: set[tuple[int, tuple[float, int]]]):
    samples = sweep(KS, SMALL, falling, without=lambda k, place: (k, place) in missing, prompts=12)
    try:
        table = policy_table(family(*KS), samples, THROUGHPUT)
    except UsageError as error:
        assert "plain decoding" in str(error)
        return
    policy = table.policy()
    assert policy.rows[-1].fits_all
    for one in (one for row in table.rows[:-1] for one in row):
        place = (one.temperature, one.concurrency)
        was_measured = (0, place) not in missing and any((k, place) not in missing for k in KS)
        assert (one.basis is not Basis.PREDICTED) == was_measured
        assert all(np.isfinite(found.figure.value) for found in one.candidates)


def test_titles_say_what_a_row_and_a_column_are_for() -> None:
    assert column_titles([1, 4, 16]) == ["1 request", "2–4 requests", "5 or more"]
    assert column_titles([8]) == ["1 or more"]
    assert row_titles([0.0, 0.7, None]) == ["temperature 0", "up to 0.7", "above 0.7"]
    assert row_titles([1.3, None]) == ["up to 1.3", "above 1.3"]
