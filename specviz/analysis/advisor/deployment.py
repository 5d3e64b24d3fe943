"""What is known about a deployment before deciding, and where each value comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from specviz.analysis.advisor.evidence import TYPED, Evidence
from specviz.analysis.advisor.inputs import INPUTS, Answer
from specviz.analysis.advisor.measured import Measured


@dataclass(frozen=True, slots=True)
class Deployment:
    """What was entered or read; None: not known. Units as in `inputs.INPUTS`.

    `sources` says where values that were read come from; all others were entered by the user.
    `measured` are the figures of a benchmark. Raises UsageError for a value out of its range.
    """

    temperature: float | None = None
    concurrency: int | None = None
    output_tokens: float | None = None
    gpu_utilization: float | None = None
    memory_pressure: bool | None = None
    draft_fits: bool | None = None
    target_swapped: bool | None = None
    spare_memory_gb: float | None = None
    light_training: bool | None = None
    slo: str | None = None
    slo_tpot_ms: float | None = None
    text: str | None = None
    acceptance: float | None = None
    speedup: float | None = None
    measured: Measured | None = None
    sources: Mapping[str, Evidence] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, value in self.answers.items():
            INPUTS[name].check(value)

    @property
    def answers(self) -> dict[str, Answer]:
        """What is known, by the names of `INPUTS`."""
        every = {name: getattr(self, name) for name in INPUTS}
        return {name: value for name, value in every.items() if value is not None}

    def source(self, name: str) -> Evidence:
        """What the value of `name` rests on."""
        return self.sources.get(name, TYPED)


@dataclass(frozen=True, slots=True)
class KnownFacts:
    """What a benchmark, a server or two model folders show; `notes`: what they do not."""

    answers: Mapping[str, Answer]
    sources: Mapping[str, Evidence]
    measured: Measured | None = None
    notes: tuple[str, ...] = ()


def deployment_of(entered: Mapping[str, Answer], *facts: KnownFacts) -> Deployment:
    """One deployment: what was entered goes before what was read, earlier facts before later ones.

    Raises UsageError for a value out of its range.
    """
    answers: dict[str, Any] = {}
    sources: dict[str, Evidence] = {}
    for one in facts:
        for name, value in one.answers.items():
            if name not in answers:
                answers[name], sources[name] = value, one.sources[name]
    sources = {name: source for name, source in sources.items() if name not in entered}
    measured = next((one.measured for one in facts if one.measured is not None), None)
    return Deployment(**{**answers, **entered}, measured=measured, sources=sources)


assert set(INPUTS) <= {one.name for one in fields(Deployment)}
