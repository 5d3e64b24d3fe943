"""A broken rule must not pass: each of these mistakes makes a test of this folder fail.

A mistake is a change of one line of a function, made in memory; where that line is no longer
there the test says so.
"""

from __future__ import annotations
import __future__

import inspect
from collections.abc import Callable
from textwrap import dedent
from types import FunctionType
from typing import Any

import pytest

from specviz.analysis import interval
from specviz.analysis.benchmark import (
    acceptance,
    cells,
    checks,
    goodput,
    quantiles,
    speedup,
    throughput,
)
from specviz.analysis.benchmark import (
    list_columns as ragged,
)
from tests.unit.analysis.benchmark import test_benchmark_acceptance as acceptance_tests
from tests.unit.analysis.benchmark import test_benchmark_quantiles as quantiles_tests
from tests.unit.analysis.benchmark import test_benchmark_speedup as speedup_tests
from tests.unit.analysis.benchmark import test_benchmark_summary as summary_tests
from tests.unit.analysis.benchmark import test_benchmark_throughput as throughput_tests

FUTURE = __future__.annotations.compiler_flag

MISTAKES: dict[str, tuple[Any, str, str, Callable[[], None]]] = {
    "P95 by sorted index": (
        quantiles.quantiles,
        "(float(value) for value in np.quantile(found, [0.5, 0.9, 0.95, 0.99]))",
        "(float(sorted(found)[int(len(found) * q)]) for q in [0.5, 0.9, 0.95, 0.99])",
        quantiles_tests.test_p95_of_twenty_values_is_not_their_maximum,
    ),
    "steps across two requests": (
        ragged.differences,
        "[within]",
        "",
        quantiles_tests.test_steps_are_within_a_request,
    ),
    "chunks counted as tokens": (
        throughput.output_tokens,
        'samples["output_tokens"]',
        'samples["chunk_ms"].map(len)',
        throughput_tests.test_tokens_are_counted_not_chunks,
    ),
    "pauses between blocks count": (
        throughput.wall_s_by_block,
        "groupby(BLOCK, dropna=False)",
        "groupby('arm_index')",
        throughput_tests.test_blocks_are_measured_one_by_one,
    ),
    "a limit just met is missed": (
        goodput.meets,
        'samples["ttft_ms"] <= slo',
        'samples["ttft_ms"] < slo',
        lambda: throughput_tests.test_every_limit_that_is_set_must_be_met(
            throughput_tests.Slo(ttft_ms=10.0), 2
        ),
    ),
    "one token misses a TPOT limit": (
        goodput.meets,
        "(tpot_ms <= slo.tpot_ms) | tpot_ms.isna()",
        "tpot_ms <= slo.tpot_ms",
        lambda: throughput_tests.test_every_limit_that_is_set_must_be_met(
            throughput_tests.Slo(tpot_ms=9.0), 2
        ),
    ),
    "the bonus token is left out of the length": (
        acceptance.acceptance,
        "mean_acceptance_length=1 + accepted / drafts",
        "mean_acceptance_length=accepted / drafts",
        acceptance_tests.test_a_chain_by_hand,
    ),
    "acceptance is the mean of requests": (
        acceptance.acceptance,
        "draft_acceptance_rate=accepted / drafted",
        "draft_acceptance_rate=float("
        '(each["num_accepted_tokens"] / each["num_draft_tokens"]).mean())',
        acceptance_tests.test_a_chain_by_hand,
    ),
    "an accepted token counts at its last depth only": (
        acceptance.acceptance_rate_per_pos,
        "(steps.accepted > i)",
        "(steps.accepted == i + 1)",
        acceptance_tests.test_a_chain_by_hand,
    ),
    "a short draft reaches every depth": (
        acceptance.conditional_acceptance_rate_per_pos,
        "(steps.drafted > i) | ~steps.is_chain",
        "steps.drafted > 0",
        acceptance_tests.test_a_chain_by_hand,
    ),
    "tokens behind a rejection count as rejected": (
        acceptance.alpha,
        "steps.accepted[steps.is_chain].sum() + rejected.sum()",
        "steps.drafted[steps.is_chain].sum()",
        acceptance_tests.test_a_chain_by_hand,
    ),
    "a tree's alpha is made up": (
        acceptance.alpha,
        "if in_trees.isna().any():",
        "if False:",
        acceptance_tests.test_alpha_of_trees_counts_the_tokens_they_report_as_judged,
    ),
    "a tree is judged like a chain": (
        acceptance.alpha,
        "steps.is_chain & (steps.accepted < steps.drafted)",
        "steps.accepted < steps.drafted",
        acceptance_tests.test_alpha_of_trees_counts_the_tokens_they_report_as_judged,
    ),
    "the ratio is a mean of ratios": (
        speedup.speedup,
        "float((sums[2] / sums[0]) * (sums[1] / sums[3]))",
        "float((totals[:, 2] / totals[:, 0] * totals[:, 1] / totals[:, 3]).mean())",
        speedup_tests.test_the_ratio_is_of_totals_not_a_mean_of_ratios,
    ),
    "prompts are not paired": (
        speedup.paired,
        "known = both & shortest.notna().all(axis=1)",
        "both = known = shortest.notna().any(axis=1)",
        speedup_tests.test_prompts_that_one_arm_did_not_answer_do_not_count,
    ),
    "unequal lengths are compared in time": (
        speedup.paired,
        "known & (shortest.min(axis=1) == longest.max(axis=1))",
        "known",
        speedup_tests.test_greedy_prompts_of_unequal_length_are_left_out,
    ),
    "one equal repetition is enough": (
        speedup.paired,
        "(shortest.min(axis=1) == longest.max(axis=1))",
        '(turns["longest_m"] == turns["longest_b"])',
        speedup_tests.test_every_repetition_must_have_the_same_length,
    ),
    "sampled answers are compared in time": (
        speedup.comparable,
        "temperature == 0 and ",
        "",
        speedup_tests.test_sampled_answers_are_compared_per_token,
    ),
    "repetitions are summed": (
        speedup._turns,
        'e2el_ms=("e2el_ms", "mean")',
        'e2el_ms=("e2el_ms", "sum")',
        speedup_tests.test_turns_are_summed_and_repetitions_averaged,
    ),
    "requests count instead of prompts": (
        speedup.speedup,
        'chosen["unit"].to_numpy())',
        'chosen["unit"].to_numpy()).repeat(40, axis=0)',
        speedup_tests.test_the_interval_is_students_around_the_jackknife,
    ),
    "blocks are ignored": (
        speedup.speedup,
        'chosen["unit"].to_numpy()',
        "np.arange(len(chosen))",
        speedup_tests.test_prompts_of_one_block_count_as_one,
    ),
    "the blocks of the baseline are ignored": (
        speedup._units,
        "for arm in arms",
        "for arm in arms[:1]",
        speedup_tests.test_prompts_that_share_a_block_of_the_baseline_count_as_one,
    ),
    "the normal quantile instead of Student's": (
        interval.Replicates.ends.fget,
        "self.freedom",
        "1e6",
        speedup_tests.test_the_interval_is_students_around_the_jackknife,
    ),
    "every unit weighs the same": (
        interval.Replicates.freedom.fget,
        "1 / float((self.shares**2).sum()) - 1",
        "len(self.shares) - 1",
        speedup_tests.test_the_interval_is_students_around_the_jackknife,
    ),
    "the arms are left out apart": (
        interval.ratio_replicates,
        "sums = left_out(totals)",
        "sums = left_out(totals); sums[1:, 2:] = sums[0, 2:]",
        speedup_tests.test_one_prompt_less_is_one_less_of_both_arms,
    ),
    "every baseline is compared with": (
        speedup.measured_alongside,
        "baseline if same.empty else same",
        "baseline",
        speedup_tests.test_the_baseline_of_the_same_servers_is_compared_with,
    ),
    "the memory of the last round": (
        cells._memory,
        'known.loc[known["memory_bytes"].idxmax()]',
        "known.iloc[0]",
        summary_tests.test_memory_is_the_largest_and_utilization_the_mean_of_the_rounds,
    ),
    "interrupted rounds are checked": (
        checks._checks,
        'rounds["complete"].astype(bool) & ',
        "",
        summary_tests.test_counts_are_checked_over_the_rounds_that_both_cover,
    ),
    "rounds with failed requests are checked": (
        checks._reported,
        "finished & samples[COUNTS].notna().all(axis=1)",
        "~finished | samples[COUNTS].notna().all(axis=1)",
        summary_tests.test_counts_are_checked_over_the_rounds_that_both_cover,
    ),
}


@pytest.mark.parametrize(
    "mistake",
    [
        pytest.param(name, marks=[] if place == 0 else pytest.mark.slow)
        for place, name in enumerate(MISTAKES)
    ],
)
def test_a_mistake_is_noticed(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, old, new, check = MISTAKES[mistake]
    check()
    monkeypatch.setattr(function, "__code__", mutated(function, old, new).__code__)
    with pytest.raises(AssertionError):
        check()


def mutated(function: FunctionType, old: str, new: str) -> FunctionType:
    """The function with `old` replaced by `new`; callers that imported it see it through its
    code."""
    source = dedent(inspect.getsource(function))
    assert source.count(old) == 1, f"{function.__name__} no longer says {old!r}: adapt this one"
    made: dict[str, Any] = {}
    code = compile(source.replace(old, new), function.__name__, "exec", FUTURE)
    exec(code, function.__globals__, made)
    found: FunctionType | property = made[function.__name__]
    if isinstance(found, property):
        assert isinstance(found.fget, FunctionType)
        return found.fget
    return found
