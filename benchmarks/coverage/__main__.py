"""How often 95 % intervals hold the truth: simulated benchmarks whose true speed-up is known.

Prompts of very different length (lognormal, sigma 0.6) gain differently (per-prompt speed-ups,
sigma 0.05 to 0.3) and are timed with noise (2 to 10 %, one request in fifty half as slow again).
With blocks, prompts that run together share the slow moments of their block, in each arm its own
(2 %, and 5 % where noted). The picked K is that of a sweep of 15 on the same prompts.
"""

from __future__ import annotations

import argparse
from itertools import product

from benchmarks.coverage.worlds import WORLDS, coverage_of, picked_coverage_of
from benchmarks.results_file import add_save_option, save
from specviz.analysis.k.optimum import UNITS_NEEDED

PROMPTS = (5, 10, 20, 60)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("--rounds", type=int, default=4000, help="simulated benchmarks of each")
    parser.add_argument("--picked-rounds", type=int, default=400, help="simulated sweeps of each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--world", nargs="*", choices=list(WORLDS), default=list(WORLDS))
    add_save_option(parser, "coverage")
    asked = parser.parse_args()
    rows = []
    for name, prompts in product(asked.world, PROMPTS):
        world = WORLDS[name]
        if prompts // world.block < 2:
            continue
        row = {
            "world": name,
            "prompts": prompts,
            "covered": coverage_of(world, prompts, asked.rounds, asked.seed),
            "picked_covered": picked_coverage_of(world, prompts, asked.picked_rounds, asked.seed)
            if prompts // world.block >= UNITS_NEEDED
            else None,
        }
        print(row, flush=True)
        rows.append(row)
    if asked.save:
        rounds = {"rounds": asked.rounds, "picked_rounds": asked.picked_rounds}
        save(asked.save, {**rounds, "seed": asked.seed, "rows": rows})


if __name__ == "__main__":
    main()
