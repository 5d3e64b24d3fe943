"""specviz's figures beside those of `vllm bench serve`: same server, prompts, load and limits.

One demo server (draft model, K = 5, greedy, answers of up to 128 tokens) is asked by both clients
in turn, A B, B A, …, one request at a time and 16 at once; each pass warms up first. vLLM's client
runs in a process of its own, which stays. Its figures are worked out from what it saves per
request, by the same definitions: E2E up to the last chunk of output, TPOT over the tokens behind
the first chunk. Its first chunk is the role's, which the server sends just before the first
token's.

A figure agrees if the median over the rounds of specviz's value / vLLM's, each pair from the same
round, is within 3 % of 1. On two cores, which client and server share, the client that works less
leaves more to the server (`client_cost` says how much each takes).

Output tokens must be equal; with 16 at once near ties of a bfloat16 model can go another way from
run to run, so the answers that differ are counted too. Acceptance added up over specviz's requests
must equal the difference of the server's own counters.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.clients import Work
from benchmarks.closed_loop import closed_loop
from benchmarks.vllm_bench import VllmBench
from specviz.config import Method, Prompt, Sampling
from specviz.machine import cpu_count, git_revision, hardware_summary, vllm_version
from specviz.paths import LOGS, PROJECT_ROOT
from specviz.prompts.shipped import CATEGORIES, load_prompts
from specviz.sample import Sample
from specviz.servers.kinds import demo_spec
from specviz.servers.launch.pool import ServerPool
from specviz.servers.timing.timed_server import TimedServer, open_timed_server

RESULTS = PROJECT_ROOT / "benchmarks" / "results" / "side_by_side.json"
MAX_TOKENS = 128
K = 5
TOLERANCE = 0.03
COUNTERS_SETTLE_S = 0.2
PASSES = 3
"""Over the prompts, where several are asked at once: a pass should take seconds at any load."""

FIGURES = ("tpot_mean_ms", "tpot_median_ms", "e2el_mean_ms", "e2el_median_ms", "tokens_per_s")


@dataclass(frozen=True)
class Figures:
    """One client's pass over the prompts. Drafts and accepted: as its requests told (specviz) or as
    it read from the server's counters (vLLM)."""

    tpot_mean_ms: float
    tpot_median_ms: float
    e2el_mean_ms: float
    e2el_median_ms: float
    tokens_per_s: float
    output_tokens: int
    draft_tokens: int
    accepted_tokens: int


@dataclass(frozen=True)
class Round:
    """Both clients at one load, one behind the other. `counted`: draft tokens and accepted ones by
    the server's counters over specviz's pass. `different`: answers that are not alike."""

    concurrency: int
    specviz: Figures
    vllm: Figures
    counted: tuple[int, int]
    different: int

    def ratio(self, figure: str) -> float:
        return float(getattr(self.specviz, figure) / getattr(self.vllm, figure))


def figures(
    e2el_ms: Sequence[float], tpot_ms: Sequence[float], tokens: int, wall_s: float, **counts: int
) -> Figures:
    return Figures(
        statistics.fmean(tpot_ms),
        statistics.median(tpot_ms),
        statistics.fmean(e2el_ms),
        statistics.median(e2el_ms),
        tokens / wall_s,
        tokens,
        **counts,
    )


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
    told = (counted.num_draft_tokens, counted.num_accepted_tokens)
    return found, told, [sample.text for sample in samples]


def tpot_ms(sample: Sample) -> float | None:
    """Time per output token behind the first chunk; None where that was all."""
    rest = sum(sample.chunk_tokens[1:])
    return (sample.e2el_ms - sample.ttft_ms) / rest if rest else None


def figures_of_vllm(told: dict[str, Any]) -> Figures:
    """From what it saves; its times are seconds."""
    requests = list(zip(told["latencies"], told["ttfts"], told["output_lens"], strict=True))
    return figures(
        [1000 * latency for latency, _, _ in requests],
        [1000 * (latency - ttft) / (count - 1) for latency, ttft, count in requests if count > 1],
        told["total_output_tokens"],
        told["duration"],
        draft_tokens=told["spec_decode_draft_tokens"],
        accepted_tokens=told["spec_decode_accepted_tokens"],
    )


def warm_ups(concurrency: int) -> int:
    """Unmeasured requests: two rounds of the load's shape."""
    return 2 * concurrency


async def measure_round(
    server: TimedServer, vllm: VllmBench, prompts: Sequence[Prompt], work: Work, *, vllm_first: bool
) -> Round:
    """Both clients over the prompts, one behind the other."""

    def ask_vllm() -> dict[str, Any]:
        return vllm.ask(work, MAX_TOKENS, warm_ups(work.concurrency))

    first = ask_vllm() if vllm_first else None
    ours, counted, texts = await ask_with_specviz(server, prompts, work.concurrency)
    told = first or ask_vllm()
    different = sum(a != b for a, b in zip(texts, told["generated_texts"], strict=True))
    return Round(work.concurrency, ours, figures_of_vllm(told), counted, different)


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
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--prompts", type=int, default=8, help="per category")
    parser.add_argument("--rounds", type=int, default=16)
    parser.add_argument("--concurrency", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    options, _ = parser.parse_known_args()
    prompts = [p for category in CATEGORIES for p in load_prompts(category)[: options.prompts]]
    if cpu_count() == 2:  # the model computes on one core, so that clients do not slow it down
        os.environ.setdefault("VLLM_CPU_OMP_THREADS_BIND", "0")
    pool = ServerPool(LOGS)
    try:
        url = pool.ensure(demo_spec(Method.DRAFT_MODEL, K), lambda _: None).url
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
        about = {
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "hardware": hardware_summary(),
            "git_revision": git_revision(),
            "vllm": vllm_version(),
            "prompts": len(prompts),
            "max_tokens": MAX_TOKENS,
        }
        table = [asdict(one) for one in rounds]
        RESULTS.write_text(json.dumps({**about, "rounds": table}, indent=1) + "\n")


if __name__ == "__main__":
    main()
