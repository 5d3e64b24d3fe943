"""Speculation against plain decoding, on this machine, per category of the held-out prompts.

Both servers run at the same time and answer one request at a time, each prompt on both in
alternating order (A B, B A, …), untraced and greedy. A prompt counts only if both answers are
equal, so that times are compared over the same tokens. The speed-up of a category is the ratio of
total times, with a 95 % interval over prompts.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import asdict, replace

from benchmarks.results_file import add_save_option, save
from benchmarks.speedup.pairs import Pair, Row, row
from specviz.config import Prompt, Sampling
from specviz.machine import hardware_summary
from specviz.methods import Method
from specviz.paths import LOGS
from specviz.prompts.shipped import CATEGORIES, load_prompts
from specviz.servers.client.engine import ServerEngine, open_server
from specviz.servers.kinds import default_spec
from specviz.servers.launch.pool import ServerPool
from specviz.trace import Trace, fold

MAX_TOKENS = 192


async def answer(engine: ServerEngine, prompt: Prompt) -> Trace:
    sampling = Sampling(max_tokens=min(prompt.max_tokens or MAX_TOKENS, MAX_TOKENS))
    return fold([event async for event in engine.generate(prompt, sampling)])


async def measure(urls: Sequence[str], method: Method, k: int, per_category: int) -> list[Pair]:
    baseline = await open_server(urls[0], traced=False)
    speculating = await open_server(urls[1], method=method, k=k, traced=False)
    pairs = []
    for category in CATEGORIES:
        prompts = load_prompts(category)[:per_category]
        for number, prompt in enumerate(prompts):
            if number == 0:  # warm up with shapes of this category
                for engine in (baseline, speculating):
                    await answer(engine, replace(prompt, max_tokens=16))
            order = [baseline, speculating] if number % 2 == 0 else [speculating, baseline]
            traces = {id(engine): await answer(engine, prompt) for engine in order}
            pairs.append(Pair(category, traces[id(baseline)], traces[id(speculating)]))
    await baseline.close()
    await speculating.close()
    return pairs


def line(one: Row) -> str:
    """One line of the table."""
    ratio = "-"
    if one.speedup is not None:
        ratio = f"{one.speedup:.2f}x [{one.low:.2f}, {one.high:.2f}]"
    return (
        f"{one.category:<18} {one.prompts:>3} prompts  {one.equal:>3} equal  acceptance "
        f"{one.acceptance:.3f}  tokens/step {one.tokens_per_step:.2f}  speed-up {ratio}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speedup", description=__doc__)
    parser.add_argument("--method", default=Method.DRAFT_MODEL, type=Method)
    parser.add_argument("--k", default=5, type=int)
    parser.add_argument("--prompts", default=40, type=int, help="per category")
    add_save_option(parser, "speedup")
    options = parser.parse_args()
    pool = ServerPool(LOGS)
    try:
        specs = [default_spec(Method.BASELINE, None), default_spec(options.method, options.k)]
        urls = [pool.ensure(spec, lambda text: None).url for spec in specs]
        pairs = asyncio.run(measure(urls, options.method, options.k, options.prompts))
    finally:
        pool.close()
    print(f"{options.method.value}, K = {options.k}, greedy, batch 1 on {hardware_summary()}")
    rows = [
        row(name, [pair for pair in pairs if name in (pair.category, "all")])
        for name in (*CATEGORIES, "all")
    ]
    for one in rows:
        print(line(one))
    if options.save:
        about = {"method": options.method, "k": options.k, "max_tokens": MAX_TOKENS}
        save(options.save, {**about, "rows": [asdict(one) for one in rows]}, prompts=len(pairs))


if __name__ == "__main__":
    main()
