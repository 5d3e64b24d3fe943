"""A target's greedy answers on the held-out prompts, and their verdicts.

Bars are decided on the evaluation prompts and the further ones together: 40 prompts leave an
interval of 30 percentage points around a share of a half.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from specviz.training.corpus import Document
from specviz.training.evaluate import Texts, greedy_texts, load_target
from specviz.training.held_out import evaluation_documents, further_documents
from specviz.training.judging.judge import verdicts
from specviz.training.judging.verdict import Answer, Verdict


@dataclass(frozen=True)
class Judged:
    """An answer with what the rules say about it."""

    answer: Answer
    verdicts: list[Verdict]


def judge_target(models: Path) -> list[Judged]:
    """Generate and judge the answers of the target in `models`: ten minutes on two cores."""
    target, tokenizer = load_target(models)
    return judged_answers(target, tokenizer, greedy_texts(target, tokenizer))


def judged_answers(
    target: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, evaluated: Texts
) -> list[Judged]:
    """The same where the texts of the evaluation prompts are there already."""
    further = greedy_texts(target, tokenizer, further_documents)
    answers = [
        *read_answers(tokenizer, evaluated, evaluation_documents),
        *read_answers(tokenizer, further, further_documents),
    ]
    return [Judged(answer, verdicts(answer)) for answer in answers]


def read_answers(
    tokenizer: PreTrainedTokenizerFast, texts: Texts, documents: Callable[[str], list[Document]]
) -> Iterable[Answer]:
    """The texts to the prompts of `documents` as answers."""
    for category, encoded in texts.items():
        for document, text in zip(documents(category), encoded, strict=True):
            ids = text.ids[text.answer_start :]
            ended = ids[-1] == tokenizer.eos_token_id
            answer = tokenizer.decode(ids[:-1] if ended else ids)
            yield Answer(document, answer, ended)
