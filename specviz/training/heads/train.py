"""Training the heads: each alone on the frozen target, exported at every checkpoint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor, nn
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from specviz.training.corpus import training_documents
from specviz.training.family import (
    EAGLE3_NAME,
    EAGLE_NAME,
    MEDUSA_NAME,
    SPECULATORS_NAME,
    TARGET_NAME,
    eagle3_config,
    eagle_config,
)
from specviz.training.fit import Loss, Outcome, Phase, fit
from specviz.training.heads.export import (
    export_eagle,
    export_eagle3,
    export_medusa,
    export_speculators,
)
from specviz.training.heads.heads import MEDUSA_HEADS, Eagle, Eagle3, Medusa, rms
from specviz.training.heads.lesson import read
from specviz.training.heads.losses import eagle_loss, head_loss
from specviz.training.precision import frozen_dtype
from specviz.training.stream.batches import Batch
from specviz.training.stream.encoding import encode
from specviz.training.stream.writers import stream_batches, writers

# Of a batch.
DOCUMENTS = {"cpu": 40, "cuda": 256}
# The inputs of an early and a middle layer, and the output of the last: with so few layers the last
# one does much of the work, which the head would otherwise have to repeat.
TAP_LAYERS = (2, 4, 8)
# Of 4096 tokens; answers use others once in a thousand, and the matrix is a large part of a step.
DRAFT_VOCABULARY = 2944
VOCABULARY_DOCUMENTS = 6000
# EAGLE-3's phases: name, share of its minutes, draft steps on its own outputs. With few of them a
# step of training takes half as long; a second plateau and decay lower the loss once more.
EAGLE3_PHASES = (("eagle3-start", 6 / 28, 2), ("eagle3", 9 / 28, 5), ("eagle3-again", 13 / 28, 5))


@dataclass(frozen=True)
class HeadShop:
    """The frozen target, and where to read and write: what training a head needs."""

    out: Path
    scratch: Path
    device: str
    seed: int
    target: LlamaForCausalLM
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


@dataclass(frozen=True)
class Training:
    """One head, its phases with what each learns, and how it is written."""

    head: nn.Module
    phases: list[tuple[Phase, Loss]]
    export: Callable[[], None]


def open_shop(
    out: Path, *, scratch: Path, device: str, seed: int, progress: Callable[[str], None]
) -> HeadShop:
    """The shop for the target in `out`."""
    dtype = frozen_dtype(device)
    target = LlamaForCausalLM.from_pretrained(out / TARGET_NAME, dtype=dtype).to(device)
    target.eval().requires_grad_(False)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(out / TARGET_NAME)
    return HeadShop(out, scratch, device, seed, target, tokenizer, progress)


def train_head(shop: HeadShop, name: str, minutes: float, *, start: int) -> list[Outcome]:
    """Train head `name` (a key of `TRAININGS`) on the stream from document `start` on."""
    torch.manual_seed(shop.seed)
    training = TRAININGS[name](shop, minutes)
    outcomes: list[Outcome] = []
    for phase, loss in training.phases:
        outcomes.append(_run(shop, training, phase, loss, start))
        start = outcomes[-1].next_document
    training.export()
    return outcomes


def _run(shop: HeadShop, training: Training, phase: Phase, loss: Loss, start: int) -> Outcome:
    return fit(
        training.head,
        phase,
        lambda at: shop.stream(max(at, start)),
        loss,
        checkpoint=shop.scratch / f"{phase.name}.pt",
        progress=shop.progress,
        snapshot=training.export,
    )


def _medusa(shop: HeadShop, minutes: float) -> Training:
    head = Medusa(shop.target).to(shop.device)
    phase = Phase("medusa", minutes, muon_lr=4e-3, adam_lr=1e-3)
    loss = head_loss(head, shop.target, MEDUSA_HEADS, shop.device)
    return Training(head, [(phase, loss)], lambda: export_medusa(head, shop.out / MEDUSA_NAME))


def _eagle(shop: HeadShop, minutes: float) -> Training:
    config = eagle_config()
    head = Eagle(shop.target, config).to(shop.device)
    phase = Phase("eagle", minutes, muon_lr=4e-3, adam_lr=3e-3)
    loss = eagle_loss(head, shop.target, shop.device)
    folder = shop.out / EAGLE_NAME
    return Training(head, [(phase, loss)], lambda: export_eagle(head, config, folder))


def _eagle3(shop: HeadShop, minutes: float) -> Training:
    config = eagle3_config()
    taps = tap_sizes(shop, TAP_LAYERS)
    head = Eagle3(shop.target, config, taps, frequent_tokens(shop)).to(shop.device)
    phases = [
        (
            Phase(name, minutes * share, muon_lr=4e-3, adam_lr=2e-3),
            head_loss(head, shop.target, steps, shop.device),
        )
        for name, share, steps in EAGLE3_PHASES
    ]

    def export() -> None:
        export_eagle3(head, config, shop.out / EAGLE3_NAME)
        export_speculators(head, config, TARGET_NAME, shop.out / SPECULATORS_NAME)

    return Training(head, phases, export)


# In training order: the most useful head first.
TRAININGS: dict[str, Callable[[HeadShop, float], Training]] = {
    "eagle3": _eagle3,
    "medusa": _medusa,
    "eagle": _eagle,
}


def tap_sizes(shop: HeadShop, layers: tuple[int, ...]) -> dict[int, float]:
    """The root mean square of the inputs of `layers` on the first rows of the stream."""
    ids = next(shop.stream(0)).ids.to(shop.device)
    with torch.no_grad():
        _, taps = read(shop.target, ids, layers)
    parts = taps.chunk(len(layers), -1)
    return {layer: rms(part) for layer, part in zip(layers, parts, strict=True)}


def frequent_tokens(shop: HeadShop) -> Tensor:
    """The ids of the `DRAFT_VOCABULARY` most frequent answer tokens, ascending.

    Ties are broken by id, so that the choice does not depend on the order of counting.
    """
    counts: Counter[int] = Counter()
    for document in islice(training_documents(shop.seed), VOCABULARY_DOCUMENTS):
        encoded = encode(document, shop.tokenizer)
        counts.update(encoded.ids[encoded.answer_start :])
    order = sorted(range(shop.target.config.vocab_size), key=lambda token: (-counts[token], token))
    return torch.tensor(sorted(order[:DRAFT_VOCABULARY]))
