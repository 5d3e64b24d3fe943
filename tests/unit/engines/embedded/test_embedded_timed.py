"""The embedded engine under a benchmark: samples are its traces, one request at a time."""

from __future__ import annotations

import asyncio
import time

import pytest

from specviz.analysis.metrics import summarise
from specviz.analysis.sample_metrics import metrics_of
from specviz.analysis.step_time.step_time import mean_step, step_totals
from specviz.config import EngineKind, Prompt, RunConfig, Sampling
from specviz.engines.embedded.engine import EmbeddedEngine
from specviz.engines.embedded.opening import tokenizer_in
from specviz.engines.embedded.options import Options
from specviz.engines.embedded.proposers.factory import open_proposer
from specviz.engines.embedded.timed import TimedEmbedded, sample_of
from specviz.errors import RequestRefused
from specviz.methods import Method
from specviz.trace import Fidelity, RequestStarted, Step, fold
from tests.support.demo_models import DEMO_TARGET
from tests.support.embedded.random_models import some_skipped
from tests.support.embedded.tiny_models import load_tiny, save_eagle, save_medusa, save_tiny

PROMPT = Prompt("Order 3, 148, 108.")
SAMPLING = Sampling(temperature=0.8, max_tokens=40, seed=3)
SIZES = {
    "vocab_size": 4096,
    "max_position_embeddings": 256,
    "sharpness": 0.3,
    "eos_token_id": None,
}
WAYS = [
    (Method.BASELINE, "chain"),
    (Method.DRAFT_MODEL, "chain"),
    (Method.MEDUSA, "chain"),
    (Method.MEDUSA, "tree"),
    (Method.EAGLE, "chain"),
    (Method.EAGLE, "tree"),
]


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("target")
    return load_tiny(save_tiny(folder, seed=1, **SIZES))


@pytest.fixture
def new_engine(target, tmp_path):
    def make(method: Method, shape: str) -> EmbeddedEngine:
        folder = None
        if method is Method.DRAFT_MODEL:  # the target, less sure
            folder = save_tiny(tmp_path / "draft", seed=1, **(SIZES | {"sharpness": 0.1}))
        elif method in (Method.MEDUSA, Method.EAGLE):
            save = save_medusa if method is Method.MEDUSA else save_eagle
            folder = save(tmp_path / method.value, target)
        cache = target.new_cache()
        options = Options(shape=shape, dtype="float32")
        run = some_skipped(target.config.layers)
        proposer, _ = open_proposer(method, target, cache, folder, options, load_tiny, run)
        k = 0 if method is Method.BASELINE else 4
        return EmbeddedEngine(target, tokenizer_in(DEMO_TARGET), proposer, k=k, cache=cache)

    return make


@pytest.mark.parametrize(("method", "shape"), WAYS)
def test_a_sample_has_the_figures_of_its_trace(new_engine, method: Method, shape: str) -> None:
    trace = fold(new_engine(method, shape).events(PROMPT, SAMPLING))
    is_chain = shape == "chain"
    sample = sample_of(trace, is_chain=is_chain)
    assert (sample.text, sample.token_ids) == (trace.text, trace.token_ids)
    assert sum(sample.chunk_tokens) == sample.output_tokens == 40
    found, wanted = metrics_of(sample).to_dict(), summarise(trace).to_dict()
    if not is_chain:  # a sample ends at the deepest accepted token, a trace at the deepest draft
        depths, all_depths = found.pop("acceptance_rate_per_pos"), wanted["acceptance_rate_per_pos"]
        wanted_depths = wanted.pop("acceptance_rate_per_pos")
        assert depths == pytest.approx(wanted_depths[: len(depths)])
        assert not any(all_depths[len(depths) :])
    for name, value in wanted.items():
        assert found[name] == pytest.approx(value), name
    assert bool(found["num_drafts"]) == (method is not Method.BASELINE)
    totals = step_totals(trace)
    assert totals is not None and sample.lanes == totals.lanes
    assert (sample.lanes.draft_ms > 0) == (method is not Method.BASELINE)
    step = mean_step([totals])
    assert step is not None and step.other_ms is not None and step.num_steps == len(trace.steps) - 1
    assert step.step_ms * step.num_steps == pytest.approx(trace.e2el_ms - trace.ttft_ms)
    assert step.draft_ms + step.verify_ms + step.other_ms == pytest.approx(step.step_ms)
    if (method, shape) in ((Method.DRAFT_MODEL, "chain"), (Method.MEDUSA, "tree")):
        assert 0 < found["num_accepted_tokens"] < found["num_draft_tokens"]


def test_looking_up_takes_time_even_where_nothing_is_found(new_engine) -> None:
    trace = fold(new_engine(Method.NGRAM, "chain").events(PROMPT, SAMPLING))
    assert any(not step.drafted for step in trace.steps[1:])
    assert trace.steps[0].draft_ms is None
    assert all(step.draft_ms is not None for step in trace.steps[1:])


def timed(engine: EmbeddedEngine, **config) -> TimedEmbedded:
    return TimedEmbedded(engine, RunConfig(EngineKind.EMBEDDED, Method.NGRAM, 5, **config))


async def test_requests_wait_for_each_other_and_their_times_say_so(new_engine) -> None:
    engine = timed(new_engine(Method.NGRAM, "chain"))
    first = await engine.sample(PROMPT, SAMPLING)
    three = await asyncio.gather(*(engine.sample(PROMPT, SAMPLING) for _ in range(3)))
    assert {sample.token_ids for sample in three} == {first.token_ids}
    assert len({sample.request_id for sample in three}) == 3
    ends = [sample.e2el_ms for sample in three]
    assert ends == sorted(ends)
    assert all(three[n + 1].ttft_ms > three[n].e2el_ms * 0.9 for n in range(2))
    for sample in three:
        assert sample.chunk_ms[0] == sample.ttft_ms and sample.chunk_ms[-1] <= sample.e2el_ms
    await engine.close()


@pytest.mark.parametrize(("options", "is_chain"), [({}, True), ({"shape": "tree"}, False)])
async def test_the_shape_is_told(new_engine, options: dict[str, str], is_chain: bool) -> None:
    engine = timed(new_engine(Method.NGRAM, "chain"), options=options)
    assert (await engine.sample(PROMPT, SAMPLING)).is_chain == is_chain
    assert await engine.counters() is None and await engine.prefix_caching() is False


class Slow:
    """An engine that would be at it for ten seconds."""

    def __init__(self) -> None:
        self.begun = 0
        self.steps = 0

    def events(self, prompt: Prompt, sampling: Sampling):
        self.begun += 1
        yield RequestStarted("slow", Fidelity.TRACED)
        for _ in range(1000):
            time.sleep(0.01)
            self.steps += 1
            yield Step(self.steps, 1.0, (), ())


async def test_a_cancelled_request_frees_the_model(new_engine) -> None:
    slow = Slow()
    requests = [asyncio.create_task(timed(slow).sample(PROMPT, SAMPLING)) for _ in range(2)]
    while not slow.steps:
        await asyncio.sleep(0.01)
    for request in requests:
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
    after = await timed(new_engine(Method.NGRAM, "chain")).sample(PROMPT, SAMPLING)
    assert after.output_tokens == 40
    assert slow.begun == 1 and slow.steps < 500  # the one that waited was never begun


async def test_a_prompt_that_does_not_fit_is_refused(new_engine) -> None:
    with pytest.raises(RequestRefused):
        await timed(new_engine(Method.NGRAM, "chain")).sample(Prompt("word " * 500), SAMPLING)
