"""A draft for a user's domain: the shipped one, distilled further on the target's answers there.

The loss is that of `train`. With few texts the draft can also forget, so old and new weights are
interpolated (arXiv 2109.01903) and the mixture that does best on a validation split is kept, at
worst the old weights. The gain is measured on a part of the domain that neither has seen.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from specviz.analysis.text import percent
from specviz.errors import UsageError
from specviz.paths import MODELS
from specviz.training.corpus import Document
from specviz.training.domain import Domain, Exchange, read_domain
from specviz.training.evaluate import Acceptance, accepted_of, draft_hits, load_model, load_target
from specviz.training.family import (
    DRAFT_NAME,
    HEAD_NAMES,
    SPECULATORS_NAME,
    TARGET_NAME,
    export_model,
)
from specviz.training.fit import Phase, fit
from specviz.training.generate import answers
from specviz.training.losses import distillation_loss
from specviz.training.stream.batches import ROW_LENGTH, Batch, batch_of
from specviz.training.stream.encoding import Encoded, encode
from specviz.training.tokenizer import chat_prompt

FINETUNED_NAME = "demo-draft-finetuned"
K = 5
# Longest answer that the target writes.
ANSWER_TOKENS = 256
BATCH_TOKENS = 2 * ROW_LENGTH
# With more passes a small domain is memorised.
PASSES = 8
LEARNING_RATE = 1e-3
# If the target writes the answers: one greedy and some sampled, because the draft learns more from
# alternative answers than from reading one again.
DRAWN_ANSWERS, DRAWN_TEMPERATURE = 3, 0.8
# Shares of the new weights to try, validated on one in six of the prompts to learn from.
MIXTURES = (0.0, 0.25, 0.5, 0.75, 1.0)
CHECKED_IN = 6


@dataclass(frozen=True)
class FinetuneReport:
    """Greedy acceptance on the held-out part at K = 5, and how it was reached."""

    before: Acceptance
    after: Acceptance
    learnt: int
    held_out: int
    steps: int
    mixture: float
    out: Path

    def sentence(self) -> str:
        """For a terminal."""
        return (
            f"Acceptance on {self.held_out} held-out prompts (K = {K}, greedy): "
            f"{percent(self.before.rate, 1)} before, {percent(self.after.rate, 1)} after "
            f"{self.steps} steps on {self.learnt} exchanges; tokens per step "
            f"{self.before.tokens_per_step:.2f} and {self.after.tokens_per_step:.2f}. "
            f"The new draft, {percent(self.mixture)} of the way from the shipped one, is in "
            f"{self.out}."
        )


def finetune_draft(
    file: Path,
    *,
    out: Path | None = None,
    models: Path = MODELS,
    minutes: float = 3.0,
    device: str = "cpu",
    seed: int = 20,
    progress: Callable[[str], None] = print,
) -> FinetuneReport:
    """Distil a copy of the shipped draft on the domain in `file` (see `read_domain`) into `out`.

    Trains for `PASSES` passes over the domain, or for `minutes`. Raises UsageError for a file that
    cannot be used, and if `out` would overwrite a shipped model.
    """
    out = out or models / FINETUNED_NAME
    check_out(out, models)
    domain = read_domain(file)
    target, tokenizer = load_target(models)
    check_lengths(file, [*domain.learnt, *domain.held_out], tokenizer)
    target.to(device)
    progress(f"{len(domain.held_out)} of {_size(domain)} exchanges are held out")
    texts = list(_greedy(target, tokenizer, domain.held_out))
    before = _acceptance(load_model(models / DRAFT_NAME).to(device), texts, tokenizer)
    progress(f"acceptance before: {percent(before.rate, 1)}")
    draft = LlamaForCausalLM.from_pretrained(models / DRAFT_NAME, dtype=torch.float32).to(device)
    torch.manual_seed(seed)
    learnt, checked = split(domain.learnt)
    material = list(_material(target, tokenizer, learnt))
    old = {name: tensor.clone() for name, tensor in draft.state_dict().items()}
    steps = _distil(draft, target, material, tokenizer, minutes, seed, progress)
    mixture = mix(draft, old, list(_greedy(target, tokenizer, checked)), tokenizer)
    export_model(draft, tokenizer, out)
    after = _acceptance(load_model(out).to(device), texts, tokenizer)
    return FinetuneReport(
        before, after, len(domain.learnt), len(domain.held_out), steps, mixture, out
    )


def check_out(out: Path, models: Path) -> None:
    """Raises UsageError if `out` cannot take a new draft."""
    shipped = (TARGET_NAME, DRAFT_NAME, *HEAD_NAMES.values(), SPECULATORS_NAME)
    if out.resolve() in {(models / name).resolve() for name in shipped}:
        raise UsageError(f"{out} is a model of the family: choose another folder.")
    if out.exists() and not (out / "config.json").exists() and any(out.iterdir()):
        raise UsageError(f"{out} has other files in it: choose another folder.")


def check_lengths(
    file: Path, exchanges: Sequence[Exchange], tokenizer: PreTrainedTokenizerFast
) -> None:
    """Raises UsageError for the first exchange that is longer than a training row."""
    for exchange in exchanges:
        ids = tokenizer.encode(chat_prompt(exchange.prompt), add_special_tokens=False)
        room = ROW_LENGTH - len(ids) - ANSWER_TOKENS
        if exchange.answer is not None:
            answer = tokenizer.encode(exchange.answer, add_special_tokens=False)
            room = ROW_LENGTH - len(ids) - len(answer) - 1
        if room < 0:
            raise UsageError(
                f"{file}, line {exchange.line} is {-room} tokens too long: a prompt and its answer "
                f"may have {ROW_LENGTH} together."
            )


def split(exchanges: Sequence[Exchange]) -> tuple[list[Exchange], list[Exchange]]:
    """The exchanges to train on, and the validation split that chooses the mixture."""
    prompts = list(dict.fromkeys(exchange.prompt for exchange in exchanges))
    checked = set(prompts[::CHECKED_IN])
    return (
        [exchange for exchange in exchanges if exchange.prompt not in checked],
        [exchange for exchange in exchanges if exchange.prompt in checked],
    )


def mix(
    draft: LlamaForCausalLM,
    old: Mapping[str, Tensor],
    texts: Sequence[Encoded],
    tokenizer: PreTrainedTokenizerFast,
) -> float:
    """Give `draft` the mixture of its weights and `old` that is accepted most on `texts`.

    Returns the share of the new weights, the smallest among equals.
    """
    new = {name: tensor.clone() for name, tensor in draft.state_dict().items()}

    def set_share(share: float) -> None:
        draft.load_state_dict({name: torch.lerp(old[name], new[name], share) for name in new})

    rates = []
    for share in MIXTURES:
        set_share(share)
        rates.append(_acceptance(draft, texts, tokenizer).tokens_per_step)
    best = MIXTURES[rates.index(max(rates))]
    set_share(best)
    return best


def _material(
    target: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, exchanges: Sequence[Exchange]
) -> Iterator[Encoded]:
    """Exchanges as token ids; missing answers are written by the target."""
    for exchange in exchanges:
        if exchange.answer is not None:
            yield encode(Document("", exchange.prompt, exchange.answer, ""), tokenizer)
    asked = [exchange for exchange in exchanges if exchange.answer is None]
    yield from _greedy(target, tokenizer, asked)
    prompts = [exchange.prompt for exchange in asked] * DRAWN_ANSWERS
    yield from answers(
        target,
        tokenizer,
        prompts,
        max_new_tokens=ANSWER_TOKENS,
        temperature=DRAWN_TEMPERATURE,
    )


def _greedy(
    target: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, exchanges: Sequence[Exchange]
) -> Iterator[Encoded]:
    prompts = [exchange.prompt for exchange in exchanges]
    return answers(target, tokenizer, prompts, max_new_tokens=ANSWER_TOKENS)


def _acceptance(
    draft: LlamaForCausalLM, texts: Sequence[Encoded], tokenizer: PreTrainedTokenizerFast
) -> Acceptance:
    return accepted_of("domain", texts, draft_hits(draft), tokenizer.eos_token_id, K)


def _distil(
    draft: LlamaForCausalLM,
    target: LlamaForCausalLM,
    learnt: Sequence[Encoded],
    tokenizer: PreTrainedTokenizerFast,
    minutes: float,
    seed: int,
    progress: Callable[[str], None],
) -> int:
    """Train `draft` in place; returns the number of steps."""
    batches = list(readings(learnt, seed, tokenizer.pad_token_id))
    steps = len(batches)
    device = draft.device.type
    phase = Phase("finetune", minutes, LEARNING_RATE, LEARNING_RATE, steps)
    with tempfile.TemporaryDirectory() as scratch:
        outcome = fit(
            draft,
            phase,
            lambda start: iter(batches),
            distillation_loss(draft, target, device),
            checkpoint=Path(scratch) / "finetune.pt",
            progress=progress,
            snapshot=lambda: None,
        )
    draft.eval()
    return outcome.steps


def readings(learnt: Sequence[Encoded], seed: int, pad: int) -> Iterator[Batch]:
    """`PASSES` passes over `learnt`, each in another order, as batches."""
    order = random.Random(seed)
    taken: list[Encoded] = []
    for read, encoded in enumerate(_passes(learnt, order)):
        if sum(len(one.ids) for one in [*taken, encoded]) > BATCH_TOKENS:
            yield batch_of(taken, pad=pad, next_document=read)
            taken = []
        taken.append(encoded)
    yield batch_of(taken, pad=pad, next_document=PASSES * len(learnt))


def _passes(learnt: Sequence[Encoded], order: random.Random) -> Iterator[Encoded]:
    for _ in range(PASSES):
        yield from order.sample(learnt, len(learnt))


def _size(domain: Domain) -> int:
    return len(domain.learnt) + len(domain.held_out)
