"""Rows of the benchmark tables as frozen data."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from specviz.config import Prompt, RunStatus
from specviz.sample import Sample


@dataclass(frozen=True, slots=True)
class BenchmarkRow:
    """One benchmark. `finished` of `planned` requests are stored."""

    benchmark_id: str
    name: str
    status: RunStatus
    started_at: datetime
    finished_at: datetime | None
    error: str | None
    plan_toml: str
    planned: int
    finished: int
    servers_at_once: int
    hardware: str | None
    git_revision: str | None
    specviz_version: str
    note: str | None = None
    tags: tuple[str, ...] = ()
    deleted_at: datetime | None = None
    imported_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ArmRow:
    """One arm as its engine last opened; see the columns of `benchmark_arms`."""

    arm_index: int
    name: str
    engine: str
    method: str | None
    k: int | None
    model: str | None
    draft: str | None
    server_url: str | None
    server_version: str | None
    prefix_caching: bool | None
    start_s: float | None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class RoundRow:
    """One arm's pass over the prompts; see the columns of `rounds`."""

    round_id: str
    run_id: str
    arm_index: int
    server_group: int
    repetition: int
    complete: bool = False
    server_drafts: int | None = None
    server_draft_tokens: int | None = None
    server_accepted_tokens: int | None = None
    memory_bytes: int | None = None
    memory_source: str | None = None
    gpu_utilization: float | None = None


@dataclass(frozen=True, slots=True)
class SampleRow:
    """One request of a round. `sample` is None and `error` says why where it failed.

    `block`, `sent_ms`, `queue_ms`, `phase`: see the columns of `samples`; `temperature`: its
    `request_temperature`.
    """

    run_id: str
    round_id: str
    prompt_index: int
    turn: int
    prompt: Prompt
    started_at: datetime
    block: str
    sent_ms: float
    queue_ms: float
    sample: Sample | None
    error: str | None = None
    set_aside: str | None = None
    """Why it is in no figure although it finished."""
    phase: int | None = None
    temperature: float | None = None


@dataclass(frozen=True, slots=True)
class BlockRow:
    """One block, and what else used the machine meanwhile; see the columns of `blocks`."""

    block: str
    run_id: str
    round_id: str
    watched: str
    wall_s: float
    others_share: float | None = None
    steal_share: float | None = None
    throttled_share: float | None = None
    gpu_others_share: float | None = None
    is_disturbed: bool = False
    repeats: str | None = None
    phase_ms: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class DisturbedRow:
    """A disturbed block that was not measured again: its finished requests by prompt and turn, and
    what others took of the machine."""

    block: str
    round_id: str
    requests: tuple[tuple[int, int], ...]
    taken_share: float


@dataclass(frozen=True, slots=True)
class DoneRequest:
    """A finished request as resuming needs it."""

    round_id: str
    prompt_index: int
    turn: int
    answer: str
