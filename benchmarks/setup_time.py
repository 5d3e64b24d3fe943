"""From a fresh clone to the page: `make install` with empty caches, then `make run`.

The committed tree is cloned into a temporary folder once per round. `--pip` adds one installation
with pip, as `make` does if uv is not available.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import tempfile
import urllib.request
from pathlib import Path
from statistics import median
from time import monotonic, perf_counter, sleep

from benchmarks.results_file import add_save_option, save
from specviz.machine import hardware_summary
from specviz.paths import PROJECT_ROOT

PAGE_LIMIT_S = 300.0
# Variables of this environment that a fresh shell would not have.
NOT_FRESH = {"PYTHON", "PYTHONPATH", "VIRTUAL_ENV", "MAKEFLAGS", "MAKELEVEL"}


def environment(folder: Path, port: int) -> dict[str, str]:
    """The environment of a fresh shell, with empty caches and its own store and port."""
    kept = {name: value for name, value in os.environ.items() if name not in NOT_FRESH}
    return kept | {
        "UV_CACHE_DIR": str(folder / "uv-cache"),
        "PIP_CACHE_DIR": str(folder / "pip-cache"),
        "SPECVIZ_STORE": str(folder / "runs.duckdb"),
        "SPECVIZ_PORT": str(port),
    }


def clone(folder: Path) -> Path:
    """The committed tree in an empty folder."""
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
    """Seconds of `make install` without uv: the lock asks for a version that does not exist."""
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
    add_save_option(parser, "setup_time")
    options = parser.parse_args()
    print(hardware_summary())
    rounds = [one_round(options.port) for _ in range(options.rounds)]
    for name in rounds[0]:
        values = [one[name] for one in rounds]
        print(f"{name:16} median {median(values):6.1f}  {min(values):.1f} to {max(values):.1f}")
    pip_s = pip_seconds(options.port) if options.pip else None
    if pip_s is not None:
        print(f"pip_install_s    {pip_s:.1f}")
    if options.save:
        save(options.save, {"rounds": rounds, "pip_install_s": pip_s})


if __name__ == "__main__":
    main()
