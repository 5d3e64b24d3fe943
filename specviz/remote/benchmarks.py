"""The benchmarks of a running app, for a command that meets it: see `benchmarks.py`."""

from __future__ import annotations

import time
from typing import Any

import httpx

from specviz.bench.plan import Plan
from specviz.bench.plan_toml import plan_to_toml
from specviz.bench.progress import ArmProgress, BenchPhase, Progress
from specviz.errors import StoreError, UsageError
from specviz.remote.ingest import authorization

TIMEOUT_S = 60.0


class RemoteBoard:
    """The part of a `BenchBoard` that a command needs, in the app at `url`."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")

    def start(self, plan: Plan) -> str:
        """Raises UsageError for a plan the app refuses, StoreError if it cannot be reached."""
        answer = self._call("POST", "", {"plan": plan_to_toml(plan)})
        return str(answer["benchmark_id"])

    def resume(self, benchmark_id: str) -> None:
        """Raises UsageError or StoreError."""
        self._call("POST", f"/{benchmark_id}/resume")

    def cancel(self, benchmark_id: str) -> None:
        self._call("POST", f"/{benchmark_id}/cancel")

    def progress(self, benchmark_id: str) -> Progress | None:
        found = self._call("GET", f"/{benchmark_id}")
        return None if found is None else _progress(found)

    def wait(self, benchmark_id: str, timeout_s: float) -> bool:
        """Wait a moment; True once the benchmark has ended."""
        time.sleep(timeout_s)
        progress = self.progress(benchmark_id)
        return progress is None or progress.phase.is_final

    def document(self, benchmark_id: str) -> dict[str, Any]:
        """What `specviz bench --json` prints."""
        return dict(self._call("GET", f"/{benchmark_id}/results"))

    def _call(self, verb: str, path: str, body: dict[str, Any] | None = None) -> Any:
        try:
            response = httpx.request(
                verb,
                f"{self.url}/api/benchmarks{path}",
                json=body,
                headers=authorization(),
                timeout=TIMEOUT_S,
            )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            reason = str(error) or type(error).__name__
            raise StoreError(
                f"The specviz app at {self.url} does not answer ({reason}): check that "
                "it is running; its benchmark can be resumed."
            ) from error
        if response.status_code == httpx.codes.BAD_REQUEST:
            raise UsageError(response.json()["error"])
        if response.status_code != httpx.codes.OK:
            raise StoreError(f"The specviz app at {self.url} failed: {response.text[:500]}")
        return response.json()


def _progress(data: dict[str, Any]) -> Progress:
    arms = tuple(ArmProgress(**arm) for arm in data["arms"])
    return Progress(**{**data, "phase": BenchPhase(data["phase"]), "arms": arms})
