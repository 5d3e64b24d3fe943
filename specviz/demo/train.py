"""Training the demo family: tokenizer, target, and the draft that is distilled from it.

The draft first learns to read (a minute or two, so that a pair of models exists early); the target
learns the corpus; then the draft is distilled from it on fresh text. Distilling on the target's own
answers was tried: writing enough of them takes longer than the training, and on a few hundred the
draft learns them by heart. Every phase continues after a kill.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from specviz.demo.batches import Batch, stream_batches
from specviz.demo.card import write_card
from specviz.demo.corpus import training_documents
from specviz.demo.evaluate import EVALUATED_K, evaluate_folder
from specviz.demo.family import (
    DRAFT_NAME,
    RECORD_NAME,
    TARGET_NAME,
    draft_config,
    export_model,
    new_model,
    target_config,
)
from specviz.demo.fit import Loss, Outcome, Phase, fit
from specviz.demo.losses import distillation_loss, next_token_loss
from specviz.demo.tokenizer import chat_prompt, train_tokenizer

TOKENIZER_DOCUMENTS = 30_000
ROWS = 6
DRAFT_START_MINUTES = 1.5


@dataclass(frozen=True)
class Workshop:
    """Where a training run reads and writes, and how."""

    out: Path
    scratch: Path
    device: str
    seed: int
    tokenizer: PreTrainedTokenizerFast
    progress: Callable[[str], None]

    def stream(self, start: int) -> Iterator[Batch]:
        return stream_batches(self.tokenizer, seed=self.seed, start=start, rows=ROWS)


def train_family(
    out: Path,
    *,
    device: str,
    target_minutes: float,
    draft_minutes: float,
    seed: int,
    progress: Callable[[str], None],
    resume: bool = True,
    scratch: Path = Path(".train"),
) -> list[Outcome]:
    """Train both models into `out`/demo-target and `out`/demo-draft; what every phase did.

    Checkpoints go to `scratch`; with `resume` a run that was killed continues there. Steps follow
    from the minutes and the measured speed, so another machine trains for another number of steps.
    The record of the run is `out`/training.json.
    """
    if not resume:
        for old in scratch.glob("*.pt"):
            old.unlink()
    scratch.mkdir(parents=True, exist_ok=True)
    progress("tokenizer: learning the vocabulary")
    documents = islice(training_documents(seed), TOKENIZER_DOCUMENTS)
    tokenizer = train_tokenizer(chat_prompt(d.prompt) + d.answer for d in documents)
    shop = Workshop(out, scratch, device, seed, tokenizer, progress)

    target = new_model(target_config(), seed).to(device)
    draft = new_model(draft_config(), seed + 1).to(device)
    start = Phase("draft-start", DRAFT_START_MINUTES, muon_lr=4e-3, adam_lr=4e-3)
    teach = Phase("target", target_minutes, muon_lr=4e-3, adam_lr=3e-3)
    distil = Phase("draft-corpus", draft_minutes, muon_lr=4e-3, adam_lr=4e-3)

    outcomes = [_run(shop, draft, DRAFT_NAME, start, next_token_loss(draft, device), shop.stream)]
    if not (out / TARGET_NAME / "model.safetensors").exists():
        export_model(target, tokenizer, out / TARGET_NAME)
    outcomes.append(
        _run(shop, target, TARGET_NAME, teach, next_token_loss(target, device), shop.stream)
    )
    target.eval().requires_grad_(False)
    fresh = outcomes[-1].next_document
    loss = distillation_loss(draft, target, device)
    outcomes.append(
        _run(shop, draft, DRAFT_NAME, distil, loss, lambda at: shop.stream(max(at, fresh)))
    )
    _record(shop, outcomes)
    progress("evaluation: acceptance on the held-out prompts")
    write_card(out, evaluate_folder(out), k=EVALUATED_K)
    return outcomes


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
        checkpoint=shop.scratch / f"{phase.name}.pt",
        progress=shop.progress,
        snapshot=lambda: export_model(model, shop.tokenizer, shop.out / name),
    )


def _record(shop: Workshop, outcomes: list[Outcome]) -> None:
    """What the model card is written from."""
    record = {
        "seed": shop.seed,
        "device": shop.device,
        "threads": torch.get_num_threads(),
        "phases": [asdict(outcome) for outcome in outcomes],
    }
    (shop.out / RECORD_NAME).write_text(json.dumps(record, indent=2) + "\n")
