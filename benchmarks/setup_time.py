"""From a fresh clone to the page: seconds of `make install` with an empty cache and of `make run`.

What is committed is cloned into a temporary folder, once per round; uv's and pip's caches are empty
each time. `--pip` adds one installation by pip, which is what make does where uv cannot be had.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import tempfile
import urllib.request
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import monotonic, perf_counter, sleep

from specviz.machine import git_revision, hardware_summary
from specviz.paths import PROJECT_ROOT

RESULTS = PROJECT_ROOT / "benchmarks" / "results" / "setup.json"
PAGE_LIMIT_S = 300.0
# Of the environment that this runs in, and not of a fresh shell.
NOT_FRESH = {"PYTHON", "PYTHONPATH", "VIRTUAL_ENV", "MAKEFLAGS", "MAKELEVEL"}


def environment(folder: Path, port: int) -> dict[str, str]:
    """That of a fresh shell, with empty caches, a store and a port of its own."""
    kept = {name: value for name, value in os.environ.items() if name not in NOT_FRESH}
    return kept | {
        "UV_CACHE_DIR": str(folder / "uv-cache"),
        "PIP_CACHE_DIR": str(folder / "pip-cache"),
        "SPECVIZ_STORE": str(folder / "runs.duckdb"),
        "SPECVIZ_PORT": str(port),
    }


def clone(folder: Path) -> Path:
    """What is committed, in a folder that has nothing else."""
    subprocess.run(["git", "clone", "--quiet", PROJECT_ROOT, folder / "clone"], check=True)
    return folder / "clone"


def install_seconds(checkout: Path, env: dict[str, str]) -> float:
    """Seconds of `make install`; CalledProcessError if it fails."""
    began = perf_counter()
    subprocess.run(["make", "install"], cwd=checkout, env=env, check=True)
    return perf_counter() - began


def page_seconds(checkout: Path, env: dict[str, str], port: int) -> float:
    """Seconds from `make run` until the page and the health check answer."""
    began = perf_counter()
    app = subprocess.Popen(["make", "run"], cwd=checkout, env=env, start_new_session=True)
    try:
        wait_for(f"http://127.0.0.1:{port}", app)
        return perf_counter() - began
    finally:
        os.killpg(app.pid, signal.SIGTERM)
        app.wait(30)


def wait_for(url: str, app: subprocess.Popen[bytes]) -> None:
    """Until both addresses answer with 200; RuntimeError if the app ends or takes too long."""
    deadline = monotonic() + PAGE_LIMIT_S
    while app.poll() is None and monotonic() < deadline:
        try:
            for address in (f"{url}/_stcore/health", f"{url}/"):
                urllib.request.urlopen(address, timeout=5).close()
            return
        except OSError:
            sleep(0.1)
    raise RuntimeError("the app did not answer")


def one_round(port: int) -> dict[str, float]:
    """A fresh clone with empty caches, to the page."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        env = environment(folder, port)
        checkout = clone(folder)
        load = os.getloadavg()[0]
        install = install_seconds(checkout, env)
        page = page_seconds(checkout, env, port)
    return {
        "install_s": install,
        "run_s": page,
        "clone_to_page_s": install + page,
        "load_before": load,
    }


def pip_seconds(port: int) -> float:
    """Seconds of `make install` where uv cannot be had: no version is what the lock asks for."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        checkout = clone(folder)
        lock = checkout / "requirements" / "app.lock"
        lines = lock.read_text().splitlines()
        kept = ["uv==0.0.0" if line.startswith("uv==") else line for line in lines]
        lock.write_text("\n".join(kept) + "\n")
        return install_seconds(checkout, environment(folder, port))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--port", type=int, default=8599)
    parser.add_argument("--pip", action="store_true", help="install once with pip as well")
    options = parser.parse_args()
    rounds = [one_round(options.port) for _ in range(options.rounds)]
    result = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "git_revision": git_revision(),
        "hardware": hardware_summary(),
        "commands": ["make install", f"SPECVIZ_PORT={options.port} make run"],
        "median": {name: round(median(r[name] for r in rounds), 1) for name in rounds[0]},
        "pip_install_s": round(pip_seconds(options.port), 1) if options.pip else None,
        "rounds": rounds,
    }
    RESULTS.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
