"""Everything that is known before deciding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from specviz.analysis.advisor.evidence import TOLD, Evidence
from specviz.analysis.advisor.inputs import INPUTS, Answer
from specviz.analysis.advisor.measured import Measured


@dataclass(frozen=True, slots=True)
class Situation:
    """What was told or read; None: not known. Units as in `inputs.INPUTS`.

    `sources` names where values that were read are from; all others were told. `measured` are the
    figures of a benchmark. Raises UsageError for a value out of its range.
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
        told = {name: getattr(self, name) for name in INPUTS}
        return {name: value for name, value in told.items() if value is not None}

    def source(self, name: str) -> Evidence:
        """What the value of `name` rests on."""
        return self.sources.get(name, TOLD)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a benchmark, a server or a pair of folders tells, and what it cannot tell."""

    answers: Mapping[str, Answer]
    sources: Mapping[str, Evidence]
    measured: Measured | None = None
    notes: tuple[str, ...] = ()


def situation_of(told: Mapping[str, Answer], *facts: Facts) -> Situation:
    """One situation: what was told goes before what was read, earlier facts before later ones.

    Raises UsageError for a value out of its range.
    """
    answers: dict[str, Any] = {}
    sources: dict[str, Evidence] = {}
    for one in facts:
        for name, value in one.answers.items():
            if name not in answers:
                answers[name], sources[name] = value, one.sources[name]
    sources = {name: source for name, source in sources.items() if name not in told}
    measured = next((one.measured for one in facts if one.measured is not None), None)
    return Situation(**{**answers, **told}, measured=measured, sources=sources)


assert set(INPUTS) <= {one.name for one in fields(Situation)}
