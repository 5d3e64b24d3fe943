"""The shape of the tree: which question leads where. The questions are answered in `questions.py`.

Measured speed-up comes first, because it wins. Then the rules of thumb against speculation, then
the three that all must hold for it; after them the documents' choice of a technique.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Speculate(StrEnum):
    ON = "on"
    OFF = "off"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Leaf:
    """Where the tree ends."""

    id: str
    label: str
    speculate: Speculate


@dataclass(frozen=True, slots=True)
class Fork:
    """Where a question leads: ids of the next question or of a leaf.

    `unknown` is where an unanswered one leads; None: the path stops and waits for the answer.
    """

    id: str
    yes: str
    no: str
    unknown: str | None = None


LEAVES: dict[str, Leaf] = {
    leaf.id: leaf
    for leaf in (
        Leaf("off_measured", "Off: slower here", Speculate.OFF),
        Leaf("batch_memory", "Optimise batching", Speculate.OFF),
        Leaf("off_temperature", "Off: too random", Speculate.OFF),
        Leaf("off_concurrency", "Off: too many at once", Speculate.OFF),
        Leaf("off_acceptance", "Off: find a better draft", Speculate.OFF),
        Leaf("batch_gpu", "Optimise batching", Speculate.OFF),
        Leaf("measure_gpu", "No rule: measure", Speculate.UNDECIDED),
        Leaf("measure_short", "No rule: measure", Speculate.UNDECIDED),
        Leaf("measure_fit", "No draft: measure lookup", Speculate.UNDECIDED),
        Leaf("best_measured", "Best measured here", Speculate.ON),
        Leaf("untrained", "Vanilla SD or Prompt Lookup", Speculate.ON),
        Leaf("eagle3", "EAGLE-3", Speculate.ON),
        Leaf("medusa", "Medusa-2", Speculate.ON),
        Leaf("vanilla", "Vanilla SD", Speculate.ON),
    )
}

ROOT = "speedup"
TECHNIQUE = "measured_best"
"""The first question of the second half: which technique."""

GATES: tuple[Fork, ...] = (
    Fork("speedup", TECHNIQUE, "off_measured", "memory_pressure"),
    Fork("memory_pressure", "batch_memory", "temperature", "temperature"),
    Fork("temperature", "off_temperature", "concurrency", "concurrency"),
    Fork("concurrency", "off_concurrency", "acceptance", "acceptance"),
    Fork("acceptance", "off_acceptance", "gpu_busy", "gpu_busy"),
    Fork("gpu_busy", "batch_gpu", "gpu_idle", "gpu_idle"),
    Fork("gpu_idle", "output_tokens", "measure_gpu"),
    Fork("output_tokens", "draft_fits", "measure_short"),
    Fork("draft_fits", TECHNIQUE, "measure_fit"),
)

CHOICES: tuple[Fork, ...] = (
    Fork(TECHNIQUE, "best_measured", "target_swapped", "target_swapped"),
    Fork("target_swapped", "untrained", "spare_memory"),
    Fork("spare_memory", "eagle3", "light_training"),
    Fork("light_training", "medusa", "vanilla"),
)

FORKS: dict[str, Fork] = {fork.id: fork for fork in (*GATES, *CHOICES)}
