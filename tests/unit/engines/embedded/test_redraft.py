"""Drafting behind every token of an answer gives the steps of every smaller K.

Slow: `tests/unit/bench/test_redraft_arm.py` sees it first, on a stored benchmark.
"""

from __future__ import annotations

from functools import cache

import pytest

from specviz.analysis.k.redraft import Redraft, steps_at
from specviz.config import EngineKind, Prompt, RunConfig, Sampling
from specviz.engines.embedded.opening import open_engine
from specviz.methods import Method
from specviz.trace import Trace, fold
from tests.support.demo_models import known_prompts

pytestmark = pytest.mark.slow

LONGEST = 32
LARGEST = {Method.MEDUSA: 4}
CASES = [
    (method, k)
    for method in (Method.DRAFT_MODEL, Method.NGRAM, Method.EAGLE, Method.EAGLE3, Method.MEDUSA)
    for k in (1, 3, LARGEST.get(method, 9))
]


def arm(method: Method, k: int) -> RunConfig:
    shape = {"shape": "chain"} if method is Method.MEDUSA else {}
    options = {"dtype": "bfloat16", **shape}  # where rows do not depend on each other
    return RunConfig(EngineKind.EMBEDDED, method, k, traced=False, options=options)


def prompts() -> tuple[Prompt, ...]:
    return known_prompts("structured_output")[0], known_prompts("translation")[1]


def answered(method: Method, k: int) -> list[Trace]:
    engine, _ = open_engine(arm(method, k))
    return [fold(engine.events(prompt, Sampling(max_tokens=LONGEST))) for prompt in prompts()]


@cache
def redrafted(method: Method) -> tuple[Redraft, ...]:
    """From one engine at the largest K, over the answers that this K gave."""
    largest = LARGEST.get(method, 15)
    engine, _ = open_engine(arm(method, largest))
    answers = answered(method, largest)
    return tuple(
        engine.redraft(prompt, trace.token_ids)
        for prompt, trace in zip(prompts(), answers, strict=True)
    )


@pytest.mark.parametrize(("method", "k"), CASES)
def test_redrafting_gives_the_steps_of_a_real_run(method: Method, k: int):
    for trace, answer in zip(answered(method, k), redrafted(method), strict=True):
        drafting = [step for step in trace.steps if step.drafted]
        steps = steps_at(answer, k)
        assert steps.accepted == tuple(step.num_accepted for step in drafting)
        assert steps.drafted == tuple(len(step.drafted) for step in drafting)
        assert steps.num_steps == len(trace.steps) - 1


def test_an_answer_of_another_model_is_followed():
    engine, _ = open_engine(arm(Method.DRAFT_MODEL, 5))
    own = redrafted(Method.DRAFT_MODEL)[0]
    other = engine.redraft(prompts()[0], range(100, 100 + own.output_tokens))
    assert other.output_tokens == own.output_tokens
    assert sum(other.matched) < sum(own.matched)
