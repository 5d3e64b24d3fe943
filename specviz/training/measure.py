"""Measuring the exported family: what the target's answers are worth, chain acceptance, and the
heads' accuracy by rank."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from specviz.training import record
from specviz.training.evaluate import (
    EVALUATED_K,
    draft_hits,
    evaluate,
    greedy_texts,
    load_model,
    load_target,
)
from specviz.training.family import DRAFT_NAME, HEAD_NAMES, SPECULATORS_NAME
from specviz.training.heads.evaluate import head_hits, rank_accuracy
from specviz.training.heads.export import write_config
from specviz.training.heads.heads import MEDUSA_HEADS
from specviz.training.heads.load import load_head
from specviz.training.held_out import tuning_documents
from specviz.training.judging.answers import judged_answers
from specviz.training.judging.tally import tallies

# The engine shapes candidate trees with them. vLLM reads every key of a Medusa configuration with
# "num" and "heads" or "layers" in it as its own, so neither is in the name.
RANK_KEYS = {"medusa": "specviz_head_accuracy", "eagle": "specviz_rank_accuracy"}
RANK_KEYS["eagle3"] = RANK_KEYS["eagle"]


def measure_family(models: Path, *, draft: bool, heads: Sequence[str]) -> None:
    """Measure the draft (if `draft`) and `heads` (keys of `HEAD_NAMES`) into the record.

    The draft is trained together with the target, whose answers are judged then.
    """
    target, tokenizer = load_target(models)
    texts = greedy_texts(target, tokenizer)
    if draft:
        judged = judged_answers(target, tokenizer, texts)
        record.add_answers(models, tallies(v for one in judged for v in one.verdicts))
    drafters = {DRAFT_NAME: draft_hits(load_model(models / DRAFT_NAME))} if draft else {}
    for name in heads:
        drafters[HEAD_NAMES[name]] = head_hits(load_head(models / HEAD_NAMES[name], target), target)
    for folder, hits in drafters.items():
        results = {k: evaluate(hits, texts, tokenizer, k=k) for k in EVALUATED_K}
        record.add_acceptance(models, folder, results)
    if heads:
        write_ranks(models, heads)


def write_ranks(models: Path, heads: Sequence[str]) -> None:
    """Measure the accuracy of each rank on held-out text that is not evaluated on, and write it
    into the configuration of each of `heads`."""
    target, tokenizer = load_target(models)
    by_category = greedy_texts(target, tokenizer, tuning_documents)
    texts = [text for texts in by_category.values() for text in texts]
    for name in heads:
        head = load_head(models / HEAD_NAMES[name], target)
        ranks = rank_accuracy(head, target, texts, MEDUSA_HEADS)
        folders = [HEAD_NAMES[name], *([SPECULATORS_NAME] if name == "eagle3" else [])]
        for folder in (models / folder for folder in folders):
            config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
            write_config(folder, config | {RANK_KEYS[name]: ranks})
