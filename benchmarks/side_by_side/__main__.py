"""specviz's figures compared with `vllm bench serve`: same server, prompts, load and limits.

Both clients query one demo server (draft model, K = 5, greedy, up to 128 tokens) in turn, A B, B A,
…, at concurrency 1 and 16; each pass warms up first. vLLM's client runs in its own long-lived
process. Its figures are computed from what it saves per request, by the same definitions: E2E up to
the last chunk of output, TPOT over the tokens after the first chunk. Its first chunk is the role's,
which the server sends just before the first token's.

A figure agrees if the median over the rounds of specviz's value / vLLM's, each pair from the same
round, is within 3 % of 1. On two cores shared by client and server, the lighter client leaves more
CPU time to the server (`client_cost` measures how much each uses).

Output tokens must be equal; at concurrency 16 near ties of a bfloat16 model can go either way from
run to run, so differing answers are counted too. Acceptance summed over specviz's requests must
equal the change in the server's own counters.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.clients.closed_loop import closed_loop
from benchmarks.clients.command_lines import Work
from benchmarks.results_file import add_save_option, save
from benchmarks.side_by_side.figures import Figures, Round, figures, figures_of_vllm, tpot_ms
from benchmarks.side_by_side.vllm_bench import VllmBench
from specviz.config import Prompt, Sampling
from specviz.machine import cpu_count, hardware_summary, vllm_version
from specviz.methods import Method
from specviz.paths import LOGS
from specviz.prompts.shipped import CATEGORIES, load_prompts
from specviz.servers.kinds import default_spec
from specviz.servers.launch.pool import ServerPool
from specviz.servers.timing.timed_server import TimedServer, open_timed_server

MAX_TOKENS = 128
K = 5
TOLERANCE = 0.03
COUNTERS_SETTLE_S = 0.2
PASSES = 3
"""Over the prompts at higher concurrency: a pass should take seconds at any load."""

FIGURES = ("tpot_mean_ms", "tpot_median_ms", "e2el_mean_ms", "e2el_median_ms", "tokens_per_s")


async def ask_with_specviz(
    server: TimedServer, prompts: Sequence[Prompt], concurrency: int
) -> tuple[Figures, tuple[int, int], list[str]]:
    """One pass: the figures, the server's counters over it, the answers."""
    sampling = Sampling(max_tokens=MAX_TOKENS)
    await closed_loop(server, [prompts[0]] * warm_ups(concurrency), sampling, concurrency)
    await asyncio.sleep(COUNTERS_SETTLE_S)
    before = await server.counters()
    began_s = time.perf_counter()
    samples = await closed_loop(server, prompts, sampling, concurrency)
    wall_s = time.perf_counter() - began_s
    await asyncio.sleep(COUNTERS_SETTLE_S)
    after = await server.counters()
    assert before is not None and after is not None
    counted = after - before
    found = figures(
        [sample.e2el_ms for sample in samples],
        [tpot for sample in samples if (tpot := tpot_ms(sample)) is not None],
        sum(sample.output_tokens or 0 for sample in samples),
        wall_s,
        draft_tokens=sum(sum(sample.per_step_drafted or ()) for sample in samples),
        accepted_tokens=sum(sum(sample.per_step_accepted or ()) for sample in samples),
    )
    totals = (counted.num_draft_tokens, counted.num_accepted_tokens)
    return found, totals, [sample.text for sample in samples]


def warm_ups(concurrency: int) -> int:
    """Unmeasured requests: two rounds of the load's shape."""
    return 2 * concurrency


async def measure_round(
    server: TimedServer, vllm: VllmBench, prompts: Sequence[Prompt], work: Work, *, vllm_first: bool
) -> Round:
    """Both clients over the prompts, one after the other."""

    def ask_vllm() -> dict[str, Any]:
        return vllm.ask(work, MAX_TOKENS, warm_ups(work.concurrency))

    first = ask_vllm() if vllm_first else None
    ours, counted, texts = await ask_with_specviz(server, prompts, work.concurrency)
    theirs = first or ask_vllm()
    different = sum(a != b for a, b in zip(texts, theirs["generated_texts"], strict=True))
    return Round(work.concurrency, ours, figures_of_vllm(theirs), counted, different)


async def measure(
    url: str, prompts: Sequence[Prompt], loads: Sequence[int], rounds: int, folder: Path
) -> list[Round]:
    """All rounds at all loads, interleaved."""
    server, vllm, found = await open_timed_server(url), VllmBench(folder), list[Round]()
    try:
        for number, load in product(range(rounds), loads):
            asked = [*prompts] * min(load, PASSES)
            file = folder / f"{load}.jsonl"
            file.write_text("".join(json.dumps({"prompt": one.text}) + "\n" for one in asked))
            work = Work(url, server.model, file, len(asked), load, folder)
            first = number % 2 == 1
            found.append(await measure_round(server, vllm, asked, work, vllm_first=first))
            print(f"\rround {number + 1} of {rounds}", end="", flush=True)
        print("\r", end="")
    finally:
        await server.close()
        vllm.close()
    return found


def agree(rounds: Sequence[Round], figure: str) -> bool:
    return abs(statistics.median(one.ratio(figure) for one in rounds) - 1) <= TOLERANCE


def print_load(rounds: Sequence[Round]) -> None:
    """The table of one load."""
    print(f"\nconcurrency {rounds[0].concurrency}")
    print(f"{'':<18} {'specviz':>9} {'vllm':>9} {'ratio':>7} {'range of the rounds':>20}")
    for figure in FIGURES:
        ours = statistics.median(getattr(one.specviz, figure) for one in rounds)
        theirs = statistics.median(getattr(one.vllm, figure) for one in rounds)
        ratios = [one.ratio(figure) for one in rounds]
        span = f"{min(ratios):.3f} to {max(ratios):.3f}"
        verdict = "agrees" if agree(rounds, figure) else "DIFFERS"
        print(
            f"{figure:<18} {ours:>9.2f} {theirs:>9.2f} {statistics.median(ratios):>7.3f} "
            f"{span:>20}  {verdict}"
        )
    last, count = rounds[-1], len(rounds)
    equal = sum(one.specviz.output_tokens == one.vllm.output_tokens for one in rounds)
    different = sum(one.different for one in rounds)
    print(
        f"output tokens      {last.specviz.output_tokens} and {last.vllm.output_tokens} in the "
        f"last round, equal in {equal} of {count}; {different} answers differ in all rounds"
    )
    exact = sum(
        (one.specviz.draft_tokens, one.specviz.accepted_tokens) == one.counted for one in rounds
    )
    drafted, accepted = last.counted
    print(
        f"acceptance         {accepted}/{drafted} = {accepted / drafted:.4f} in the last round; "
        f"the requests' sums equal /metrics in {exact} of {count}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.side_by_side",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--prompts", type=int, default=8, help="per category")
    parser.add_argument("--rounds", type=int, default=16)
    parser.add_argument("--concurrency", type=int, nargs="+", default=[1, 16])
    add_save_option(parser, "side_by_side")
    options = parser.parse_args()
    prompts = [p for category in CATEGORIES for p in load_prompts(category)[: options.prompts]]
    if cpu_count() == 2:  # the model computes on one core, so that clients do not slow it down
        os.environ.setdefault("VLLM_CPU_OMP_THREADS_BIND", "0")
    pool = ServerPool(LOGS)
    try:
        url = pool.ensure(default_spec(Method.DRAFT_MODEL, K), lambda _: None).url
        with TemporaryDirectory() as folder:
            rounds = asyncio.run(
                measure(url, prompts, options.concurrency, options.rounds, Path(folder))
            )
    finally:
        pool.close()
    print(f"{hardware_summary()}; draft_model, K = {K}, greedy, {len(prompts)} prompts")
    for load in options.concurrency:
        print_load([one for one in rounds if one.concurrency == load])
    if options.save:
        about = {"vllm": vllm_version(), "method": "draft_model", "k": K, "max_tokens": MAX_TOKENS}
        table = [asdict(one) for one in rounds]
        save(options.save, {**about, "rounds": table}, prompts=len(prompts))


if __name__ == "__main__":
    main()
