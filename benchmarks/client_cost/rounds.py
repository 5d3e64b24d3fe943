"""Rounds of all clients, each with a small and a large run, and what a client costs by them."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import httpx2

from benchmarks.clients.command_lines import Client, Work, run_client


@dataclass(frozen=True)
class Run:
    """One run of a client: the requests and tokens it received, and its CPU seconds."""

    requests: int
    tokens: int
    cpu_s: float


@dataclass(frozen=True)
class Row:
    """A client's figures over the rounds: tokens per CPU second, start-up removed."""

    client: str
    tokens_per_cpu_s: float
    low: float
    high: float
    cpu_us_per_token: float
    rounds: list[float]


def measure(client: Client, work: Work) -> Run:
    """Run a client; the replay server counts its tokens. Raises RuntimeError if any is missing."""
    before = httpx2.get(f"{work.url}/totals").json()
    cost = run_client(client, work)
    after = httpx2.get(f"{work.url}/totals").json()
    requests, tokens = (after[name] - before[name] for name in ("requests", "output_tokens"))
    if requests < work.count:
        raise RuntimeError(f"{client.name} received {requests} of {work.count} answers.")
    return Run(requests, tokens, cost.cpu_s)


def measure_all(
    clients: Sequence[Client], small: Work, large: Work, rounds: int
) -> dict[str, list[tuple[Run, Run]]]:
    """Per client and round, the small run and the large one."""
    found: dict[str, list[tuple[Run, Run]]] = {client.name: [] for client in clients}
    for number in range(rounds):
        shift = number % len(clients)
        order = [*clients[shift:], *clients[:shift]]
        first = {client.name: measure(client, small) for client in order}
        second = {client.name: measure(client, large) for client in reversed(order)}
        for name, pairs in found.items():
            pairs.append((first[name], second[name]))
        print(f"\rround {number + 1} of {rounds}", end="", flush=True)
    print("\r", end="")
    return found


def row(client: str, pairs: Sequence[tuple[Run, Run]]) -> Row:
    """The median over rounds, each with its own start-up removed."""
    rounds = [(large.tokens - small.tokens) / (large.cpu_s - small.cpu_s) for small, large in pairs]
    median = statistics.median(rounds)
    return Row(client, median, min(rounds), max(rounds), 1e6 / median, rounds)
