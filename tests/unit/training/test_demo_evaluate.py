"""Counting: what a server would accept, from what a drafter proposes over the target's text."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from specviz.paths import MODELS
from specviz.training import record
from specviz.training.card import write_card
from specviz.training.evaluate import Acceptance, accepted_of, draft_hits, speculative_steps
from specviz.training.fit import Outcome
from specviz.training.heads.evaluate import head_hits, rank_accuracy, true_ranks
from specviz.training.heads.lesson import prepare
from specviz.training.stream.encoding import Encoded
from tests.support.training.head_samples import KNOWN, NAMES, documents, tiny_head, tiny_target


def test_steps_advance_by_what_is_accepted() -> None:
    hits = [[], [True, False], [True, True], [False, True], [True, True], [True]]
    # From token 1: one accepted and the target's own; from token 3: none; 4: both, to the end.
    assert speculative_steps(hits, 2) == [(2, 1), (2, 0), (2, 2)]


def test_rate_and_tokens_per_step() -> None:
    hits = {5: [[], [True, True], [True], []], 6: [[], [False], []]}
    texts = [Encoded([2, 3, 4, 4, 4, 1][:n] * 1, 2) for n in (5, 6)]
    result = accepted_of("x", texts, lambda text, k: hits[len(text.ids)], end=1, k=2)
    assert (result.prompts, result.finished, result.steps) == (2, 1, 3)
    assert result.rate == pytest.approx(2 / 3)
    assert result.tokens_per_step == pytest.approx(2 / 3 + 1)


def test_a_model_is_its_own_perfect_draft() -> None:
    target = tiny_target()
    text = _greedy_text()
    for row, hits in enumerate(draft_hits(target)(text, 3)):
        assert hits == [True] * min(3, len(text.ids) - text.answer_start - row)


def _greedy_text() -> Encoded:
    target, ids = tiny_target(), [2, 7, 9]
    for _ in range(8):
        logits = target(input_ids=torch.tensor([ids])).logits[0, -1]
        ids = [*ids, int(logits.argmax())]
    return Encoded(ids, 3)


@pytest.mark.parametrize("name", NAMES)
def test_head_hits_are_the_first_choices(name: str) -> None:
    """Row by row: the head drafts greedily as long as it is right, on the tokens before it."""
    target, text = tiny_target(), documents()[0]
    head = tiny_head(name, target)
    hits = head_hits(head, target)(text, 3)
    assert [len(row) for row in hits] == [0, 3, 3, 3, 3, 3, 2, 1]
    lesson = prepare(target, [text], head.tap_layers)
    with torch.no_grad():
        chosen = [head.target_ids[logits.argmax(-1)] for logits in head.logits(lesson, 3)]
    for at, row in enumerate(hits[1:], start=1):
        for step, hit in enumerate(row):
            token = text.ids[text.answer_start + at + step]
            assert hit == (int(chosen[step][at - 1]) == token)


@pytest.mark.parametrize("name", NAMES)
def test_rank_accuracy_is_the_share_of_anchors(name: str) -> None:
    target, texts = tiny_target(), documents()
    head = tiny_head(name, target)
    shares = rank_accuracy(head, target, texts, 3)
    assert [len(row) for row in shares] == [10, 10, 10]
    first = [row[0] for text in texts for row in head_hits(head, target)(text, 1)[1:]]
    assert shares[0][0] == pytest.approx(sum(first) / len(first), abs=1e-4)
    assert all(sum(row) <= 1.001 for row in shares)


def test_token_outside_of_the_draft_vocabulary_ranks_last() -> None:
    target = tiny_target()
    head = tiny_head("eagle3", target)
    text = Encoded([2, 5, 6, 31, 31, 31, 1], 2)
    with torch.no_grad():
        ranks = true_ranks(head, prepare(target, [text], head.tap_layers), 1)[0]
    assert (ranks == len(KNOWN)).tolist() == [True, True, True, False]


def _outcome(name: str, next_document: int) -> Outcome:
    return Outcome(name, steps=3, tokens=9, seconds=1.0, loss=0.5, next_document=next_document)


def test_record_of_a_head_replaces_its_own_and_keeps_the_rest(tmp_path: Path) -> None:
    pair = [_outcome("target", 50), _outcome("draft-corpus", 80)]
    record.begin(tmp_path, seed=1, device="cpu", outcomes=pair)
    record.add_outcomes(tmp_path, [_outcome("medusa", 90), _outcome("eagle", 90)])
    record.add_outcomes(tmp_path, [_outcome("medusa", 120)])
    results = [Acceptance("overall", 1, 1, 2, 4, 2)]
    record.add_acceptance(tmp_path, "demo-medusa", {5: results})
    found = record.read(tmp_path)
    assert [p["name"] for p in found["phases"]] == ["target", "draft-corpus", "eagle", "medusa"]
    assert record.next_document(tmp_path) == 80
    assert record.acceptance(found, 5) == {"demo-medusa": results}
    record.begin(tmp_path, seed=1, device="cpu", outcomes=pair)
    assert record.acceptance(record.read(tmp_path), 5) == {}


def test_shipped_card_is_what_the_code_writes(tmp_path: Path) -> None:
    for path in MODELS.iterdir():
        if path.name != "README.md":
            (tmp_path / path.name).symlink_to(path)
    write_card(tmp_path)
    assert (tmp_path / "README.md").read_text() == (MODELS / "README.md").read_text()
