"""How often heads are right: in a greedy chain, and by rank for the shape of a candidate tree."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from transformers import LlamaForCausalLM

from specviz.training.evaluate import Hits
from specviz.training.heads.heads import Head
from specviz.training.heads.lesson import Lesson, prepare
from specviz.training.stream.encoding import Encoded

RANKS = 10


def head_hits(head: Head, target: LlamaForCausalLM) -> Hits:
    """A head's hits in a greedy chain, as `speculative_steps` counts them.

    The proposals for answer token `at` and those after it are made while token `at - 1` is known
    but not read: from the anchor two positions before `at`.
    """

    @torch.inference_mode()
    def hits(text: Encoded, k: int) -> list[list[bool]]:
        lesson = prepare(target, [text], head.tap_layers)
        rows: list[list[bool]] = [[] for _ in range(len(text.ids) - text.answer_start)]
        for ranks in true_ranks(head, lesson, k):
            for anchor, rank in enumerate(ranks.tolist()):
                rows[anchor + 1].append(rank == 0)
        return rows

    return hits


@torch.inference_mode()
def rank_accuracy(
    head: Head, target: LlamaForCausalLM, texts: Sequence[Encoded], steps: int
) -> list[list[float]]:
    """[step][rank]: how often the head's choice of that rank is the target's greedy token.

    Over all anchors of `texts`, which are the target's own greedy answers, with all tokens before
    the proposal right: the accuracies that Medusa's tree is built from (arXiv 2401.10774, 2.3.3).
    """
    counts = torch.zeros(steps, RANKS + 1)
    for text in texts:
        lesson = prepare(target, [text], head.tap_layers)
        for step, ranks in enumerate(true_ranks(head, lesson, steps)):
            counts[step] += torch.bincount(ranks.clamp(max=RANKS), minlength=RANKS + 1).cpu()
    shares = counts / counts.sum(-1, keepdim=True)
    return [[round(float(share), 4) for share in row[:RANKS]] for row in shares]


def true_ranks(head: Head, lesson: Lesson, steps: int) -> list[Tensor]:
    """Per draft step the rank of the text's own token among the head's choices, for each anchor.

    A token outside of the draft vocabulary ranks behind all others.
    """
    known = head.target_ids.to(lesson.ids.device)
    found = []
    for step, logits in enumerate(head.logits(lesson, steps)):
        actual = lesson.at_step(lesson.ids.gather(1, lesson.positions(2 + step)), step)
        place = torch.searchsorted(known, actual).clamp(max=len(known) - 1)
        own = logits.gather(1, place[:, None])
        ranks = (logits > own).sum(-1)
        found.append(torch.where(known[place] == actual, ranks, logits.shape[1]))
    return found
