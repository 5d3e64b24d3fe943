"""Redraft an arm: at every token of its stored answers, draft again with its K.

The steps of every smaller K follow from these drafts exactly, without sending a request again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import mean
from typing import TYPE_CHECKING

from specviz.analysis.k.answers import Key
from specviz.analysis.k.redraft import Redraft, corrected
from specviz.bench.arm import as_opened
from specviz.bench.block import Talk
from specviz.bench.plan_toml import parse_plan
from specviz.config import EngineKind, Prompt, RunConfig, Sampling
from specviz.engines.redraft import open_embedded_arm, redraftable
from specviz.errors import UsageError
from specviz.methods import Method
from specviz.store import Store
from specviz.store.benchmarks.reads import read_arms, read_benchmark, read_conversations
from specviz.store.benchmarks.redrafts import StepTime, StoredAnswer, put_redraft, read_answers
from specviz.trace import Step

if TYPE_CHECKING:
    from specviz.engines.embedded.engine import EmbeddedEngine

TIMED_PROMPTS = 6
TIMED_TOKENS = 64
PASSES = 3
"""Over the timed prompts, every K in each; the first one warms up."""

Report = Callable[[int, int], None]
"""Called after every answer: how many are done, of how many."""


class RedraftStopped(Exception):
    """The redraft was asked to stop."""


def redraft_arm(
    store: Store, benchmark_id: str, arm_index: int, report: Report, stops: Callable[[], bool]
) -> None:
    """Redraft an arm's answers at temperature 0, one at a time, and store what was found.

    Raises UsageError where the arm cannot be redrafted, StoreError, RedraftStopped.
    """
    plan = parse_plan(store.read(read_benchmark, benchmark_id).plan_toml)
    opened = store.read(read_arms, benchmark_id)
    config = as_opened(plan.arms[arm_index].config, opened.get(arm_index))
    again = redraftable(config)
    answers = _answers(store, benchmark_id, arm_index)
    prompts = _prompts(store, benchmark_id, answers)
    engine = open_embedded_arm(again)
    found: dict[Key, Redraft] = {}
    for stored, prompt in zip(answers, prompts, strict=True):
        if stops():
            raise RedraftStopped
        assert stored.token_ids is not None
        redraft = engine.redraft(prompt, stored.token_ids)
        found[stored.answer.key] = corrected(redraft, stored.answer)
        report(len(found), len(answers))
    is_same_machine = config.engine is EngineKind.EMBEDDED
    k = next(iter(found.values())).k  # the method's usual one where the plan names none
    timed = prompts[:TIMED_PROMPTS] if is_same_machine else []
    times = _step_times(again, k, timed, stops)
    store.write(put_redraft, benchmark_id, arm_index=arm_index, answers=found, times=times)


def _answers(store: Store, benchmark_id: str, arm_index: int) -> list[StoredAnswer]:
    """The first finished answer to each prompt and turn."""
    stored = store.read(read_answers, benchmark_id, arm_index=arm_index)
    first: dict[Key, StoredAnswer] = {}
    for answer in stored:
        if answer.token_ids:
            first.setdefault(answer.answer.key, answer)
    if not first:
        raise UsageError(
            "There is nothing to redraft: the arm has no finished answer at temperature 0 and "
            "concurrency 1 whose tokens are known."
        )
    return list(first.values())


def _prompts(store: Store, benchmark_id: str, answers: Sequence[StoredAnswer]) -> list[Prompt]:
    """The prompt of each answer, with the earlier turns as they were answered."""
    conversations = store.read(read_conversations, benchmark_id)
    said = {stored.answer.key: stored.text for stored in answers}

    def prompt(key: Key) -> Prompt:
        index, turn = key
        before = tuple(said[index, earlier] for earlier in range(turn))
        return Talk(index, conversations[index], Sampling(), before).prompt()

    return [prompt(stored.answer.key) for stored in answers]


def _step_times(
    config: RunConfig, largest: int, prompts: Sequence[Prompt], stops: Callable[[], bool]
) -> list[StepTime]:
    """Step times without a draft and at K = 1, half of `largest` and `largest`, interleaved on the
    same prompts."""
    if not prompts:
        return []
    ks = sorted({0, 1, (1 + largest) // 2, largest})
    engines = {k: open_embedded_arm(_with_k(config, k)) for k in ks}
    spent: dict[int, list[float]] = {k: [] for k in ks}
    for number in range(PASSES):
        for prompt in prompts:
            for k, engine in engines.items():
                if stops():
                    raise RedraftStopped
                times = _wall_ms(engine, prompt, drafting=k > 0)
                if number > 0:
                    spent[k] += times
    return [StepTime(k, mean(times), len(times)) for k, times in spent.items() if times]


def _with_k(config: RunConfig, k: int) -> RunConfig:
    if k == 0:
        return replace(config, method=Method.BASELINE, draft=None, k=None)
    return replace(config, k=k)


def _wall_ms(engine: EmbeddedEngine, prompt: Prompt, *, drafting: bool) -> list[float]:
    """Times of the steps after the prefill; `drafting`: only of those that drafted."""
    events = engine.events(prompt, Sampling(max_tokens=TIMED_TOKENS))
    steps = [event for event in events if isinstance(event, Step)]
    timed = [step for step in steps[1:] if step.drafted or not drafting]
    return [step.wall_ms for step in timed if step.wall_ms is not None]
