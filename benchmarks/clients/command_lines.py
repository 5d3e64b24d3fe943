"""Load generators as command lines: the same prompts at the same concurrency."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from specviz.paths import PROJECT_ROOT

CHAT = "/v1/chat/completions"

# The `vllm` command looks for a package of that name, which vLLM's CPU build does not have.
VLLM_BENCH_SERVE = """
from vllm.benchmarks.serve import add_cli_args, main
from vllm.utils.argparse_utils import FlexibleArgumentParser
parser = FlexibleArgumentParser()
add_cli_args(parser)
main(parser.parse_args())
"""


@dataclass(frozen=True)
class Work:
    """The work of a client. `prompts`: a file with one JSON object with `prompt` per line.
    `folder`: its working directory."""

    url: str
    model: str
    prompts: Path
    count: int
    concurrency: int
    folder: Path


@dataclass(frozen=True)
class Client:
    name: str
    command: Callable[[Work], list[str]]


@dataclass(frozen=True)
class Cost:
    """CPU and wall time of a client's process tree, start-up included."""

    cpu_s: float
    wall_s: float


def run_client(client: Client, work: Work) -> Cost:
    """Run it to its end. Raises RuntimeError with the end of its log if it fails."""
    log = work.folder / "client.log"
    began_s = time.perf_counter()
    with log.open("wb") as out:
        process = subprocess.Popen(
            client.command(work), cwd=work.folder, env=environment(), stdout=out, stderr=out
        )
        _, status, used = os.wait4(process.pid, 0)  # its children that it waited for included
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-5:])
        raise RuntimeError(f"{client.name} ended with {process.returncode}:\n{tail}")
    return Cost(used.ru_utime + used.ru_stime, time.perf_counter() - began_s)


def environment() -> dict[str, str]:
    """This process's environment, with what a client in another folder needs."""
    offline = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
    return {**os.environ, **offline, "PYTHONPATH": str(PROJECT_ROOT)}


def closed_loop(*extra: str) -> Callable[[Work], list[str]]:
    """specviz's client in a minimal loop (`benchmarks.clients.closed_loop`)."""

    def command(work: Work) -> list[str]:
        module = [sys.executable, "-m", "benchmarks.clients.closed_loop"]
        load = [work.url, str(work.prompts), "--concurrency", str(work.concurrency)]
        return [*module, *load, *extra]

    return command


def specviz_bench(work: Work) -> list[str]:
    """The whole `specviz bench`: plan, runner, store, results."""
    plan = work.folder / "plan.toml"
    plan.write_text(
        f'name = "client cost"\nconcurrency = [{work.concurrency}]\nwarmup = 0\nmax_tokens = 128\n'
        f'[prompts]\nfile = "{work.prompts}"\nformat = "specviz"\n'
        f'[[arms]]\nengine = "vllm"\nserver_url = "{work.url}"\n'
    )
    store = work.folder / "bench.duckdb"
    for file in work.folder.glob("bench.duckdb*"):
        file.unlink()
    return [sys.executable, "-m", "specviz", "bench", str(plan), "--db", str(store)]


def vllm_bench_serve(work: Work) -> list[str]:
    """`vllm bench serve` without a tokenizer; with one it needs more CPU time."""
    arguments = vllm_bench_arguments(work)
    return [sys.executable, "-c", VLLM_BENCH_SERVE, *arguments, "--skip-tokenizer-init"]


def vllm_bench_arguments(work: Work) -> list[str]:
    """Its options: the chat endpoint, greedy, prompts in their order."""
    return [
        *("--backend", "openai-chat", "--base-url", work.url, "--endpoint", CHAT),
        *("--model", work.model, "--dataset-name", "custom"),
        *("--dataset-path", str(work.prompts), "--disable-shuffle"),
        *("--num-prompts", str(work.count), "--max-concurrency", str(work.concurrency)),
        *("--temperature", "0", "--disable-tqdm"),
    ]


def guidellm_run(executable: Path) -> Callable[[Work], list[str]]:
    """GuideLLM with a fixed number of streams."""

    def command(work: Work) -> list[str]:
        backend = f"kind=openai_http,target={work.url},model={work.model},request_format={CHAT}"
        return [
            *(str(executable), "run", "--backend", backend),
            *("--profile", f"kind=concurrent,streams={work.concurrency}"),
            *("--constraint", f"kind=max_requests,count={work.count}"),
            *("--data", f"kind=json_file,path={work.prompts}", "--disable-console"),
        ]

    return command
