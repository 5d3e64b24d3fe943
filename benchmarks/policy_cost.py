"""What a policy costs: time per token of requests that it gives no draft, and of those it gives K.

    python -m benchmarks.policy_cost [--rounds 6] [--tokens 64] [--batch 1 4 16]

vLLM's synchronous scheduler on the demo models (draft model, K = 5, temperature 0). `batch`
requests run at once; each round has the order A B C D E E D C B A, so that drift affects all alike:

    plain       on a server that does not speculate
    all at 0    every request asks for K = 0: nothing is drafted, the draft model reads the new
                tokens
    half at 0   the other half drafts 5 tokens in every step; those at 0 are timed
    always at K on a server that speculates and follows no policy
    all at K    every request asks for K = 5

Then a request of the half that drafts is traced, which says how long a step drafts and verifies.
Printed: the median and range over the rounds of the ratio to plain decoding, and for `all at K` to
`always at K`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from typing import Any

import httpx2

from benchmarks.results_file import add_save_option, save
from benchmarks.tables.markdown import spread
from specviz.machine import hardware_summary
from specviz.methods import Method
from specviz.models.pair import pair_of
from specviz.policy.file import policy_toml
from specviz.policy.policy import Basis, Policy, Row
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.server import Server, start_server
from specviz.servers.vllm.dialect import LAUNCHER
from specviz.servers.vllm.tracing.keys import new_key

K = 5
ALWAYS, FOLLOWED = "always at K", "all at K"
POLICY = Policy(K, (1,), (Row(k=(K,), basis=(Basis.EDITED,)),))
"""All requests of this benchmark ask for their K."""


@dataclass(frozen=True)
class Step:
    """Medians over the steps of a request that drafts next to others at K = 0, in ms."""

    draft_ms: float
    verify_ms: float
    wall_ms: float


def main() -> None:
    options = read_options()
    if os.cpu_count() == 2:  # one server works at a time; the client has the other core
        os.environ.setdefault("VLLM_CPU_OMP_THREADS_BIND", "0")
    print(f"{hardware_summary()}, load {os.getloadavg()[0]:.1f}", flush=True)
    rows = []
    with TemporaryDirectory() as folder, servers(Path(folder)) as started:
        for batch in options.batch:
            rows.append(asyncio.run(compare(started, batch, options)))
            report(rows[-1])
    if options.save:
        figures = {"method": "draft_model", "k": K, "tokens": options.tokens, "rows": rows}
        save(options.save, figures)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 4, 16])
    add_save_option(parser, "policy_cost")
    return parser.parse_args()


@dataclass(frozen=True)
class Servers:
    """All with the plugin."""

    plain: Server
    speculating: Server
    policy: Server


@dataclass(frozen=True)
class Arm:
    """`timed` requests at `k` are timed while `others` draft K tokens."""

    name: str
    server: Server
    timed: int
    k: int
    others: int = 0


@contextmanager
def servers(folder: Path) -> Iterator[Servers]:
    path = folder / "policy.toml"
    path.write_text(policy_toml(POLICY), encoding="utf-8")
    pair = pair_of(None, None, Method.DRAFT_MODEL)
    target, draft = pair.target, pair.draft
    specs = (
        ServerSpec(LAUNCHER, target),
        ServerSpec(LAUNCHER, target, Method.DRAFT_MODEL, draft, K),
        ServerSpec(LAUNCHER, target, Method.DRAFT_MODEL, draft, K, policy=path),
    )
    started: list[Server] = []
    try:
        for spec in specs:
            started.append(start_server(spec, log_dir=folder, on_progress=lambda _: None))
        yield Servers(*started)
    finally:
        for server in started:
            server.stop()


async def compare(started: Servers, batch: int, options: argparse.Namespace) -> dict[str, Any]:
    """Of every round, milliseconds per token of each arm; one warm-up round is left out."""
    policy, drafting = started.policy, batch // 2
    arms = [Arm("plain", started.plain, batch, 0), Arm("all at 0", policy, batch, 0)]
    if drafting:
        arms.append(Arm("half at 0", policy, batch - drafting, 0, drafting))
    arms += [Arm(ALWAYS, started.speculating, batch, K), Arm(FOLLOWED, policy, batch, K)]
    rounds = []
    for _ in range(options.rounds + 1):
        found: dict[str, list[float]] = {arm.name: [] for arm in arms}
        for arm in (*arms, *reversed(arms)):
            found[arm.name].append(await ms_per_token(arm, options.tokens))
        rounds.append({name: mean(values) for name, values in found.items()})
    step = await step_next_to(policy, batch - drafting, drafting, options) if drafting else None
    return {"batch": batch, "ms_per_token": rounds[1:], "step": step and vars(step)}


async def ms_per_token(arm: Arm, tokens: int) -> float:
    """Of the requests that are timed, after their first token."""
    async with httpx2.AsyncClient(base_url=arm.server.url, timeout=300.0) as client:
        others = company(client, arm.server, arm.others, tokens)
        asked = [complete(client, arm.server, seed, tokens, arm.k) for seed in range(arm.timed)]
        times = await asyncio.gather(*asked)
        await ended(others)
    return mean(times)


async def step_next_to(server: Server, at_0: int, at_k: int, options: argparse.Namespace) -> Step:
    """Where the time of a step goes in which `at_k` requests draft and `at_0` do not."""
    key, lines = new_key(), list[dict[str, Any]]()
    async with httpx2.AsyncClient(base_url=server.url, timeout=300.0) as client:
        others = company(client, server, at_k, options.tokens, key)
        reader = asyncio.create_task(read_trace(client, key, lines))
        asked = [complete(client, server, seed, options.tokens, 0) for seed in range(at_0)]
        await asyncio.gather(*asked)
        await ended([*others, reader])
    drafted = [line for line in lines if line["drafted"]]
    names = ("draft_ms", "verify_ms", "wall_ms")
    return Step(*(median(line[name] for line in drafted) for name in names))


def company(
    client: httpx2.AsyncClient, server: Server, count: int, tokens: int, key: str | None = None
) -> list[asyncio.Task[Any]]:
    """Requests that draft, long enough to outlast those at K = 0; the first may be traced."""
    keys = [key, *[None] * count][:count]
    longer = tokens * (K + 1) + K
    return [
        asyncio.create_task(complete(client, server, 1000 + seed, longer, K, key))
        for seed, key in enumerate(keys)
    ]


async def ended(tasks: list[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    for result in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(result, Exception):
            raise result


async def complete(
    client: httpx2.AsyncClient,
    server: Server,
    seed: int,
    tokens: int,
    k: int,
    key: str | None = None,
) -> float:
    """Milliseconds per token after the first chunk."""
    body = {
        "model": server.spec.model,
        "prompt": [100 + seed, 200, 300, 400],
        "max_tokens": tokens,
        "temperature": 0.0,
        "ignore_eos": True,
        "stream": True,
    }
    if server.spec.policy:
        body["vllm_xargs"] = {"spec_k": k}
    headers = {"X-Request-Id": key} if key else {}
    times = []
    async with client.stream("POST", "/v1/completions", json=body, headers=headers) as response:
        response.raise_for_status()
        async for line in response.aiter_lines():
            if line.startswith("data: {"):
                times.append(time.perf_counter())
    return (times[-1] - times[0]) * 1e3 / (tokens - 1)


async def read_trace(client: httpx2.AsyncClient, key: str, lines: list[dict[str, Any]]) -> None:
    async with client.stream("GET", f"/specviz/trace/{key}") as response:
        response.raise_for_status()
        async for line in response.aiter_lines():
            if line:
                lines.append(json.loads(line))


def ratios(row: dict[str, Any], arm: str) -> list[float]:
    """Of each round, the arm's time per token to that of plain decoding, or of always drafting."""
    against = ALWAYS if arm == FOLLOWED else "plain"
    return [one[arm] / one[against] for one in row["ms_per_token"]]


def report(row: dict[str, Any]) -> None:
    plain_ms = median(one["plain"] for one in row["ms_per_token"])
    print(f"batch {row['batch']:2d}  plain: {plain_ms:.2f} ms")
    for arm in list(row["ms_per_token"][0])[1:]:
        print(f"batch {row['batch']:2d}  {arm}: {spread(ratios(row, arm))}")
    print(f"batch {row['batch']:2d}  step: {row['step']}", flush=True)


if __name__ == "__main__":
    main()
