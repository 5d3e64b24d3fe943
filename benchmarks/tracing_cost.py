"""The cost of tracing: tokens/s with and without it, paired and interleaved.

    python -m benchmarks.tracing_cost [--rounds 6] [--tokens 256] [--batch 1 16]

Two comparisons on the demo models (draft model, K = 4, temperature 0, so that both arms generate
the same tokens), each round in the order A B B A so that drift affects both alike:

    idle / stock     plugin loaded, no request traced / the same server without the plugin
    traced / idle    every request traced and its trace read over HTTP / no request traced

Printed: the median and range over the rounds of the ratio of tokens/s, and of CPU time per token of
the server's processes, which other work on the machine disturbs less.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import statistics
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2
import psutil

from benchmarks.results_file import add_save_option, save
from specviz.methods import Method
from specviz.servers.kinds import default_spec
from specviz.servers.launch.server import Server, start_server
from specviz.servers.vllm.tracing.keys import new_key

K = 4
TARGETS = {"idle": 0.95, "traced": 0.90}


@dataclass(frozen=True)
class Measurement:
    tokens_per_s: float
    cpu_ms_per_token: float


Arm = Callable[[int, int], Awaitable[Measurement]]


def main() -> None:
    options = read_options()
    if os.cpu_count() == 2:  # one server works at a time; the client has the other core
        os.environ.setdefault("VLLM_CPU_OMP_THREADS_BIND", "0")
    print(
        f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, load "
        f"{os.getloadavg()[0]:.1f}; batch × {options.tokens} tokens, {options.rounds} rounds"
    )
    rows = []
    with TemporaryDirectory() as logs, ExitStack() as stack:
        stock, plugin = (launch(stack, Path(logs), trace=trace) for trace in (False, True))
        arms: dict[str, Arm] = {
            "stock": lambda batch, tokens: measure(stock, batch, tokens, ask=False),
            "idle": lambda batch, tokens: measure(plugin, batch, tokens, ask=False),
            "traced": lambda batch, tokens: measure(plugin, batch, tokens, ask=True),
        }
        for batch in options.batch:
            for arm, against in (("idle", "stock"), ("traced", "idle")):
                pairs = asyncio.run(compare(arms[arm], arms[against], batch, options))
                report(arm, against, batch, pairs)
                rows += [row(arm, against, batch, *pair) for pair in pairs]
    if options.save:
        save(options.save, {"method": "draft_model", "k": K, "rows": rows})


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--tokens", type=int, default=256)
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 16])
    add_save_option(parser, "tracing_cost")
    return parser.parse_args()


def launch(stack: ExitStack, logs: Path, *, trace: bool) -> Server:
    spec = default_spec(Method.DRAFT_MODEL, K, trace=trace)
    server = start_server(spec, log_dir=logs, on_progress=lambda _: None)
    stack.callback(server.stop)
    return server


async def compare(
    arm: Arm, against: Arm, batch: int, options: argparse.Namespace
) -> list[tuple[Measurement, Measurement]]:
    """Per round, the mean of both runs of each arm; one warm-up round is left out."""
    pairs = []
    for _ in range(options.rounds + 1):
        first_against = await against(batch, options.tokens)
        runs = [await arm(batch, options.tokens) for _ in range(2)]
        second_against = await against(batch, options.tokens)
        pairs.append((mean(*runs), mean(first_against, second_against)))
    return pairs[1:]


def mean(first: Measurement, second: Measurement) -> Measurement:
    return Measurement(
        (first.tokens_per_s + second.tokens_per_s) / 2,
        (first.cpu_ms_per_token + second.cpu_ms_per_token) / 2,
    )


async def measure(server: Server, batch: int, tokens: int, *, ask: bool) -> Measurement:
    """Send `batch` requests at once; with `ask`, read their traces as they arrive."""
    async with httpx2.AsyncClient(base_url=server.url, timeout=300.0) as client:
        keys = [new_key() if ask else None for _ in range(batch)]
        readers = [asyncio.create_task(read_trace(client, key)) for key in keys if key]
        cpu_s, began_s = server_cpu_s(server), time.perf_counter()
        requests = [complete(client, server, seed, tokens, key) for seed, key in enumerate(keys)]
        await asyncio.gather(*requests)
        wall_s, cpu_s = time.perf_counter() - began_s, server_cpu_s(server) - cpu_s
        for reader in readers:
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)
    total = batch * tokens
    return Measurement(total / wall_s, cpu_s * 1e3 / total)


async def complete(
    client: httpx2.AsyncClient, server: Server, seed: int, tokens: int, key: str | None
) -> None:
    body = {
        "model": server.spec.model,
        "prompt": [100 + seed, 200, 300, 400],
        "max_tokens": tokens,
        "temperature": 0.0,
        "ignore_eos": True,
    }
    headers = {"X-Request-Id": key} if key else {}
    (await client.post("/v1/completions", json=body, headers=headers)).raise_for_status()


async def read_trace(client: httpx2.AsyncClient, key: str) -> None:
    async with client.stream("GET", f"/specviz/trace/{key}") as response:
        async for _ in response.aiter_raw():
            pass


def server_cpu_s(server: Server) -> float:
    """CPU seconds of the server's processes so far."""
    processes = psutil.Process(server.pid).children(recursive=True)
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def row(
    arm: str, against: str, batch: int, one: Measurement, other: Measurement
) -> dict[str, object]:
    """One round of a comparison, as the result file keeps it."""
    return {
        "arm": arm,
        "against": against,
        "batch": batch,
        "tokens_per_s": [one.tokens_per_s, other.tokens_per_s],
        "cpu_ms_per_token": [one.cpu_ms_per_token, other.cpu_ms_per_token],
    }


def report(
    arm: str, against: str, batch: int, pairs: list[tuple[Measurement, Measurement]]
) -> None:
    speed = [one.tokens_per_s / other.tokens_per_s for one, other in pairs]
    cpu = [one.cpu_ms_per_token / other.cpu_ms_per_token for one, other in pairs]
    print(
        f"batch {batch:2d}  {arm} / {against}: tokens/s {spread(speed)} "
        f"(wanted >= {TARGETS[arm]:.2f})  CPU per token {spread(cpu)}  "
        f"at {statistics.median(other.tokens_per_s for _, other in pairs):.0f} tokens/s",
        flush=True,
    )


def spread(ratios: list[float]) -> str:
    return f"{statistics.median(ratios):.3f} [{min(ratios):.3f}, {max(ratios):.3f}]"


if __name__ == "__main__":
    main()
