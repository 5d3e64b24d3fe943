"""CPU cost of load generators: output tokens per CPU second of specviz's client and of others.

A demo server answers a few prompts once; a replay server then sends the recorded streams to every
client, 64 at a time, one engine step every 20 ms, so that only the client differs. CPU seconds are
user + system of the client's process tree. Start-up is removed by running N and 3 N requests: the
figure is the difference in tokens over the difference in CPU seconds. The runs are interleaved
(A B C with N, then C B A with 3 N, per round). Printed: the median and the range over the rounds,
and each client's CPU time per token relative to specviz's.

    specviz client        `TimedServer.sample` in a closed loop
    specviz client uvloop the same on uvloop's event loop
    specviz bench         the whole command: plan, runner, store, results
    vllm bench serve      without a tokenizer (with one it needs more CPU time)
    GuideLLM              in its own environment, created once
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2

from benchmarks.client_cost.guidellm_venv import FOLDER, VERSION, guidellm
from benchmarks.client_cost.recording import record
from benchmarks.client_cost.replay_server import NUMBER
from benchmarks.client_cost.rounds import Row, measure_all, row
from benchmarks.clients.command_lines import (
    Client,
    Work,
    closed_loop,
    guidellm_run,
    specviz_bench,
    vllm_bench_serve,
)
from benchmarks.results_file import add_save_option, save
from specviz.config import Sampling
from specviz.machine import hardware_summary, package_version, vllm_version
from specviz.methods import Method
from specviz.paths import LOGS, PROJECT_ROOT
from specviz.prompts.shipped import CATEGORIES, load_prompts
from specviz.servers.kinds import default_spec
from specviz.servers.launch.pool import ServerPool

PER_CATEGORY = 8
MAX_TOKENS = 128


def record_demo(path: Path) -> None:
    """Send every prompt to a demo server once and keep its streams."""
    prompts = [p for category in CATEGORIES for p in load_prompts(category)[:PER_CATEGORY]]
    pool = ServerPool(LOGS)
    try:
        spec = default_spec(Method.DRAFT_MODEL, 5)
        url = pool.ensure(spec, lambda _: None).url
        found = asyncio.run(record(url, spec.model, prompts, Sampling(max_tokens=MAX_TOKENS)))
    finally:
        pool.close()
    found.save(path)


@contextmanager
def replaying(recording: Path, interval_ms: float) -> Iterator[str]:
    """The replay server in its own process; yields its URL."""
    module = [sys.executable, "-m", "benchmarks.client_cost.replay_server", str(recording)]
    process = subprocess.Popen(
        [*module, "--interval-ms", str(interval_ms)], cwd=PROJECT_ROOT, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def write_prompts(recording: Path, count: int, path: Path) -> None:
    """`count` prompts, all different, in the recorded order."""
    streams = json.loads(recording.read_text(encoding="utf-8"))["streams"]
    texts = (f"{streams[n % len(streams)]['prompt']}{NUMBER}{n}" for n in range(count))
    path.write_text("".join(json.dumps({"prompt": text}) + "\n" for text in texts))


def print_table(rows: Sequence[Row]) -> None:
    print(f"{'client':<24} {'tokens per CPU s':>16} {'range':>19} {'CPU µs/token':>13} {'cost':>7}")
    for one in rows:
        span = f"{one.low:,.0f} to {one.high:,.0f}"
        cost = one.cpu_us_per_token / rows[0].cpu_us_per_token
        print(
            f"{one.client:<24} {one.tokens_per_cpu_s:>16,.0f} {span:>19} "
            f"{one.cpu_us_per_token:>13.1f} {cost:>6.2f}×"
        )


def clients(names: Sequence[str], guidellm_folder: Path) -> list[Client]:
    """The clients named, or all that this machine can run."""
    found = [
        Client("specviz client", closed_loop()),
        Client("specviz client uvloop", closed_loop("--uvloop")),
        Client("specviz bench", specviz_bench),
        Client("vllm bench serve", vllm_bench_serve),
    ]
    wanted = [client for client in found if not names or client.name in names]
    if (not names or "GuideLLM" in names) and (executable := guidellm(guidellm_folder)):
        wanted.append(Client("GuideLLM", guidellm_run(executable)))
    return wanted


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.client_cost",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--requests", type=int, default=1000, help="of the small run")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--streams", type=int, default=64, help="requests at once")
    parser.add_argument("--interval-ms", type=float, default=20.0, help="0: as fast as they read")
    parser.add_argument("--clients", nargs="*", default=[], help="by name; default: all")
    parser.add_argument("--guidellm", type=Path, default=FOLDER, help="its environment")
    add_save_option(parser, "client_cost")
    options = parser.parse_args()

    with TemporaryDirectory() as name:
        folder = Path(name)
        recording = folder / "recording.json"
        record_demo(recording)
        for count in (options.requests, 3 * options.requests):
            write_prompts(recording, count, folder / f"{count}.jsonl")
        with replaying(recording, options.interval_ms) as url:
            model = httpx2.get(f"{url}/v1/models").json()["data"][0]["id"]
            prompts = folder / f"{options.requests}.jsonl"
            small = Work(url, model, prompts, options.requests, options.streams, folder)
            count = 3 * options.requests
            large = replace(small, prompts=folder / f"{count}.jsonl", count=count)
            found = measure_all(
                clients(options.clients, options.guidellm), small, large, options.rounds
            )
    rows = [row(client, pairs) for client, pairs in found.items()]
    print(f"{hardware_summary()}; {options.streams} streams, {options.rounds} rounds of")
    print(
        f"{options.requests} and {3 * options.requests} requests, {options.interval_ms:g} ms/step"
    )
    print_table(rows)
    if options.save:
        about = {
            "versions": {
                "vllm": vllm_version(),
                "guidellm": VERSION,
                "uvloop": package_version("uvloop"),
            },
            "streams": options.streams,
            "interval_ms": options.interval_ms,
            "requests": [options.requests, 3 * options.requests],
        }
        table = [asdict(one) for one in rows]
        save(options.save, {**about, "rows": table}, prompts=PER_CATEGORY * len(CATEGORIES))


if __name__ == "__main__":
    main()
