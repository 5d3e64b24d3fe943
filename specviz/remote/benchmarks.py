"""The benchmarks of a running app: the client of `/api/benchmarks`."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from specviz.bench.plan.plan import Plan
from specviz.bench.plan.toml import plan_to_toml
from specviz.bench.progress import ArmProgress, BenchPhase, Progress
from specviz.errors import AppUnreachable
from specviz.remote.app import call


@dataclass(frozen=True, slots=True)
class RemoteBoard:
    """The part of a `BenchBoard` that a command needs, in the app at `url`.

    Every method raises UsageError for what the app refuses, StoreError if the app fails and
    AppUnreachable if nothing answers.
    """

    url: str
    secret: str | None = field(default=None, repr=False)

    def start(self, plan: Plan) -> str:
        """The new benchmark's id."""
        return str(self._call("POST", "", json={"plan": plan_to_toml(plan)})["benchmark_id"])

    def resume(self, benchmark_id: str) -> None:
        self._call("POST", f"/{benchmark_id}/resume")

    def cancel(self, benchmark_id: str) -> None:
        self._call("POST", f"/{benchmark_id}/cancel")

    def progress(self, benchmark_id: str) -> Progress | None:
        """None if the app never ran it since it started."""
        found = self._call("GET", f"/{benchmark_id}")
        return None if found is None else _progress(found)

    def wait(self, benchmark_id: str, timeout_s: float) -> bool:
        """Wait `timeout_s`; True once the benchmark has ended."""
        time.sleep(timeout_s)
        progress = self.progress(benchmark_id)
        return progress is None or progress.phase.is_final

    def document(self, benchmark_id: str) -> dict[str, Any]:
        """What `specviz bench --json` prints."""
        return dict(self._call("GET", f"/{benchmark_id}/results"))

    def _call(self, verb: str, path: str, **request: Any) -> Any:
        try:
            return call(self.url, verb, f"/api/benchmarks{path}", secret=self.secret, **request)
        except AppUnreachable as error:
            raise AppUnreachable(f"{error} Its benchmark can be resumed.") from error


def _progress(data: dict[str, Any]) -> Progress:
    arms = tuple(ArmProgress(**arm) for arm in data["arms"])
    return Progress(**{**data, "phase": BenchPhase(data["phase"]), "arms": arms})
