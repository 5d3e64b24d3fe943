"""Starting and stopping real servers: no orphan, and one sentence when it cannot work."""

from __future__ import annotations

import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx2
import psutil
import pytest

from specviz.config import EngineKind
from specviz.errors import ServerStartFailed
from specviz.methods import Method
from specviz.paths import PROJECT_ROOT
from specviz.servers.launch.launcher import HOST, ServerSpec
from specviz.servers.launch.server import start_server
from specviz.servers.vllm.dialect import LAUNCHER
from tests.support.children import GONE_WITHIN_S, wait_until_gone, whose_environment_has
from tests.support.demo_models import DEMO_DRAFT, DEMO_TARGET

pytestmark = pytest.mark.integration

DRAFT = ServerSpec(LAUNCHER, str(DEMO_TARGET), Method.DRAFT_MODEL, str(DEMO_DRAFT))

START_AND_DIE = """
import os, sys, psutil
from pathlib import Path
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.server import start_server
from specviz.servers.vllm.dialect import LAUNCHER
spec, log_dir = ServerSpec(LAUNCHER, sys.argv[1]), Path(sys.argv[2])
server = start_server(spec, log_dir=log_dir, on_progress=lambda _: None)
tree = [psutil.Process(server.pid), *psutil.Process(server.pid).children(recursive=True)]
print(*(process.pid for process in tree), flush=True)
os.kill(os.getpid(), 9)
"""

START = """
import sys
from pathlib import Path
from specviz.config import EngineKind
from specviz.servers.kinds import LAUNCHERS
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.server import start_server
spec = ServerSpec(LAUNCHERS[EngineKind(sys.argv[3])], sys.argv[1])
print("began", flush=True)
start_server(spec, log_dir=Path(sys.argv[2]), on_progress=lambda _: None)
sys.stdin.read()
"""

SERVE = """
import sys
from pathlib import Path
from specviz.commands.ending import exit_code, leave, watch_signals
from specviz.config import EngineKind
from specviz.servers.kinds import LAUNCHERS
from specviz.servers.launch.foreground import serve
from specviz.servers.launch.launcher import ServerSpec
spec = ServerSpec(LAUNCHERS[EngineKind(sys.argv[3])], sys.argv[1])
watch_signals()
leave(exit_code(lambda _: serve(spec, log_dir=Path(sys.argv[2])), ["serve"]))
"""


def python(code: str, log_dir: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-u", "-c", code, str(DEMO_TARGET), str(log_dir), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=PROJECT_ROOT,
        env={**os.environ, **environment},
    )


def failure(spec: ServerSpec, log_dir: Path) -> str:
    with pytest.raises(ServerStartFailed) as raised:
        start_server(spec, log_dir=log_dir, on_progress=lambda _: None)
    message = str(raised.value)
    assert "\n" not in message and "Traceback" not in message
    return message


@pytest.mark.parametrize(
    ("kind", "processes", "says", "number"),
    [
        # progress is once a second: a stage that takes longer
        pytest.param(
            *(EngineKind.VLLM, 3, "importing vLLM in the engine's process", signal.SIGTERM),
            marks=pytest.mark.slow,
        ),
        (EngineKind.LLAMA_CPP, 1, "starting Python", signal.SIGINT),
    ],
)
def test_serve_prints_its_url_and_stops_cleanly(
    log_dir: Path, kind: EngineKind, processes: int, says: str, number: signal.Signals
) -> None:
    process = python(SERVE, log_dir, kind)
    assert process.stdout and process.stderr
    url_line = process.stdout.readline()
    url = re.match(r"http://127\.0\.0\.1:\d+", url_line)
    assert url, process.stderr.read()
    assert httpx2.get(f"{url[0]}/health").status_code == 200
    tree = [child.pid for child in psutil.Process(process.pid).children(recursive=True)]
    assert len(tree) >= processes
    process.send_signal(number)
    _, progress = process.communicate(timeout=GONE_WITHIN_S)
    assert process.returncode == 128 + number
    assert wait_until_gone(tree) == []
    assert says in progress and "ready" in progress
    assert progress.splitlines()[-1] == "Stopped."


def test_serve_stops_while_it_starts(log_dir: Path) -> None:
    process = python(SERVE, log_dir, EngineKind.LLAMA_CPP, SPECVIZ_STOPPED="1")
    assert process.stderr and "(0 s)" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=GONE_WITHIN_S)
    assert process.returncode == 130 and rest.splitlines()[-1] == "Stopped."
    assert wait_until_gone(whose_environment_has("SPECVIZ_STOPPED")) == []


@pytest.mark.slow
def test_killing_the_parent_leaves_no_process(log_dir: Path) -> None:
    process = python(START_AND_DIE, log_dir)
    out, err = process.communicate(timeout=240.0)
    tree = [int(pid) for pid in out.split()]
    assert process.returncode == -signal.SIGKILL and len(tree) >= 3, err
    assert wait_until_gone(tree) == []


@pytest.mark.parametrize(
    ("kind", "kills", "within_s"),
    [
        (EngineKind.LLAMA_CPP, 2, 0.0),
        pytest.param(EngineKind.LLAMA_CPP, 16, 1.0, marks=pytest.mark.slow),
        pytest.param(EngineKind.VLLM, 4, 15.0, marks=pytest.mark.slow),
    ],
)
def test_a_kill_at_any_moment_of_a_start_leaves_no_process(
    log_dir: Path, kind: EngineKind, kills: int, within_s: float
) -> None:
    """The first at the beginning, the others once there is a server, up to `within_s` later."""
    rng = random.Random(f"20261123 {kind} {kills}")
    for number in range(kills):
        mark = f"SPECVIZ_KILLED_{kind.name}_{number}"
        process = python(START, log_dir, kind, **{mark: "1"})
        assert process.stdout is not None and process.stdout.readline() == "began\n"
        while number and len(whose_environment_has(mark)) < 3:  # who starts it, a guard, a server
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(rng.uniform(0.0, within_s) if number else 0.0)
        process.kill()
        process.communicate()
        assert wait_until_gone(whose_environment_has(mark)) == []
        assert whose_environment_has(mark) == []


def test_cancelling_while_loading_leaves_no_process(log_dir: Path) -> None:
    cancel = threading.Event()
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    started: list[int] = []

    def progress(text: str) -> None:
        started.extend(child.pid for child in psutil.Process().children(recursive=True))
        if set(started) - before:
            cancel.set()

    with pytest.raises(ServerStartFailed, match="cancelled"):
        start_server(DRAFT, log_dir=log_dir, on_progress=progress, cancel=cancel)
    assert wait_until_gone(list(set(started) - before)) == []


def test_a_missing_model_folder_is_named(log_dir: Path) -> None:
    assert "/nowhere/model" in failure(ServerSpec(LAUNCHER, "/nowhere/model"), log_dir)


def test_a_taken_port_is_named(log_dir: Path) -> None:
    with socket.socket() as other:
        other.bind((HOST, 0))
        other.listen()
        port = other.getsockname()[1]
        assert str(port) in failure(ServerSpec(LAUNCHER, str(DEMO_TARGET), port=port), log_dir)


@pytest.mark.slow
def test_an_unknown_flag_is_named(log_dir: Path) -> None:
    spec = ServerSpec(LAUNCHER, str(DEMO_TARGET), extra_args=("--speculative-model", "x"))
    assert "unrecognized arguments: --speculative-model" in failure(spec, log_dir)


def test_a_draft_that_cannot_fit_is_named_before_anything_starts(tmp_path: Path) -> None:
    draft = tmp_path / "draft"
    draft.mkdir()
    for file in DEMO_DRAFT.iterdir():
        text = file.read_bytes()
        if file.name == "config.json":
            text = text.replace(b'"vocab_size": 4096', b'"vocab_size": 4000')
        (draft / file.name).write_bytes(text)
    spec = ServerSpec(LAUNCHER, str(DEMO_TARGET), Method.DRAFT_MODEL, str(draft))
    assert "a draft of 4,000 rows for a target of 4,096" in failure(spec, tmp_path / "logs")
    assert not (tmp_path / "logs").exists()


@pytest.mark.slow
def test_an_engine_that_dies_on_its_first_request_is_a_failed_start(log_dir: Path) -> None:
    config = (
        f'{{"method": "draft_model", "model": "{DEMO_DRAFT}", "num_speculative_tokens": 4, '
        '"rejection_sample_method": "synthetic", "synthetic_acceptance_length": 2.0}'
    )
    spec = ServerSpec(
        LAUNCHER,
        str(DEMO_TARGET),
        Method.DRAFT_MODEL,
        str(DEMO_DRAFT),
        extra_args=("--speculative-config", config),
    )
    assert "Synthetic acceptance not supported" in failure(spec, log_dir)
