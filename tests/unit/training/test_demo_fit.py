"""The training loop on a model of a few thousand parameters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from transformers import LlamaConfig, LlamaForCausalLM

from specviz.training import losses
from specviz.training.fit import (
    WARM_UP_STEPS,
    Phase,
    fit,
    gradient_workers,
    learning_rate_factor,
    set_gradients,
)
from specviz.training.losses import distillation_loss, next_token_loss
from specviz.training.stream.batches import Batch, pack
from specviz.training.stream.encoding import Encoded


def _tiny(seed: int) -> LlamaForCausalLM:
    torch.manual_seed(seed)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=32, hidden_size=16, intermediate_size=16, num_hidden_layers=1,
            num_attention_heads=2, num_key_value_heads=1, head_dim=8, tie_word_embeddings=True,
            pad_token_id=0, eos_token_id=1, bos_token_id=None,
        )
    )  # fmt: skip


def _batch(start: int = 0) -> Batch:
    rows = [[Encoded([2, 3 + (start + r) % 5, 4, 5 + r, 1], 2)] for r in range(4)]
    return pack(rows, pad=0, next_document=start + 4)


def _batches(start: int) -> Iterator[Batch]:
    while True:
        batch = _batch(start)
        start = batch.next_document
        yield batch


def _fit(model: LlamaForCausalLM, folder: Path, steps: int, snapshots: list[int]) -> float:
    phase = Phase("test", minutes=1, muon_lr=0.01, adam_lr=0.01, steps=steps)
    outcome = fit(
        model,
        phase,
        _batches,
        next_token_loss(model, "cpu"),
        checkpoint=folder / "test.pt",
        progress=lambda line: None,
        snapshot=lambda: snapshots.append(1),
    )
    assert outcome.steps == steps
    assert outcome.next_document == 4 * steps
    return outcome.loss


@pytest.mark.slow
def test_loss_falls_and_the_end_is_saved(tmp_path: Path) -> None:
    snapshots: list[int] = []
    model = _tiny(0)
    before = next_token_loss(model, "cpu")(_batch())
    loss = _fit(model, tmp_path, 40, snapshots)
    assert loss < (before[0] / before[1]).item()
    assert snapshots == [1]
    assert (tmp_path / "test.pt").exists()


def test_same_seed_and_steps_give_the_same_model(tmp_path: Path) -> None:
    models = [_tiny(0), _tiny(0)]
    for index, model in enumerate(models):
        folder = tmp_path / str(index)
        folder.mkdir()
        _fit(model, folder, 5, [])
    assert torch.equal(*(model.model.embed_tokens.weight for model in models))


def test_finished_phase_is_not_repeated(tmp_path: Path) -> None:
    first, second = _tiny(0), _tiny(1)
    _fit(first, tmp_path, 5, [])
    snapshots: list[int] = []
    _fit(second, tmp_path, 5, snapshots)
    assert not snapshots
    assert torch.equal(first.lm_head.weight, second.lm_head.weight)


def test_gradients_of_shares_add_up_to_the_whole() -> None:
    model = _tiny(0)
    loss = next_token_loss(model, "cpu")
    with gradient_workers() as pool:
        value = set_gradients(model, loss, _batch(), pool)
    total, weight = loss(_batch())
    whole: tuple[Tensor, ...] = torch.autograd.grad(total / weight, list(model.parameters()))
    assert value == pytest.approx((total / weight).item(), rel=1e-2)
    for parameter, expected in zip(model.parameters(), whole, strict=True):
        assert parameter.grad is not None
        # bf16 autocast: about three digits.
        assert torch.allclose(parameter.grad, expected, atol=2e-3, rtol=5e-2)


def test_distillation_of_a_model_into_itself_costs_nothing() -> None:
    model = _tiny(0)
    total, weight = distillation_loss(model, model, "cpu")(_batch())
    assert total.item() == pytest.approx(0, abs=1e-4)
    assert weight == 12


@pytest.mark.slow
def test_distillation_pulls_the_draft_to_the_target(tmp_path: Path) -> None:
    target, draft = _tiny(0), _tiny(1)
    loss = distillation_loss(draft, target, "cpu")
    before = loss(_batch())[0].item()
    phase = Phase("test", minutes=1, muon_lr=0.01, adam_lr=0.01, steps=30)
    fit(
        draft, phase, _batches, loss,
        checkpoint=tmp_path / "t.pt", progress=lambda line: None, snapshot=lambda: None,
    )  # fmt: skip
    assert loss(_batch())[0].item() < before


def test_learning_rate_warms_up_stays_and_decays() -> None:
    assert learning_rate_factor(0, 0.0) == pytest.approx(1 / WARM_UP_STEPS)
    assert learning_rate_factor(WARM_UP_STEPS, 0.3) == 1.0
    assert learning_rate_factor(1000, 0.8) == pytest.approx(0.5)
    assert learning_rate_factor(1000, 1.0) == pytest.approx(0.01)


def test_every_parameter_has_one_optimizer() -> None:
    from specviz.training.fit import optimizers

    model: nn.Module = _tiny(0)
    phase = Phase("test", minutes=1, muon_lr=0.01, adam_lr=0.01)
    owned = [p for o in optimizers(model, phase) for g in o.param_groups for p in g["params"]]
    assert {id(p) for p in owned} == {id(p) for p in model.parameters()}
    assert len(owned) == len({id(p) for p in owned})


@pytest.mark.slow
@pytest.mark.parametrize("way", ["_apart", "_together"])
def test_documents_of_a_row_do_not_read_each_other(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Together in a row or a row each, as a CPU or a GPU reads them, the loss is the same."""
    monkeypatch.setattr(losses, "_apart", getattr(losses, way))
    model, draft = _tiny(1), _tiny(2)
    texts = [Encoded([2, 3 + n, 4, 5 + n, 1], 2) for n in range(4)]
    packed = pack([texts[:2], texts[2:]], pad=0, next_document=4)
    each = pack([[text] for text in texts], pad=0, next_document=4)
    for loss in (next_token_loss(model, "cpu"), distillation_loss(draft, model, "cpu")):
        (together, weight), (apart, same) = loss(packed), loss(each)
        assert weight == pytest.approx(same)
        assert together.item() == pytest.approx(apart.item(), rel=1e-4)
