"""Induction heads by construction: an untrained model copies what it has never read."""

from __future__ import annotations

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from specviz.training.family import draft_config, new_model, target_config

TOKENS = 40


@torch.no_grad()
def copied(model: LlamaForCausalLM) -> float:
    """The share of random tokens that are predicted when they come a second time."""
    random = torch.Generator().manual_seed(3)
    once = torch.randint(8, model.config.vocab_size, (10, TOKENS), generator=random)
    predicted = model(torch.cat([once, once], dim=1)).logits.argmax(dim=-1)
    return float((predicted[:, TOKENS:-1] == once[:, 1:]).float().mean())


@pytest.mark.slow
@pytest.mark.parametrize("config", [draft_config()], ids=["draft"])
def test_an_untrained_model_copies(config: LlamaConfig) -> None:
    assert copied(LlamaForCausalLM(config)) < 0.02
    assert copied(new_model(config, seed=1)) > 0.9


@pytest.mark.slow
def test_it_copies_by_looking_back_and_looking_up() -> None:
    for layer in (0, 1):
        model = new_model(target_config(), seed=1)
        torch.nn.init.zeros_(model.model.layers[layer].self_attn.q_proj.weight)
        assert copied(model) < 0.1


@pytest.mark.slow
def test_it_looks_back_by_the_models_own_rope_base() -> None:
    config = target_config()
    config.rope_parameters = {"rope_type": "default", "rope_theta": 1e6}
    assert copied(new_model(config, seed=1)) > 0.9


@pytest.mark.slow
def test_a_seed_says_it_all() -> None:
    first, same, other = (new_model(draft_config(), seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(first[name], same[name]) for name in first)
    name = "model.layers.1.self_attn.v_proj.weight"
    assert not torch.equal(first[name], other[name])
