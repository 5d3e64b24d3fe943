"""Acceptance per category on the held-out prompts.

Greedy speculative decoding emits the target's own greedy text whatever the drafter proposes, so the
text is generated once and the drafter is then run over it once: up to its first miss in a step it
has seen exactly the target's tokens, and proposals after a miss do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from specviz.training.corpus import CATEGORIES, Document
from specviz.training.family import TARGET_NAME
from specviz.training.generate import answers
from specviz.training.held_out import MAX_TOKENS, evaluation_documents
from specviz.training.stream.encoding import Encoded

EVALUATED_K = (5, 3)

# The target's greedy answers by category.
Texts = Mapping[str, Sequence[Encoded]]
# For every answer token of a text and every draft step from there: is the n-th proposal the token
# of the text? Row 0, before which nothing is drafted, is ignored.
Hits = Callable[[Encoded, int], list[list[bool]]]


@dataclass(frozen=True)
class Acceptance:
    """Counts over all prompts of a category; `finished`: answers that ended with the end token."""

    category: str
    prompts: int
    finished: int
    steps: int
    proposed: int
    accepted: int

    @property
    def rate(self) -> float:
        """Accepted / proposed draft tokens."""
        return self.accepted / self.proposed

    @property
    def tokens_per_step(self) -> float:
        """Mean acceptance length: accepted tokens and the target's own."""
        return self.accepted / self.steps + 1


def load_target(models: Path) -> tuple[LlamaForCausalLM, PreTrainedTokenizerFast]:
    """The target in `models` and its tokenizer."""
    folder = models / TARGET_NAME
    return load_model(folder), PreTrainedTokenizerFast.from_pretrained(folder)


def load_model(folder: Path) -> LlamaForCausalLM:
    """A model as it is served: bf16, without gradients."""
    model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.bfloat16)
    return model.eval().requires_grad_(False)


def greedy_texts(
    target: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    documents: Callable[[str], list[Document]] = evaluation_documents,
) -> dict[str, list[Encoded]]:
    """The target's greedy answers to the prompts of the `documents` of every category."""
    texts = {}
    for category in CATEGORIES:
        prompts = [document.prompt for document in documents(category)]
        found = answers(target, tokenizer, prompts, max_new_tokens=MAX_TOKENS[category])
        texts[category] = list(found)
    return texts


def evaluate(
    hits: Hits, texts: Texts, tokenizer: PreTrainedTokenizerFast, *, k: int
) -> list[Acceptance]:
    """Acceptance in every category and, last, overall."""
    end = tokenizer.eos_token_id
    results = [accepted_of(category, texts[category], hits, end, k) for category in texts]
    return [*results, overall(results)]


def overall(results: Sequence[Acceptance]) -> Acceptance:
    """The sum of the counts."""
    return Acceptance(
        category="overall",
        prompts=sum(r.prompts for r in results),
        finished=sum(r.finished for r in results),
        steps=sum(r.steps for r in results),
        proposed=sum(r.proposed for r in results),
        accepted=sum(r.accepted for r in results),
    )


def accepted_of(
    category: str, texts: Sequence[Encoded], hits: Hits, end: int, k: int
) -> Acceptance:
    """Counts of the proposals over `texts`; a finished text ends with token `end`."""
    finished = steps = proposed = accepted = 0
    for text in texts:
        finished += text.ids[-1] == end
        for offered, taken in speculative_steps(hits(text, k), k):
            steps, proposed, accepted = steps + 1, proposed + offered, accepted + taken
    return Acceptance(category, len(texts), finished, steps, proposed, accepted)


def draft_hits(draft: LlamaForCausalLM) -> Hits:
    """A draft model's hits, the same for every draft step: it has read the same tokens."""

    @torch.inference_mode()
    def hits(text: Encoded, k: int) -> list[list[bool]]:
        ids = torch.tensor([text.ids], device=draft.device)
        choices = draft(input_ids=ids, use_cache=False).logits[0].argmax(-1)
        after = choices[text.answer_start - 1 : -1]
        agrees = (after == ids[0, text.answer_start :]).tolist()
        return [agrees[at : at + k] for at in range(len(agrees))]

    return hits


def speculative_steps(hits: Sequence[Sequence[bool]], k: int) -> list[tuple[int, int]]:
    """(proposed, accepted) of every draft-and-verify step over an answer.

    The first token comes from prefill. A step emits the accepted tokens and one of the
    target's; proposals beyond the end of the answer are not counted.
    """
    steps = []
    at = 1
    while at < len(hits):
        offered = min(k, len(hits[at]))
        taken = next((n for n in range(offered) if not hits[at][n]), offered)
        steps.append((offered, taken))
        at += taken + 1
    return steps
