"""How much of the draft the target accepts, per category, on the held-out prompts.

Greedy speculative decoding emits the target's own greedy text whatever the draft says, so the
text is generated once and the draft is then run over it once: up to its first miss in a step, the
draft has seen exactly the target's tokens, and what it proposes after a miss does not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from specviz.demo.batches import Encoded
from specviz.demo.corpus import CATEGORIES
from specviz.demo.family import DRAFT_NAME, TARGET_NAME
from specviz.demo.generate import greedy_answers
from specviz.demo.held_out import MAX_TOKENS, evaluation_documents

EVALUATED_K = 5


@dataclass(frozen=True)
class Acceptance:
    """Counts over all prompts of a category; `finished` answers ended by themselves."""

    category: str
    prompts: int
    finished: int
    steps: int
    proposed: int
    accepted: int

    @property
    def rate(self) -> float:
        """Accepted of proposed draft tokens."""
        return self.accepted / self.proposed

    @property
    def tokens_per_step(self) -> float:
        """Accepted tokens and the target's own one."""
        return self.accepted / self.steps + 1


def evaluate_folder(models: Path) -> list[Acceptance]:
    """Acceptance of the two models as they lie in `models`, at K = `EVALUATED_K`."""
    target, draft = (
        LlamaForCausalLM.from_pretrained(models / name, dtype=torch.bfloat16).eval()
        for name in (TARGET_NAME, DRAFT_NAME)
    )
    tokenizer = PreTrainedTokenizerFast.from_pretrained(models / TARGET_NAME)
    return evaluate(target, draft, tokenizer, k=EVALUATED_K)


def evaluate(
    target: LlamaForCausalLM,
    draft: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    *,
    k: int,
) -> list[Acceptance]:
    """Acceptance in every category and, last, overall."""
    results = [_category(target, draft, tokenizer, category, k) for category in CATEGORIES]
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


def _category(
    target: LlamaForCausalLM,
    draft: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    category: str,
    k: int,
) -> Acceptance:
    prompts = [document.prompt for document in evaluation_documents(category)]
    texts = greedy_answers(target, tokenizer, prompts, max_new_tokens=MAX_TOKENS[category])
    finished = steps = proposed = accepted = 0
    for text in texts:
        finished += text.ids[-1] == tokenizer.eos_token_id
        for offered, taken in speculative_steps(agreement(draft, text), k):
            steps, proposed, accepted = steps + 1, proposed + offered, accepted + taken
    return Acceptance(category, len(prompts), finished, steps, proposed, accepted)


@torch.inference_mode()
def agreement(draft: LlamaForCausalLM, text: Encoded) -> list[bool]:
    """For every answer token: is it the draft's first choice after the tokens before it?"""
    ids = torch.tensor([text.ids], device=draft.device)
    choices = draft(input_ids=ids, use_cache=False).logits[0].argmax(-1).tolist()
    return [choices[at - 1] == text.ids[at] for at in range(text.answer_start, len(text.ids))]


def speculative_steps(agrees: Sequence[bool], k: int) -> list[tuple[int, int]]:
    """(proposed, accepted) of every draft-and-verify step over an answer.

    The first token comes from reading the prompt. A step emits the accepted tokens and one of the
    target's; proposals beyond the end of the answer are not counted.
    """
    steps = []
    at = 1
    while at < len(agrees):
        offered = min(k, len(agrees) - at)
        taken = next((n for n in range(offered) if not agrees[at + n]), offered)
        steps.append((offered, taken))
        at += taken + 1
    return steps
