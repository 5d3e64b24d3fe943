"""training.json: the outcome of every training phase, and the measurements after it.

The model card is written from it alone, so a head can be trained later and the rest stays valid.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from specviz.training.evaluate import Acceptance
from specviz.training.fit import Outcome
from specviz.training.judging.tally import Tally

RECORD_NAME = "training.json"
# The phases of target and draft; the heads' training text begins where theirs ends.
TARGET_FURTHER, DRAFT_FURTHER = "target-further", "draft-further"
PAIR_PHASES = ("draft-start", "target", "draft-corpus", TARGET_FURTHER, DRAFT_FURTHER)

Record = dict[str, Any]


def read(models: Path) -> Record:
    """The record in `models`."""
    record: Record = json.loads((models / RECORD_NAME).read_text(encoding="utf-8"))
    return record


def begin(models: Path, *, seed: int, device: str, outcomes: Sequence[Outcome]) -> None:
    """Start the record of a new pair; entries of the old pair and of its heads are dropped.

    What the old target's answers were worth stays, to be shown next to the new one's.
    """
    old = read(models) if (models / RECORD_NAME).exists() else {}
    _write(
        models,
        {
            "seed": seed,
            "device": device,
            "threads": torch.get_num_threads(),
            "phases": [asdict(outcome) for outcome in outcomes],
            "answers_before": old.get("answers") or old.get("answers_before", []),
            "acceptance": {},
        },
    )


def go_on(models: Path, outcomes: Sequence[Outcome]) -> None:
    """Phases that took the pair further: steps, tokens and seconds add up, the last loss counts.

    What drafters were accepted of the target before is dropped; what its answers were worth stays,
    to be shown next to the new one's.
    """
    old = read(models)
    phases = {phase["name"]: phase for phase in old["phases"]}
    for outcome in outcomes:
        before, more = phases.get(outcome.name), asdict(outcome)
        if before is not None:
            more |= {name: before[name] + more[name] for name in ("steps", "tokens", "seconds")}
        phases[outcome.name] = more
    worth = old.get("answers") or old.get("answers_before", [])
    kept = {name: value for name, value in old.items() if name != "answers"}
    again = {"phases": [*phases.values()], "answers_before": worth, "acceptance": {}}
    _write(models, kept | again)


def add_outcomes(models: Path, outcomes: Sequence[Outcome]) -> None:
    """The outcomes of a head's phases; they replace those of an earlier training."""
    record = read(models)
    names = {outcome.name for outcome in outcomes}
    kept = [phase for phase in record["phases"] if phase["name"] not in names]
    _write(models, record | {"phases": [*kept, *map(asdict, outcomes)]})


def add_acceptance(models: Path, name: str, results: dict[int, list[Acceptance]]) -> None:
    """The measured acceptance of the drafter in folder `name`, by K."""
    record = read(models)
    measured = {str(k): [asdict(result) for result in of_k] for k, of_k in results.items()}
    acceptance = record.get("acceptance", {}) | {name: measured}
    _write(models, record | {"acceptance": acceptance})


def add_answers(models: Path, found: Sequence[Tally]) -> None:
    """How many of the target's answers pass the rules."""
    _write(models, read(models) | {"answers": [asdict(tally) for tally in found]})


def answers(record: Record, *, before: bool = False) -> list[Tally]:
    """What `add_answers` has written, or that of the target `before`; nothing if not measured."""
    return [Tally(**tally) for tally in record.get("answers_before" if before else "answers", [])]


def acceptance(record: Record, k: int) -> dict[str, list[Acceptance]]:
    """By drafter, the categories' results and the overall one at `k`."""
    return {
        name: [Acceptance(**result) for result in by_k[str(k)]]
        for name, by_k in record.get("acceptance", {}).items()
        if str(k) in by_k
    }


def next_document(models: Path) -> int:
    """The first document that neither target nor draft has read."""
    phases = read(models)["phases"]
    return max(int(p["next_document"]) for p in phases if p["name"] in PAIR_PHASES)


def _write(models: Path, record: Record) -> None:
    (models / RECORD_NAME).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
