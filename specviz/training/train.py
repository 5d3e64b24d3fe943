"""Training the demo family: tokenizer, target, the draft distilled from it, heads on its states.

The draft is first trained briefly, so that a pair of models exists early; the target learns the
corpus; then the draft and the heads are distilled from it on fresh text. Distilling on the target's
own answers was tried: writing enough of them takes longer than the training, and a few hundred are
memorised. Every phase resumes after a kill.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from specviz.errors import UsageError
from specviz.training import record
from specviz.training.card import write_card
from specviz.training.corpus import training_documents
from specviz.training.family import (
    DRAFT_NAME,
    TARGET_NAME,
    draft_config,
    export_model,
    new_model,
    target_config,
)
from specviz.training.fit import Loss, Outcome, Phase, fit
from specviz.training.heads.train import TRAININGS, open_shop, train_head
from specviz.training.losses import distillation_loss, next_token_loss
from specviz.training.measure import measure_family
from specviz.training.record import DRAFT_FURTHER, TARGET_FURTHER
from specviz.training.stream.batches import Batch
from specviz.training.stream.writers import stream_batches, writers
from specviz.training.tokenizer import chat_prompt, train_tokenizer

TOKENIZER_DOCUMENTS = 30_000
# Of a batch; a document has 75 tokens.
DOCUMENTS = {"cpu": 60, "cuda": 256}
# The parts that can be trained alone: target and draft together, and each head on a trained target.
PAIR = "pair"
PARTS = (PAIR, *TRAININGS)


@dataclass(frozen=True)
class Minutes:
    """How long each part trains."""

    draft_start: float = 1.5
    target: float = 45.0
    draft: float = 21.0
    heads: dict[str, float] = field(
        default_factory=lambda: {"eagle3": 28.0, "medusa": 9.0, "eagle": 9.0}
    )

    def with_heads(self, scale: float) -> Minutes:
        """The heads' times multiplied: a GPU reads in a minute what a CPU reads in an hour."""
        return replace(self, heads={name: scale * time for name, time in self.heads.items()})


@dataclass(frozen=True)
class Workshop:
    """Where and how a training run reads and writes."""

    out: Path
    scratch: Path
    device: str
    seed: int
    tokenizer: PreTrainedTokenizerFast
    progress: Callable[[str], None]

    def stream(self, start: int) -> Iterator[Batch]:
        return stream_batches(
            self.tokenizer,
            seed=self.seed,
            start=start,
            documents=DOCUMENTS[self.device],
            processes=writers(self.device),
        )


def train_family(
    out: Path,
    *,
    device: str,
    minutes: Minutes,
    seed: int,
    progress: Callable[[str], None],
    parts: Collection[str] = PARTS,
    resume: bool = True,
    further: bool = False,
    scratch: Path = Path(".train"),
) -> list[Outcome]:
    """Train `parts` into folders of `out`; returns the outcome of every phase.

    `further`: target and draft go on from what they are in `out`, with text they have not read.

    Checkpoints go to `scratch`; with `resume` a killed run continues from them. The number of steps
    follows from the minutes and the measured speed, so it differs between machines. The record is
    `out`/training.json, from which `out`/README.md is written; parts that are left out keep their
    entries. Raises UsageError for an unknown part or device, for a head without a target, and where
    there is nothing to train further or it was begun with another seed.
    """
    check_parts(out, parts)
    if further:
        check_further(out, seed)
    check_device(device)
    scratch.mkdir(parents=True, exist_ok=True)
    if not resume:
        forget(scratch, parts)
    outcomes: list[Outcome] = []
    if PAIR in parts and further:
        tokenizer = PreTrainedTokenizerFast.from_pretrained(out / TARGET_NAME)
        pair = Workshop(out, scratch, device, seed, tokenizer, progress)
        outcomes += train_pair_further(pair, minutes)
        record.go_on(out, outcomes)
        for outcome in outcomes:
            checkpoint(scratch, outcome.name).unlink()  # it is in the record: not once more
    elif PAIR in parts:
        tokenizer = new_tokenizer(seed, progress)
        outcomes += train_pair(Workshop(out, scratch, device, seed, tokenizer, progress), minutes)
        record.begin(out, seed=seed, device=device_name(device), outcomes=outcomes)
    heads = [name for name in TRAININGS if name in parts]
    for name in heads:
        shop = open_shop(out, scratch=scratch, device=device, seed=seed, progress=progress)
        learnt = train_head(shop, name, minutes.heads[name], start=record.next_document(out))
        record.add_outcomes(out, learnt)
        outcomes += learnt
    progress("evaluation: acceptance on the held-out prompts")
    measure_family(out, draft=PAIR in parts, heads=heads)
    write_card(out)
    return outcomes


def check_parts(out: Path, parts: Collection[str]) -> None:
    """Raises UsageError if `parts` cannot be trained into `out`."""
    if unknown := sorted(set(parts) - set(PARTS)):
        raise UsageError(f"There is no part {unknown[0]!r} of the family: use {', '.join(PARTS)}.")
    if PAIR not in parts and not (out / record.RECORD_NAME).exists():
        raise UsageError(f"A head needs a trained target, and {out} has none: train {PAIR} first.")


def check_further(out: Path, seed: int) -> None:
    """Raises UsageError if the pair in `out` cannot go on with the text of `seed`."""
    if not (out / record.RECORD_NAME).exists():
        raise UsageError(f"There is nothing to train further in {out}: train without --further.")
    known = record.read(out)["seed"]
    if known != seed:
        raise UsageError(f"The models in {out} have read text of seed {known}: use --seed {known}.")


def check_device(device: str) -> None:
    """Raises UsageError for a device that is not here."""
    if device not in DOCUMENTS or (device == "cuda" and not torch.cuda.is_available()):
        raise UsageError(
            f"There is no device {device!r} to train on here: use cpu, or cuda with a GPU."
        )


def device_name(device: str) -> str:
    """For the record: of a GPU its model too."""
    return f"cuda ({torch.cuda.get_device_name()})" if device == "cuda" else device


def forget(scratch: Path, parts: Collection[str]) -> None:
    """Delete the checkpoints of `parts`; for the pair all, because the heads depend on it."""
    for checkpoint in scratch.glob("*.pt"):
        if PAIR in parts or any(checkpoint.stem.split("-")[0] == part for part in parts):
            checkpoint.unlink()


def new_tokenizer(seed: int, progress: Callable[[str], None]) -> PreTrainedTokenizerFast:
    """The vocabulary of the corpus."""
    progress("tokenizer: learning the vocabulary")
    documents = islice(training_documents(seed), TOKENIZER_DOCUMENTS)
    return train_tokenizer(chat_prompt(d.prompt) + d.answer for d in documents)


def train_pair(shop: Workshop, minutes: Minutes) -> list[Outcome]:
    """Target and draft from the beginning."""
    target = new_model(target_config(), shop.seed).to(shop.device)
    draft = new_model(draft_config(), shop.seed + 1).to(shop.device)
    start = Phase("draft-start", minutes.draft_start, muon_lr=4e-3, adam_lr=4e-3)
    teach = _teach("target", minutes)
    distil = _distil("draft-corpus", minutes)

    outcomes = [
        _run(shop, draft, DRAFT_NAME, start, next_token_loss(draft, shop.device), shop.stream)
    ]
    if not (shop.out / TARGET_NAME / "model.safetensors").exists():
        export_model(target, shop.tokenizer, shop.out / TARGET_NAME)
    outcomes.append(
        _run(shop, target, TARGET_NAME, teach, next_token_loss(target, shop.device), shop.stream)
    )
    outcomes.append(_distilled(shop, draft, target, distil, outcomes[-1].next_document))
    return outcomes


def train_pair_further(shop: Workshop, minutes: Minutes) -> list[Outcome]:
    """Target and draft that are there, on text that neither has read."""
    target, draft = (
        LlamaForCausalLM.from_pretrained(shop.out / name, dtype=torch.float32).to(shop.device)
        for name in (TARGET_NAME, DRAFT_NAME)
    )
    fresh = record.next_document(shop.out)
    loss = next_token_loss(target, shop.device)
    teach, distil = _teach(TARGET_FURTHER, minutes), _distil(DRAFT_FURTHER, minutes)
    learnt = _run(shop, target, TARGET_NAME, teach, loss, lambda at: shop.stream(max(at, fresh)))
    return [learnt, _distilled(shop, draft, target, distil, learnt.next_document)]


def _teach(name: str, minutes: Minutes) -> Phase:
    return Phase(name, minutes.target, muon_lr=4e-3, adam_lr=3e-3)


def _distil(name: str, minutes: Minutes) -> Phase:
    return Phase(name, minutes.draft, muon_lr=4e-3, adam_lr=4e-3)


def _distilled(
    shop: Workshop, draft: LlamaForCausalLM, target: LlamaForCausalLM, phase: Phase, fresh: int
) -> Outcome:
    """The draft, taught by the target on text from document `fresh` on."""
    target.eval().requires_grad_(False)
    loss = distillation_loss(draft, target, shop.device)
    return _run(shop, draft, DRAFT_NAME, phase, loss, lambda at: shop.stream(max(at, fresh)))


def checkpoint(scratch: Path, phase: str) -> Path:
    """Where a phase of the pair keeps its progress."""
    return scratch / f"{phase}.pt"


def _run(
    shop: Workshop,
    model: LlamaForCausalLM,
    name: str,
    phase: Phase,
    loss: Loss,
    batches: Callable[[int], Iterator[Batch]],
) -> Outcome:
    """One phase, with the model exported at every checkpoint."""
    return fit(
        model,
        phase,
        batches,
        loss,
        checkpoint=checkpoint(shop.scratch, phase.name),
        progress=shop.progress,
        snapshot=lambda: export_model(model, shop.tokenizer, shop.out / name),
    )
