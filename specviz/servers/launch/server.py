"""Starting a server, watching it load, and stopping it without leaving a process behind.

This process holds a pipe to a guard, whose child is the server, which may have children of its own:
see guard.py.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import httpx2
import psutil

from specviz.checkpoints.check import first_refusal
from specviz.errors import ServerStartFailed
from specviz.servers.launch import guard
from specviz.servers.launch.launcher import HOST, ServerSpec

_given_out: set[int] = set()
_choosing = threading.Lock()

START_TIMEOUT_S = 600.0
FIRST_REQUEST_TIMEOUT_S = 120.0
POLL_S = 0.1
PROGRESS_EVERY_S = 1.0
WARM_UP_TOKENS = 16


@dataclass(frozen=True, slots=True)
class Server:
    """A running server that this process started. `pid` is the root of its process tree."""

    spec: ServerSpec
    url: str
    pid: int
    log_path: Path
    process: subprocess.Popen[bytes]
    started_in_s: float = 0.0

    def is_alive(self) -> bool:
        """True while the server's process runs."""
        return self.process.poll() is None

    def failure_reason(self) -> str | None:
        """Why the server ended, in its own words; None while it runs."""
        if self.is_alive():
            return None
        reason = self.spec.launcher.failure_reason(self.log_path)
        return reason or _exit_sentence(self.process.returncode)

    def stop(self) -> None:
        """End the server and all of its children; returns when none is left."""
        children = _children(self.pid)
        if self.process.stdin and not self.process.stdin.closed:
            self.process.stdin.close()  # the guard takes this as its order
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(guard.TERM_WAIT_S + 4.0)
        for survivor in [*children, *_children(self.pid)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                survivor.kill()
        if self.is_alive():
            self.process.kill()
        self.process.wait()


def start_server(
    spec: ServerSpec,
    *,
    log_dir: Path,
    on_progress: Callable[[str], None],
    timeout_s: float = START_TIMEOUT_S,
    cancel: threading.Event | None = None,
    on_launch: Callable[[Path], None] = lambda log: None,
) -> Server:
    """Start a server, wait until it has answered a first request, and return it.

    `on_launch` gets its log, and `on_progress` what it does and for how long, about once a second.
    Raises ServerStartFailed with the server's own reason, or if `cancel` is set; nothing is left
    running.
    """
    _check_models(spec)
    began_s = time.monotonic()
    server = _launch(spec, log_dir)
    on_launch(server.log_path)
    try:
        with httpx2.Client(timeout=FIRST_REQUEST_TIMEOUT_S) as http:
            _wait_until_healthy(server, http, on_progress, began_s, timeout_s, cancel)
            on_progress(f"answering a first request ({time.monotonic() - began_s:.0f} s)")
            _answer_first_request(server, http)
    except BaseException:
        server.stop()
        raise
    started_in_s = time.monotonic() - began_s
    on_progress(f"ready ({started_in_s:.0f} s)")
    return replace(server, started_in_s=started_in_s)


def free_port() -> int:
    """A port of the loopback interface that nobody listens on, another one at every call: a server
    binds its own some seconds later, and the next may be started before that."""
    with _choosing:
        while True:
            with socket.socket() as probe:
                probe.bind((HOST, 0))
                port = int(probe.getsockname()[1])
            if port not in _given_out:
                _given_out.add(port)
                return port


def _check_models(spec: ServerSpec) -> None:
    """Before anything is started: a server takes a missing folder for a Hugging Face name, and
    starts many a broken head without a word.

    Users who write the speculation flags themselves (other vocabularies, for one) know better.
    """
    for name in (spec.model, spec.draft):
        looks_local = name is not None and name.startswith(("/", "./", "../", "~"))
        if name and looks_local and not Path(name).exists():
            raise ServerStartFailed(f"There is no model folder {name}: check the path.")
    own_words = any(word.startswith("--speculative-config") for word in spec.extra_args)
    if (
        spec.draft
        and not own_words
        and (wrong := first_refusal(spec.draft, spec.model, spec.method, spec.launcher.name))
    ):
        raise ServerStartFailed(wrong)


def _launch(spec: ServerSpec, log_dir: Path) -> Server:
    if spec.port:
        _check_port_is_free(spec.port)
    port = spec.port or free_port()
    launcher = spec.launcher
    command = launcher.command(replace(spec, port=port))
    log_dir.mkdir(parents=True, exist_ok=True)
    stamp = time.strftime("%Y%m%d-%H%M%S")
    log_path = log_dir / f"{launcher.name.lower()}-{spec.method.value}-{port}-{stamp}.log"
    with log_path.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-I", guard.__file__, *command],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=launcher.environment(spec),
            start_new_session=True,
        )
    return Server(spec, f"http://{HOST}:{port}", process.pid, log_path, process)


def _check_port_is_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise ServerStartFailed(
                f"Port {port} cannot be used ({error.strerror}): choose another with --port."
            ) from error


def _wait_until_healthy(
    server: Server,
    http: httpx2.Client,
    on_progress: Callable[[str], None],
    began_s: float,
    timeout_s: float,
    cancel: threading.Event | None,
) -> None:
    on_progress(f"{server.spec.launcher.stage('')} (0 s)")
    reported_s = 0.0
    while not _is_healthy(server, http):
        elapsed_s = time.monotonic() - began_s
        if cancel is not None and cancel.is_set():
            raise ServerStartFailed("Starting the server was cancelled.")
        if not server.is_alive():
            raise ServerStartFailed(_failure(server))
        if elapsed_s > timeout_s:
            raise ServerStartFailed(
                f"The server was not ready after {timeout_s:.0f} s; its log is {server.log_path}."
            )
        if elapsed_s - reported_s >= PROGRESS_EVERY_S:
            reported_s = elapsed_s
            log = server.log_path.read_text(errors="replace")
            on_progress(f"{server.spec.launcher.stage(log)} ({elapsed_s:.0f} s)")
        time.sleep(POLL_S)


def _answer_first_request(server: Server, http: httpx2.Client) -> None:
    """Some configurations load and then kill the engine on the first request."""
    try:
        headers = _authorization(server.spec)
        models = http.get(f"{server.url}/v1/models", headers=headers).raise_for_status().json()
        body = {
            "model": models["data"][0]["id"],
            "prompt": "1 2 3 1 2 3 1 2",  # repeats, so that lookups draft something
            "max_tokens": WARM_UP_TOKENS,
            "temperature": 0,
        }
        http.post(f"{server.url}/v1/completions", json=body, headers=headers).raise_for_status()
    except (httpx2.HTTPError, ValueError, LookupError, TypeError) as error:
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.process.wait(5.0)  # a dying engine takes a moment to write its reason
        raise ServerStartFailed(_failure(server, error)) from error


def _failure(server: Server, error: Exception | None = None) -> str:
    launcher = server.spec.launcher
    reason = launcher.failure_reason(server.log_path)
    if reason is None:
        exited = _exit_sentence(server.process.returncode)
        reason = f"{str(error).splitlines()[0]}." if error else exited
    return f"{launcher.name} did not start: {reason} Its log is {server.log_path}."


def _exit_sentence(code: int) -> str:
    if code in (-9, 137):
        return "it was killed, probably for lack of memory."
    return f"it exited with code {code} and gave no reason."


def _is_healthy(server: Server, http: httpx2.Client) -> bool:
    try:
        response = http.get(f"{server.url}{server.spec.launcher.ready_path}", timeout=2.0)
    except httpx2.TransportError:
        return False
    return response.status_code == 200


def _authorization(spec: ServerSpec) -> dict[str, str]:
    """The header for the key that the server was given, by a flag or its environment."""
    key = os.environ.get(spec.launcher.api_key_variable)
    flags = list(spec.extra_args)
    for index, flag in enumerate(flags):
        name, _, value = flag.partition("=")
        if name == "--api-key":
            key = value or next(iter(flags[index + 1 :]), None)
            break
    return {"Authorization": f"Bearer {key}"} if key else {}


def _children(pid: int) -> list[psutil.Process]:
    try:
        children: list[psutil.Process] = psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    return children
