"""llama.cpp's plain decoding on the demo target, as an arm.

The same weights (every bfloat16 value is a float32 value), the same number of threads, greedy, one
request at a time, from text to token ids. It has a process of its own, and loopback in between.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2

from benchmarks.embedded_speed.arms import Arm
from specviz.config import EngineKind, Prompt
from specviz.engines.embedded.opening import tokenizer_in
from specviz.machine import cpu_count
from specviz.methods import Method
from specviz.servers.kinds import default_spec
from specviz.servers.launch.server import start_server
from specviz.trace import EmittedToken, Fidelity, Origin, Step, Trace

NAME = "llama.cpp, float32"


@contextmanager
def llama_cpp_arm() -> Iterator[Arm]:
    """The arm, while its server runs."""
    plain = default_spec(Method.BASELINE, None, engine=EngineKind.LLAMA_CPP)
    spec = replace(plain, extra_args=("--threads", str(cpu_count()), "--parallel", "1"))
    with TemporaryDirectory() as logs:
        server = start_server(spec, log_dir=Path(logs), on_progress=lambda _: None)
        try:
            with httpx2.Client(base_url=server.url, timeout=60.0) as http:
                yield Arm(
                    NAME, None, lambda prompt, count: answered(http, prompt, count, spec.model)
                )
        finally:
            server.stop()


def answered(http: httpx2.Client, prompt: Prompt, count: int, model: str) -> Trace:
    """The answer by llama.cpp's own route, which has token ids; only the total time is known."""
    began = time.perf_counter()
    body = {
        "prompt": tokenizer_in(Path(model)).encode_chat(prompt.messages),
        "n_predict": count,
        "temperature": 0,
        "cache_prompt": False,
        "return_tokens": True,
    }
    found = http.post("/completion", json=body).raise_for_status().json()
    elapsed_ms = (time.perf_counter() - began) * 1000
    ids: list[int] = found["tokens"]
    emitted = tuple(EmittedToken(i, token, "", Origin.UNKNOWN) for i, token in enumerate(ids))
    step = Step(0, elapsed_ms, (), emitted)
    return Trace(prompt.text, Fidelity.INFERRED, (step,), e2el_ms=elapsed_ms)
