"""Redraft an arm: at every token of its stored answers, draft again with its K.

The steps of every smaller K follow from these drafts exactly, without sending a request again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import mean
from typing import TYPE_CHECKING

from specviz.analysis.k.answers import Answer, Key
from specviz.analysis.k.redraft import Redraft, corrected
from specviz.bench.arm import as_opened
from specviz.bench.block import Talk
from specviz.bench.plan.toml import parse_plan
from specviz.config import EngineKind, Prompt, RunConfig, Sampling
from specviz.engines.redraft import open_embedded_arm, redraftable
from specviz.errors import UsageError
from specviz.methods import Method
from specviz.prompts.sets import Conversation
from specviz.store import Store
from specviz.store.benchmarks.reads import read_arms, read_benchmark, read_conversations
from specviz.store.benchmarks.redrafts import StepTime, put_redraft, read_answers
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
    conversations = store.read(read_conversations, benchmark_id)
    prompts = [_prompt(answer, conversations) for answer in answers]
    engine = open_embedded_arm(again)
    found: dict[Key, Redraft] = {}
    for answer, prompt in zip(answers, prompts, strict=True):
        if stops():
            raise RedraftStopped
        redraft = engine.redraft(prompt, answer.token_ids)
        found[answer.measured.key] = corrected(redraft, answer.measured)
        report(len(found), len(answers))
    is_same_machine = config.engine is EngineKind.EMBEDDED
    k = next(iter(found.values())).k  # the method's usual one where the plan names none
    timed = prompts[:TIMED_PROMPTS] if is_same_machine else []
    times = _step_times(again, k, timed, stops)
    store.write(put_redraft, benchmark_id, arm_index=arm_index, answers=found, times=times)


@dataclass(frozen=True, slots=True)
class _Answer:
    """An answer whose tokens are known, and the texts of the turns before it in the same pass."""

    measured: Answer
    token_ids: tuple[int, ...]
    before: tuple[str, ...]


def _answers(store: Store, benchmark_id: str, arm_index: int) -> list[_Answer]:
    """The first answer to each prompt and turn that can be redrafted."""
    stored = store.read(read_answers, benchmark_id, arm_index=arm_index)
    texts = {(one.answer.block, *one.answer.key): one.text for one in stored}
    first: dict[Key, _Answer] = {}
    for one in stored:
        index, turn = one.answer.key
        earlier = [(one.answer.block, index, number) for number in range(turn)]
        if one.token_ids and all(place in texts for place in earlier):
            before = tuple(texts[place] for place in earlier)
            first.setdefault(one.answer.key, _Answer(one.answer, one.token_ids, before))
    if not first:
        raise UsageError(
            "There is nothing to redraft: the arm has no finished answer at temperature 0 and "
            "concurrency 1 whose tokens are known."
        )
    return list(first.values())


def _prompt(answer: _Answer, conversations: Sequence[Conversation]) -> Prompt:
    index, _ = answer.measured.key
    return Talk(index, conversations[index], Sampling(), answer.before).prompt()


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
