"""What a benchmark has measured, read for all of them at once: finished requests only."""

from __future__ import annotations

from dataclasses import replace

from specviz.analysis.benchmark.informative import Need
from specviz.config import RunStatus
from specviz.store import ArmRow, BenchmarkLog, RoundRow, Store
from specviz.store.benchmarks.contents import read_contents
from tests.support.store.samples import new_run
from tests.unit.store.test_store_benchmarks import begun, row, sample

PLAIN = ArmRow(0, "baseline", "vllm", "baseline", None, "m", None, None, None, None, None)
EAGLE3 = replace(PLAIN, arm_index=1, name="eagle3 · K 3", method="eagle3", k=3)


def measure(log: BenchmarkLog, arm: ArmRow, concurrency: int, category: str, failed: bool) -> None:
    log.arm(arm)
    run_id = f"{arm.arm_index}-{concurrency}"
    run = new_run(run_id=run_id, group_id="b")
    run = replace(run, config=replace(run.config, concurrency=concurrency))
    log.begin_round(run, RoundRow(run_id, run_id, arm.arm_index, 0, 0))
    asked = row(None if failed else sample(), run_id=run_id, round_id=run_id)
    log.add(replace(asked, prompt=replace(asked.prompt, category=category)))


def test_arms_places_requests_and_categories(store: Store) -> None:
    log = begun(store, "b")
    for concurrency, category in ((1, "qa"), (4, "code")):
        measure(log, PLAIN, concurrency, category, failed=False)
        measure(log, EAGLE3, concurrency, category, failed=concurrency == 4)
    log.end(RunStatus.FINISHED, None)
    begun(store, "empty")
    found = store.read(read_contents, ["b", "empty", "unknown"])
    assert [*found] == ["b"]
    contents = found["b"]
    assert (contents.requests, contents.categories, contents.loads) == (3, 2, 2)
    assert [(arm.name, arm.k) for arm in contents.arms] == [("baseline", None), ("eagle3 · K 3", 3)]
    assert {at for _, at in contents.arms[0].places} == {1, 4}
    assert [contents.has(need) for need in Need] == [1, 1, 1]
    assert store.read(read_contents, []) == {}
