"""Record `data/sample.duckdb.gz`, which pages show until you have recorded something.

    PYTHONPATH=. .venv/bin/python scripts/record_sample.py [--quick] [-o FILE]

On the embedded engine with SmolLM2, on a machine that does nothing else: a K sweep with
its redraft, methods over load and temperature, one draft before and after its weights were
rounded, and every method traced. Machine and date are those that the runs record themselves.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from specviz import runtime
from specviz.bench.plan.toml import parse_plan
from specviz.config import EngineKind, Prompt, RunConfig, RunStatus, Sampling
from specviz.live.job import MAX_ARMS, Phase
from specviz.methods import Method
from specviz.models.pair import default_draft
from specviz.prompts.shipped import CATEGORIES, load_prompts
from specviz.runtime import Runtime
from specviz.store.benchmarks.reads import read_benchmarks
from specviz.store.benchmarks.redrafts import count_redrafts
from specviz.store.history import edits
from specviz.store.history.history import read_history, read_run_ids
from specviz.store.history.line import Item, Kind
from specviz.store.shipped import REGRESSION, SAMPLE, Shipped

BITS = 3
ROUNDED = Path(tempfile.gettempdir()) / "specviz-sample" / f"draft-{BITS}-bit"
"""The plan that is stored names this folder."""

SWEEP_KS = (1, 2, 3, 4, 5, 6, 8, 10, 12)
TRACED = (
    ("code_generation", Sampling(temperature=0.0, max_tokens=96)),
    ("summarization", Sampling(temperature=0.8, max_tokens=96, seed=7)),
)
TREE = {"shape": "tree"}
SPEECHLESS_S = 30.0
"""How often a long step says how far it is."""


@dataclass(frozen=True)
class Size:
    """How much is measured: prompts of a benchmark, tokens of an answer, Ks, temperatures, loads,
    methods that are traced."""

    prompts: int = 24
    max_tokens: int = 96
    ks: tuple[int, ...] = SWEEP_KS
    temperatures: tuple[float, ...] = (0.0, 0.7)
    loads: tuple[int, ...] = (1, 2, 4)
    methods: tuple[Method, ...] = tuple(Method)


QUICK = Size(6, 16, (1, 3), (0.0, 0.7), (1, 2), (Method.BASELINE, Method.DRAFT_MODEL, Method.NGRAM))


def plan_text(name: str, size: Size, arms: str, more: str = "") -> str:
    """A plan on the embedded engine, over all categories alike."""
    weights = "\n".join(f"{category} = 1" for category in CATEGORIES)
    return f"""
name = "{name}"
warmup = 3
repetitions = 1
max_tokens = {size.max_tokens}
{more}
[prompts]
count = {size.prompts}
[prompts.weights]
{weights}
[[arms]]
method = "baseline"
{arms}
"""


def record(current: Runtime, size: Size) -> None:
    """Everything, one after the other."""
    record_traced(current, size)
    record_loads(current, size)
    record_regression(current, size)
    record_sweep(current, size)  # the last: the newest line of the list


def record_traced(current: Runtime, size: Size) -> None:
    """Every method on the same prompt, in groups that Live could have started."""
    methods = [method for method in size.methods if method is not Method.BASELINE]
    groups = [methods[at : at + MAX_ARMS - 1] for at in range(0, len(methods), MAX_ARMS - 1)]
    for category, sampling in TRACED:
        prompt = load_prompts(category)[0]
        for group in groups:
            traced_group(current, prompt, sampling, [Method.BASELINE, *group])


def traced_group(
    current: Runtime, prompt: Prompt, sampling: Sampling, methods: Sequence[Method]
) -> None:
    names = ", ".join(method.value for method in methods)
    say(f"traced at temperature {sampling.temperature:g}: {names}")
    configs = [
        RunConfig(EngineKind.EMBEDDED, method, None if method is Method.BASELINE else k_of(method),
                  sampling, options=TREE if method is Method.MEDUSA else {})
        for method in methods
    ]  # fmt: skip
    job = current.jobs.start(prompt, configs)
    job.done.wait()
    wrong = [arm for arm in job.arms if arm.phase is not Phase.FINISHED]
    if wrong:
        raise SystemExit(f"A run did not finish: {wrong[0].config.title}, {wrong[0].note}")
    label(current, [Item(Kind.RUN, arm.run_id) for arm in job.arms], tags=("every method",))


def k_of(method: Method) -> int:
    return 12 if method is Method.MEDUSA else 5


def record_loads(current: Runtime, size: Size) -> None:
    """The ways to draft that differ most, over load and temperature."""
    arms = "".join(
        f'[[arms]]\nmethod = "{method}"\nk = {k}\n'
        for method, k in (("draft_model", 5), ("eagle3", 5), ("ngram", 4))
    )
    grid = f"temperatures = {list(size.temperatures)}\nconcurrency = {list(size.loads)}"
    benchmark_id = benchmark(
        current, plan_text("Four ways to decode, by load and temperature", size, arms, grid)
    )
    note = (
        "The embedded engine answers one request at a time, so at concurrency 2 and 4 requests "
        "wait for each other: a server batches them instead."
    )
    label(current, [Item(Kind.BENCHMARK, benchmark_id)], ("load", "temperature"), note)


def record_regression(current: Runtime, size: Size) -> None:
    """The draft model next to itself with rounded weights, in turns on the same prompts."""
    source = default_draft(Method.DRAFT_MODEL)
    if source is None:
        raise SystemExit("The default model has no draft model here.")
    round_weights(source, ROUNDED)
    draft = '[[arms]]\nmethod = "draft_model"\nk = 5\n'
    arms = f'{draft}{draft}draft = "{ROUNDED}"\n'
    benchmark_id = benchmark(
        current, plan_text(f"A draft, and its copy rounded to {BITS} bits", size, arms)
    )
    note = (
        f"The copy has the weights of {source.name} rounded to {BITS} bits per row of a matrix: it "
        "still fits the target and answers are the same, but fewer of its drafts are accepted."
    )
    item = Item(Kind.BENCHMARK, benchmark_id)
    label(current, [item], (REGRESSION,), note)
    runs = current.store.read(read_run_ids, [item])
    for run_id, name in zip(
        runs, ("Plain decoding", "Draft", f"Draft rounded to {BITS} bits"), strict=True
    ):
        current.store.write(edits.rename, Item(Kind.RUN, run_id), name)
    label(current, [Item(Kind.RUN, run_id) for run_id in runs[1:]], (REGRESSION,), note)


def record_sweep(current: Runtime, size: Size) -> None:
    """Every K of one method between plain decoding, then what its largest K says of the others."""
    arms = f'[[arms]]\nmethod = "draft_model"\nk = {list(size.ks)}\n'
    name = f"K {size.ks[0]} to {size.ks[-1]} of the draft model"
    benchmark_id = benchmark(current, plan_text(name, size, arms))
    label(current, [Item(Kind.BENCHMARK, benchmark_id)], ("K",))
    say("the largest K drafted again behind every token")
    arm = len(size.ks)  # after plain decoding, the Ks ascending
    current.redrafts.start(benchmark_id, arm)
    current.redrafts.wait()
    progress = current.redrafts.progress(benchmark_id, arm)
    if progress is None or progress.error:
        raise SystemExit(f"The redraft failed: {progress and progress.error}")


def benchmark(current: Runtime, text: str) -> str:
    """Measure a plan to its end; returns its id."""
    plan = parse_plan(text)
    benchmark_id = current.benchmarks.start(plan)
    while not current.benchmarks.wait(benchmark_id, SPEECHLESS_S):
        progress = current.benchmarks.progress(benchmark_id)
        if progress:
            say(f"{plan.name}: {progress.done} of {progress.planned} requests")
    progress = current.benchmarks.progress(benchmark_id)
    if progress is None or progress.phase.value != RunStatus.FINISHED:
        raise SystemExit(f"{plan.name} did not finish: {progress and progress.error}")
    say(f"{plan.name}: {progress.done} of {progress.planned} requests")
    for arm in progress.arms:
        if arm.draft_acceptance_rate is not None:
            say(f"    {arm.arm}: acceptance {arm.draft_acceptance_rate:.3f}")
    return benchmark_id


def label(
    current: Runtime, items: Sequence[Item], tags: Sequence[str], note: str | None = None
) -> None:
    current.store.write(edits.tag, items, tags)
    if note:
        current.store.write(edits.write_note, items, note)


def round_weights(source: Path, target: Path) -> None:
    """A copy of a model, each row of its matrices rounded to 2^`BITS` - 1 values around zero."""
    import torch
    from safetensors.torch import load_file, save_file

    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    file = target / "model.safetensors"
    levels = 2 ** (BITS - 1) - 1

    def rounded(weights: torch.Tensor) -> torch.Tensor:
        if weights.dim() < 2:
            return weights
        scale = weights.float().abs().amax(dim=1, keepdim=True).clamp_min(1e-12) / levels
        return ((weights.float() / scale).round() * scale).to(weights.dtype)

    save_file({name: rounded(one) for name, one in load_file(file).items()}, file, {"format": "pt"})


def check(file: Path) -> None:
    """Open it as the app does, and read what its pages read. Raises SystemExit."""
    shipped = Shipped(file)
    try:
        store = shipped.store()
        if store is None:
            raise SystemExit(shipped.problem)
        found = store.read(read_history, limit=100, together=True)
        unfinished = [row.label for row in found.rows if row.status != RunStatus.FINISHED]
        benchmarks = store.read(read_benchmarks)
        recorded = shipped.recorded()
        if unfinished or len(benchmarks) != 3 or recorded is None:
            raise SystemExit(f"The sample is not whole: {unfinished or benchmarks}")
        redrafts = sum(store.read(count_redrafts, row.benchmark_id) for row in benchmarks)
        say(f"{found.total} lines and {redrafts} redrafts, {recorded.at:%F}, {recorded.hardware}")
    finally:
        shipped.close()


def say(text: str) -> None:
    print(f"{timedelta(seconds=round(time.monotonic() - BEGAN))}  {text}", file=sys.stderr)


BEGAN = time.monotonic()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a few prompts, short answers")
    parser.add_argument("-o", "--output", type=Path, default=SAMPLE)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample.duckdb"
        with runtime.opened(path) as current:
            record(current, QUICK if given.quick else Size())
        packed = gzip.compress(path.read_bytes(), mtime=0)
    check_first = given.output.with_name(f"{given.output.name}.new")
    check_first.write_bytes(packed)
    check(check_first)
    check_first.replace(given.output)
    say(f"{given.output}: {len(packed) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
