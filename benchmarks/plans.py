"""The shipped plans, measured as `specviz bench` does: acceptance and speed-up of every arm.

python -m benchmarks.plans --save                    # all plans but the one that needs models
python -m benchmarks.plans k-sweep --save
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.results_file import add_save_option, save
from specviz import runtime
from specviz.analysis.benchmark.results import Results
from specviz.bench.plan.toml import read_plan
from specviz.bench.results import results_of
from specviz.machine import hardware_summary
from specviz.paths import PLANS
from specviz.prompts.sets import load_conversations

NAMES = ("two-minutes", "k-sweep", "temperature-sweep")
"""`documents` needs models that do not ship."""


@dataclass(frozen=True)
class Row:
    """One arm at one temperature and load. `speedup` against the baseline of the same engine,
    `low` to `high` its 95 % interval; None where there is none."""

    arm: str
    engine: str
    temperature: float
    load: str
    acceptance: float | None
    mean_acceptance_length: float | None
    speedup: float | None
    low: float | None
    high: float | None


def rows_of(results: Results) -> list[Row]:
    engines = {arm.arm_index: arm.engine for arm in results.arms}
    return [
        Row(
            cell.arm,
            str(engines[cell.arm_index]),
            cell.temperature,
            cell.load,
            cell.acceptance.draft_acceptance_rate if cell.acceptance else None,
            cell.acceptance.mean_acceptance_length if cell.acceptance else None,
            cell.speedup.ratio if cell.speedup else None,
            cell.speedup.low if cell.speedup else None,
            cell.speedup.high if cell.speedup else None,
        )
        for cell in results.cells
    ]


def line(row: Row) -> str:
    def text(value: float | None) -> str:
        return "-" if value is None else f"{value:.2f}"

    return (
        f"{row.arm:<28} T {row.temperature:<4g} {row.load:<16} acceptance "
        f"{text(row.acceptance):>5}  tokens/step {text(row.mean_acceptance_length):>5}  speed-up "
        f"{text(row.speedup)} [{text(row.low)}, {text(row.high)}]"
    )


def measured(name: str) -> tuple[Results, int]:
    """The results of a plan and how many prompts it has; the runs themselves are not kept."""
    plan = read_plan(PLANS / f"{name}.toml")
    with (
        tempfile.TemporaryDirectory() as folder,
        runtime.opened(Path(folder) / "runs.duckdb") as current,
    ):
        benchmark_id = current.benchmarks.start(plan)
        current.benchmarks.wait(benchmark_id)
        return results_of(current.store, benchmark_id), len(load_conversations(plan.prompts))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("plan", nargs="*", choices=[*NAMES, []], help="default: all of them")
    add_save_option(parser, "plans")
    options = parser.parse_args()
    print(hardware_summary())
    found: dict[str, dict[str, object]] = {}
    total = 0
    for name in options.plan or NAMES:
        results, prompts = measured(name)
        rows = rows_of(results)
        print(f"== {name}, {prompts} prompts")
        for row in rows:
            print(line(row))
        total += prompts
        found[name] = {"prompts": prompts, "rows": [asdict(row) for row in rows]}
    if options.save:
        save(options.save, {"plans": found}, prompts=total)


if __name__ == "__main__":
    main()
