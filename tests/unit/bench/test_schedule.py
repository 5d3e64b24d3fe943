"""A plan laid out in time: everything once, never too many servers, blocks that are even."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.bench.load.load import Load
from specviz.bench.plan.plan import Grid, Plan
from specviz.bench.plan.schedule import MIN_BLOCK, blocks, server_groups, stages, turns_of_arms
from specviz.config import EngineKind
from specviz.methods import Method
from tests.support.bench.plans import BASELINE, NGRAM, plans, started

at_once_counts = st.integers(1, 4)
loads = st.builds(Load, st.integers(1, 64)) | st.builds(Load, request_rate=st.floats(0.1, 30.0))
ONE, FOUR = Load(concurrency=1), Load(concurrency=4)


def starts_server(plan: Plan, index: int) -> bool:
    config = plan.arms[index].config
    return config.engine is EngineKind.VLLM and config.server_url is None


def is_shared(plan: Plan, index: int) -> bool:
    return starts_server(plan, index) and plan.arms[index].config.method is Method.BASELINE


@given(plans, at_once_counts)
def test_every_arm_meets_its_cells_once_per_repetition(plan: Plan, at_once: int) -> None:
    laid_out = stages(plan, at_once)
    found = Counter(
        (arm, stage.temperature, stage.load, stage.repetition)
        for stage in laid_out
        for arm in stage.arms
    )
    groups = server_groups(plan, at_once)
    for index, arm in enumerate(plan.arms):
        times = sum(index in group for group in groups)
        assert times == 1 or is_shared(plan, index)
        for temperature, load in plan.cells(arm):
            for repetition in range(plan.repetitions):
                assert found.pop((index, temperature, load, repetition)) == times
    assert not found
    by_group = Counter(
        (arm, stage.group, stage.temperature, stage.load, stage.repetition)
        for stage in laid_out
        for arm in stage.arms
    )
    assert set(by_group.values()) == {1}


@given(plans, at_once_counts)
def test_no_group_has_more_servers_than_fit(plan: Plan, at_once: int) -> None:
    for group in server_groups(plan, at_once):
        assert group
        assert sum(starts_server(plan, index) for index in group) <= at_once


@given(plans, at_once_counts)
def test_rounds_have_names_of_their_own_that_stay(plan: Plan, at_once: int) -> None:
    def rounds(benchmark_id: str) -> list[str]:
        return [
            stage.round_id(benchmark_id, arm)
            for stage in stages(plan, at_once)
            for arm in stage.arms
        ]

    assert rounds("b") == rounds("b")
    assert len({*rounds("b"), *rounds("c")}) == 2 * len(rounds("b"))


def test_the_names_of_rounds_are_those_of_earlier_versions() -> None:
    """A benchmark that an earlier version left can be resumed only with the same names."""
    (stage,) = stages(Plan("a", (BASELINE,)), 1)
    assert stage.round_id("b", 0) == "90ebd10b4aa55be9abd4b89dbaacf6a2"


def test_a_run_is_an_arm_in_a_cell_whatever_the_repetition_and_group() -> None:
    plan = Plan(
        "a",
        (started(Method.BASELINE), started(Method.NGRAM, 3), started(Method.NGRAM, 4)),
        loads=(ONE, FOUR),
        repetitions=2,
    )
    runs = {
        (arm, stage.load): stage.run_id("b", arm) for stage in stages(plan, 2) for arm in stage.arms
    }
    every = {stage.run_id("b", arm) for stage in stages(plan, 2) for arm in stage.arms}
    assert len(every) == len(runs) == 6


def test_the_baseline_is_up_with_every_group_where_two_servers_fit() -> None:
    methods = [started(Method.BASELINE), *(started(Method.NGRAM, k) for k in (3, 4, 5))]
    plan = Plan("a", (NGRAM, *methods))
    assert server_groups(plan, 1) == ((0, 1), (2,), (3,), (4,))
    assert server_groups(plan, 2) == ((0, 1, 2), (1, 3), (1, 4))
    assert server_groups(plan, 3) == ((0, 1, 2, 3), (1, 4))
    assert server_groups(plan, 4) == ((0, 1, 2, 3, 4),)


def test_axes_are_the_loads_at_the_first_temperature_and_the_temperatures_at_the_first_load() -> (
    None
):
    plan = Plan("a", (BASELINE,), loads=(ONE, FOUR), temperatures=(0.0, 0.5, 1.0), grid=Grid.AXES)
    assert plan.cells(plan.arms[0]) == ((0.0, ONE), (0.0, FOUR), (0.5, ONE), (1.0, ONE))
    full = replace(plan, grid=Grid.FULL)
    assert len(full.cells(full.arms[0])) == 6
    for either in (plan, full):
        assert either.cells(replace(BASELINE, base_only=True)) == ((0.0, ONE),)


@given(st.integers(1, 600), loads)
def test_blocks_share_out_the_prompts_evenly(num_prompts: int, load: Load) -> None:
    cut = blocks(num_prompts, load)
    assert [index for block in cut for index in block] == list(range(num_prompts))
    sizes = [len(block) for block in cut]
    assert max(sizes) - min(sizes) <= 1
    if load.concurrency == 1:
        assert sizes == [1] * num_prompts
    else:
        wanted = 10 * load.request_rate if load.request_rate else 4 * (load.concurrency or 0)
        full = max(MIN_BLOCK, math.ceil(wanted))
        assert min(sizes) >= min(num_prompts, full)
        assert max(sizes) < 2 * full or num_prompts < 2 * full


@pytest.mark.parametrize("arms", [(0,), (0, 1), (0, 1, 2)])
def test_arms_swap_places_from_block_to_block(arms: tuple[int, ...]) -> None:
    orders = [tuple(turns_of_arms(arms, block)) for block in range(4)]
    assert orders == [arms, arms[::-1], arms, arms[::-1]]
