"""specviz's client in a closed loop: a fixed number of requests at once, the next when one ends.

python -m benchmarks.clients.closed_loop URL PROMPTS.jsonl [--concurrency 64] [--uvloop]
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

from specviz.config import Prompt, Sampling
from specviz.sample import Sample
from specviz.servers.timing.timed_server import TimedServer, open_timed_server


async def closed_loop(
    server: TimedServer, prompts: Sequence[Prompt], sampling: Sampling, concurrency: int
) -> list[Sample]:
    """Send all prompts, in order. Raises the first EngineError."""
    samples: list[Sample | None] = [None] * len(prompts)
    todo = iter(enumerate(prompts))

    async def work() -> None:
        for index, prompt in todo:
            samples[index] = await server.sample(prompt, sampling)

    async with asyncio.TaskGroup() as group:
        for _ in range(concurrency):
            group.create_task(work())
    return [sample for sample in samples if sample is not None]


async def run(url: str, prompts: Sequence[Prompt], concurrency: int) -> None:
    server = await open_timed_server(url)
    try:
        samples = await closed_loop(server, prompts, Sampling(), concurrency)
    finally:
        await server.close()
    print(len(samples), "requests,", sum(sample.output_tokens or 0 for sample in samples), "tokens")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("url")
    parser.add_argument("prompts", type=Path, help="one JSON object with `prompt` per line")
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--uvloop", action="store_true")
    options = parser.parse_args()
    lines = options.prompts.read_text(encoding="utf-8").splitlines()
    prompts = [Prompt(json.loads(line)["prompt"]) for line in lines]
    work = run(options.url, prompts, options.concurrency)
    if options.uvloop:
        import uvloop

        uvloop.run(work)
    else:
        asyncio.run(work)


if __name__ == "__main__":
    main()
