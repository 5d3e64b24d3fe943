"""What K, Technique and Cost open unasked: the most informative benchmark, priced as what it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from specviz import runtime
from specviz.bench.plan.toml import parse_plan
from specviz.store.runs.tables import update
from tests.support.apps.bench import clocks
from tests.support.apps.process import APPS, running_app

pytestmark = pytest.mark.e2e

SLOW_MS = 40_000
PLAN = """
name = "{name}"
concurrency = {loads}
warmup = 0
max_tokens = 24
prompts = {{ count = {prompts} }}
arms = [{{ engine = "vllm", method = "baseline" }}, {arms}]
"""
EAGLE3 = '{{ engine = "vllm", method = "eagle3", k = {} }}'
SWEEP = ", ".join(EAGLE3.format(k) for k in (1, 3, 5))


@dataclass(frozen=True)
class App:
    """`sweep` has several Ks, `grid` several loads; `newest` is small."""

    url: str
    sweep: str
    grid: str
    newest: str


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("choice")
    store = folder / "runs.duckdb"
    with runtime.opened(store, timed_arms=clocks) as current:

        def measured(name: str, arms: str, loads: str, prompts: int, hardware: str) -> str:
            plan = PLAN.format(name=name, arms=arms, loads=loads, prompts=prompts)
            benchmark_id = current.benchmarks.start(parse_plan(plan))
            assert current.benchmarks.wait(benchmark_id, 60)
            row = {"hardware": hardware}
            current.store.write(update, "benchmarks", row, "benchmark_id", benchmark_id)
            return benchmark_id

        no_gpu = "2 × EPYC, 23 GiB, no GPU"
        sweep = measured("Sweep", SWEEP, "[1]", 6, no_gpu)
        grid = measured(
            "Grid", EAGLE3.format(3), "[1, 4]", 6, "8 × Xeon, 99 GiB, 2 × NVIDIA H200 (141 GiB)"
        )
        newest = measured("Newest", EAGLE3.format(3), "[1]", 2, no_gpu)
    with running_app(APPS / "embedded.py", folder / "app.log", SPECVIZ_STORE=str(store)) as url:
        yield App(url, sweep, grid, newest)


@pytest.mark.slow
def test_k_opens_the_sweep_by_its_id_and_former_links_still_work(page: Page, app: App) -> None:
    page.goto(f"{app.url}/k", wait_until="commit")
    why = page.get_by_text("The most informative of 3: 3 Ks next to plain decoding, 24 requests")
    expect(why).to_be_visible(timeout=SLOW_MS)
    expect(page).to_have_url(re.compile(f"k_benchmark={app.sweep}"))
    expect(page.get_by_test_id("stMetric").nth(1)).to_contain_text(
        re.compile(r"faster output \(\d\.\d\d to \d\.\d\d\)"), timeout=SLOW_MS
    )
    label = quote(f"A former name · 22 Nov 12:00 · {app.newest[:6]}")
    page.goto(f"{app.url}/k?k_benchmark={label}", wait_until="commit")
    expect(page).to_have_url(re.compile(f"k_benchmark={app.newest}"), timeout=SLOW_MS)
    expect(why).to_have_count(0)


@pytest.mark.slow
def test_cost_prices_what_was_measured_as_what_it_is(page: Page, app: App) -> None:
    page.goto(f"{app.url}/cost", wait_until="commit")
    expect(page.get_by_text("The most informative of 3: 2 loads")).to_be_visible(timeout=SLOW_MS)
    expect(page.get_by_label("$ per GPU hour")).to_have_value("4.45", timeout=SLOW_MS)
    expect(page.get_by_label("GPUs", exact=True)).to_have_value("2")
    expect(page.get_by_text(re.compile(r"^\$8\.9/h\."))).to_be_visible(timeout=SLOW_MS)
    processors = f"{app.url}/cost?cost_source=measured+here&cost_benchmark={app.sweep}"
    page.goto(processors, wait_until="commit")
    note = page.get_by_text(
        "Measured on 2 × EPYC, 23 GiB, no GPU, for which there is no list price"
    )
    expect(note).to_be_visible(timeout=SLOW_MS)
    expect(page.get_by_text(re.compile(r"^\d+ % to \d+ %, 95 % interval$"))).to_be_visible()
    expect(page.get_by_text("saving per month")).to_have_count(0)
    price = page.get_by_label("$ per machine hour")
    price.fill("2")
    price.press("Enter")
    expect(page.get_by_text("saving per month").first).to_be_visible(timeout=SLOW_MS)
    expect(page.get_by_text(re.compile(r"^\$2/h\."))).to_be_visible()
