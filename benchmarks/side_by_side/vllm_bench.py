"""`vllm bench serve` as an object: each call is one benchmark by vLLM's own client."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.clients.command_lines import Work, environment, vllm_bench_arguments


class VllmBench:
    """`vllm bench serve` in its own long-lived process. Close when done."""

    def __init__(self, folder: Path) -> None:
        self._result = folder / "vllm.json"
        self._log = (folder / "vllm.log").open("wb")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.side_by_side.vllm_bench_worker"],
            cwd=folder,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        self._expect("ready")

    def ask(self, work: Work, max_tokens: int, warm_ups: int) -> dict[str, Any]:
        """One pass: vLLM's result file (`--save-detailed`), times in seconds.

        Raises RuntimeError if an answer is missing.
        """
        arguments = [
            *vllm_bench_arguments(work),
            *("--custom-output-len", str(max_tokens), "--skip-chat-template"),
            *("--num-warmups", str(warm_ups), "--save-result", "--save-detailed"),
            *("--result-dir", str(self._result.parent), "--result-filename", self._result.name),
        ]
        assert self._process.stdin is not None
        print(json.dumps(arguments), file=self._process.stdin, flush=True)
        self._expect("done")
        result: dict[str, Any] = json.loads(self._result.read_text(encoding="utf-8"))
        if result["completed"] < work.count:
            raise RuntimeError(f"vllm bench serve: {result['completed']} of {work.count} answers.")
        return result

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._log.close()

    def _expect(self, word: str) -> None:
        assert self._process.stdout is not None
        if self._process.stdout.readline().strip() != word:
            log = Path(self._log.name).read_text(errors="replace").splitlines()
            raise RuntimeError("\n".join(["vllm bench serve ended:", *log[-5:]]))
