"""Lessons: which position learns what from the target."""

from __future__ import annotations

import pytest
import torch

from specviz.training.heads.lesson import prepare, read
from tests.support.training.head_samples import LAYERS, documents, tiny_target


def test_hidden_states_are_those_of_transformers() -> None:
    target = tiny_target()
    ids = torch.tensor([documents()[0].ids])
    hidden, taps = read(target, ids, (0, 2, LAYERS))
    output = target.model(input_ids=ids, output_hidden_states=True, use_cache=False)
    assert torch.allclose(hidden, output.last_hidden_state, atol=1e-6)
    early = torch.cat([output.hidden_states[0], output.hidden_states[2]], -1)
    assert torch.allclose(taps[..., : early.shape[-1]], early, atol=1e-6)
    # Of the last layer's output transformers only returns the norm.
    last = target.model.norm(taps[..., early.shape[-1] :])
    assert torch.allclose(last, output.last_hidden_state, atol=1e-6)


def test_padding_does_not_change_what_the_target_says() -> None:
    target, texts = tiny_target(), documents()
    together = prepare(target, texts)
    for row, text in enumerate(texts):
        alone = prepare(target, [text])
        length = len(text.ids)
        assert torch.allclose(together.hidden[row, :length], alone.hidden[0], atol=1e-5)


@pytest.mark.parametrize("step", range(4))
def test_draft_step_learns_the_target_distribution_of_its_token(step: int) -> None:
    """Draft step j of anchor t proposes token t + 2 + j, which is predicted at t + 1 + j."""
    target, text = tiny_target(), documents()[0]
    lesson = prepare(target, [text])
    probs = target(input_ids=torch.tensor([text.ids])).logits[0].softmax(-1)
    positions = lesson.at_step(lesson.anchors, step).tolist()
    assert positions == list(range(text.answer_start - 1, len(text.ids) - 2 - step))
    wanted, entropy = lesson.wanted_at(step)
    assert torch.allclose(wanted, probs[[p + 1 + step for p in positions]], atol=1e-5)
    assert torch.allclose(entropy, -(wanted * wanted.log()).sum(-1), atol=1e-5)
    tokens = lesson.at_step(lesson.tokens_at(step), step).tolist()
    assert tokens == [text.ids[p + 1 + step] for p in positions]


def test_steps_of_a_group_stay_in_their_documents() -> None:
    lesson = prepare(tiny_target(), documents())
    answers = [len(d.ids) - d.answer_start for d in documents()]
    for step in range(5):
        count = sum(max(0, answer - 1 - step) for answer in answers)
        assert len(lesson.at_step(lesson.anchors, step)) == count
        assert len(lesson.wanted_at(step)[0]) == count
