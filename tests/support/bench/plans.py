"""Plans for the tests of benchmarks: small fixed ones and hypothesis strategies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from specviz.analysis.benchmark.results import Slo
from specviz.bench.load.load import Load
from specviz.bench.plan.plan import Grid, Plan, PlanArm
from specviz.config import EngineKind, RunConfig
from specviz.methods import Method
from specviz.prompts.sets import PromptSource


def arm(
    method: Method | None = Method.BASELINE,
    k: int | None = None,
    *,
    engine: EngineKind = EngineKind.EMBEDDED,
    base_only: bool = False,
    **config: Any,
) -> PlanArm:
    return PlanArm(RunConfig(engine, method, k, traced=False, **config), base_only)


def started(method: Method, k: int | None = None, *, base_only: bool = False) -> PlanArm:
    """An arm whose server specviz starts."""
    return arm(method, k, engine=EngineKind.VLLM, base_only=base_only)


BASELINE = arm()
NGRAM = arm(Method.NGRAM, 3)


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12).filter(str.strip)
drafting = st.sampled_from([method for method in Method if method is not Method.BASELINE])
models = st.none() | texts.filter(lambda text: not Path(text).is_dir())
"""Names: a folder is read back as its whole path."""
concurrencies = st.integers(1, 1024).map(lambda number: Load(concurrency=number))
rates = st.floats(1e-6, 1e6).map(lambda rate: Load(request_rate=rate))
positive = st.floats(1e-3, 1e9)


@st.composite
def named_arms(draw: st.DrawFn) -> PlanArm:
    """An arm on a server of the fleet."""
    method = draw(st.none() | st.just(Method.BASELINE) | drafting)
    k = None if method is Method.BASELINE else draw(st.none() | st.integers(1, 32))
    config = RunConfig(EngineKind.OPENAI, method, k, traced=False, model=draw(models))
    return PlanArm(config, draw(st.booleans()), draw(texts))


@st.composite
def arms(draw: st.DrawFn) -> PlanArm:
    """Any arm that a plan can name; one without a method is a server that runs already."""
    if draw(st.booleans()):
        return draw(named_arms())
    engine = draw(st.sampled_from(EngineKind))
    is_server = engine is not EngineKind.EMBEDDED
    attached = st.just("http://127.0.0.1:8000")
    can_start = st.none() if engine is EngineKind.VLLM else st.nothing()
    url = draw(can_start | attached) if is_server else None
    method = draw(st.just(Method.BASELINE) | drafting | (st.none() if url else st.nothing()))
    k = None if method is Method.BASELINE else draw(st.none() | st.integers(1, 32))
    names = texts.filter(lambda text: text not in ("schedule", "policy"))  # keys of the arm
    options = draw(st.dictionaries(names, st.text("aé\n\"'\\=", max_size=5), max_size=2))
    if is_server and draw(st.booleans()):
        options["vllm_flags"] = draw(texts)
    return arm(
        method,
        k,
        engine=engine,
        base_only=draw(st.booleans()),
        model=draw(models),
        draft=draw(models),
        server_url=url,
        options=options,
    )


prompt_sources = st.builds(
    PromptSource,
    file=st.none() | st.just("/prompts/some file.jsonl"),
    format=st.none() | texts,
    count=st.none() | st.integers(1, 10**6),
    weights=st.dictionaries(texts, st.floats(0.0, 1e6), max_size=3),
    seed=st.integers(0, 2**31 - 1),
)
plans = st.builds(
    Plan,
    name=texts,
    arms=st.lists(arms(), min_size=1, max_size=4, unique_by=repr).map(tuple),
    prompts=prompt_sources,
    # the file has two lists, so closed loops come first
    loads=st.tuples(
        st.lists(concurrencies, max_size=3, unique=True), st.lists(rates, max_size=2, unique=True)
    )
    .map(lambda both: (*both[0], *both[1]))
    .filter(len),
    temperatures=st.lists(st.floats(0.0, 2.0), min_size=1, max_size=3, unique=True).map(tuple),
    grid=st.sampled_from(Grid),
    warmup=st.integers(0, 100),
    repetitions=st.integers(1, 5),
    max_tokens=st.integers(1, 10**5),
    slo=st.builds(Slo, *(st.none() | positive for _ in range(3))),
    time_budget_s=st.none() | st.integers(1, 10**6).map(float),
    servers_at_once=st.none() | st.integers(1, 8),
    seed=st.integers(0, 2**31 - 1),
)
