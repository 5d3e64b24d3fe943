"""What a head sees and what it does not; unrolled training against step-by-step inference."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from transformers import LlamaForCausalLM
from transformers.models.llama.modeling_llama import LlamaDecoderLayer

from specviz.training.fit import Phase, fit, optimizers
from specviz.training.heads.heads import MEDUSA_HEADS, Eagle, Eagle3, FeatureHead, Medusa
from specviz.training.heads.lesson import Lesson, gather_rows, prepare
from specviz.training.heads.losses import divergence, eagle_loss, head_loss
from specviz.training.stream.batches import pack
from specviz.training.stream.encoding import Encoded
from tests.support.training.head_samples import (
    KNOWN,
    NAMES,
    documents,
    tiny_config,
    tiny_head,
    tiny_target,
)

STEPS = 4


def _logits(head: Medusa | FeatureHead, target: LlamaForCausalLM, ids: list[int]) -> list[Tensor]:
    lesson = prepare(target, [Encoded(ids, 3)], head.tap_layers)
    with torch.no_grad():
        return list(head.logits(lesson, STEPS))


@pytest.mark.parametrize("name", NAMES)
def test_no_draft_sees_the_token_that_it_proposes(name: str) -> None:
    """Changing token p may only change proposals for tokens behind p."""
    target = tiny_target()
    head = tiny_head(name, target)
    ids = documents()[0].ids
    changed = 7
    before, after = (
        _logits(head, target, i) for i in (ids, [*ids[:changed], 3, *ids[changed + 1 :]])
    )
    for step in range(STEPS):
        for row in range(len(before[step])):
            proposed = 2 + row + 2 + step  # anchor 2 + row
            same = torch.equal(before[step][row], after[step][row])
            assert same or proposed > changed, (step, row)


def test_medusa_sees_nothing_behind_its_anchor() -> None:
    target = tiny_target()
    head = tiny_head("medusa", target)
    ids = documents()[0].ids
    before, after = (_logits(head, target, i) for i in (ids, [*ids[:7], 3, *ids[8:]]))
    for step in range(STEPS):
        same = [torch.equal(b, a) for b, a in zip(before[step], after[step], strict=True)]
        # Anchors 2 to 6 are before token 7.
        assert same[:5] == [True] * 5
        assert not any(same[5:])


@pytest.mark.parametrize("name", ["eagle", "eagle3"])
def test_feature_heads_see_the_token_that_is_known_but_not_read(name: str) -> None:
    target = tiny_target()
    head = tiny_head(name, target)
    ids = documents()[0].ids
    before, after = (_logits(head, target, i) for i in (ids, [*ids[:7], 3, *ids[8:]]))
    for step in range(STEPS):
        row = 7 - 1 - step - 2  # the anchor whose step reads token 7
        assert not torch.equal(before[step][row], after[step][row])


def test_medusa_begins_as_the_target_itself() -> None:
    target = tiny_target()
    lesson = prepare(target, documents())
    for step, logits in enumerate(Medusa(target).logits(lesson, STEPS)):
        own = target.lm_head(gather_rows(lesson.hidden, lesson.anchors))
        torch.testing.assert_close(logits, lesson.at_step(own, step))


def _reference_layer(head: Eagle | Eagle3) -> LlamaDecoderLayer:
    """The head's layer as transformers computes one, without its first norm."""
    layer = LlamaDecoderLayer(tiny_config(1), 0).eval()
    layer.input_layernorm = nn.Identity()
    for name in ("q_proj", "k_proj", "v_proj"):
        setattr(layer.self_attn, name, getattr(head.layer.self_attn, name))
    weights = {n: w for n, w in head.layer.state_dict().items() if "layernorm" not in n}
    weights["post_attention_layernorm.weight"] = head.layer.post_attention_layernorm.weight
    layer.load_state_dict(weights, strict=False)
    return layer


def _step_by_step(
    head: Eagle | Eagle3, target: LlamaForCausalLM, lesson: Lesson, anchor: int
) -> list[Tensor]:
    """Drafting as a server does it: a sequence that grows by the head's own outputs."""
    layer = _reference_layer(head)
    features = head.features(lesson)[:, : anchor + 1]
    outputs = []
    for step in range(STEPS):
        length = anchor + 1 + step
        tokens = target.model.embed_tokens(lesson.ids[:, 1 : length + 1])
        x, residual = head.pair(tokens, features)
        positions = torch.arange(length)[None]
        rotary = target.model.rotary_emb(x, positions)
        attended, _ = layer.self_attn(x, position_embeddings=rotary, attention_mask=None)
        y = residual + attended
        y = y + layer.mlp(layer.post_attention_layernorm(y))
        outputs.append(y[0, -1])
        features = torch.cat([features, y[:, -1:]], 1)
    return outputs


@pytest.mark.parametrize("name", ["eagle", "eagle3"])
@torch.no_grad()
def test_unrolled_training_equals_step_by_step_drafting(name: str) -> None:
    """The mask of EAGLE-3's training-time test, its positions and its features."""
    target, text = tiny_target(), documents()[0]
    head = tiny_head(name, target)
    assert isinstance(head, Eagle | Eagle3)
    lesson = prepare(target, [text], head.tap_layers)
    unrolled = list(head.outputs(lesson, STEPS))
    for index in range(len(text.ids) - text.answer_start - STEPS):
        anchor = int(lesson.anchors[0, index])
        for step, expected in enumerate(_step_by_step(head, target, lesson, anchor)):
            assert torch.allclose(unrolled[step][0, index], expected, atol=1e-4, rtol=1e-4), (
                index,
                step,
            )


@pytest.mark.parametrize("name", NAMES)
def test_head_in_a_group_is_the_head_alone(name: str) -> None:
    target, texts = tiny_target(), documents()
    head = tiny_head(name, target)
    with torch.no_grad():
        together = list(head.logits(prepare(target, texts, head.tap_layers), STEPS))
        alone = [list(head.logits(prepare(target, [t], head.tap_layers), STEPS)) for t in texts]
    for step in range(STEPS):
        expected = torch.cat([steps[step] for steps in alone])
        assert torch.allclose(together[step], expected, atol=1e-4)


def test_divergence_from_itself_is_zero() -> None:
    logits = torch.randn(5, 7)
    wanted = logits.softmax(-1)
    entropy = torch.special.entr(wanted).sum(-1)
    assert divergence(logits, wanted, entropy).item() == pytest.approx(0, abs=1e-4)
    assert divergence(logits.roll(1, 1), wanted, entropy).item() > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_training_lowers_the_loss(name: str, tmp_path: Path) -> None:
    target = tiny_target()
    head = tiny_head(name, target)
    batch = pack([documents(), documents()[:2]], pad=0, next_document=1)
    loss = (
        eagle_loss(head, target, "cpu")
        if isinstance(head, Eagle)
        else head_loss(head, target, MEDUSA_HEADS, "cpu")
    )
    before, weight = loss(batch)
    phase = Phase("test", minutes=1, muon_lr=0.02, adam_lr=0.01, steps=25)
    fit(
        head, phase, lambda at: iter(lambda: batch, None), loss,
        checkpoint=tmp_path / "t.pt", progress=lambda line: None, snapshot=lambda: None,
    )  # fmt: skip
    after, _ = loss(batch)
    assert after.item() < 0.8 * before.item()
    assert weight > 0


def test_vocabulary_matrices_are_not_orthogonalised() -> None:
    head = tiny_head("eagle3", tiny_target())
    assert isinstance(head, Eagle3)
    muon, adam = optimizers(head, Phase("test", 1, 0.01, 0.01))
    assert any(p is head.lm_head.weight for p in adam.param_groups[0]["params"])
    assert any(p is head.fc.matrix.weight for p in muon.param_groups[0]["params"])
    assert len(head.lm_head.weight) == len(KNOWN)
