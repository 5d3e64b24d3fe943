"""Random models of a few thousand weights, made in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from specviz.config import Sampling
from specviz.engines.embedded.checkpoint import ModelConfig
from specviz.engines.embedded.decode import Decoder, Round
from specviz.engines.embedded.draft import Proposer
from specviz.engines.embedded.kv_cache import KVCache
from specviz.engines.embedded.model import Llama, Sublayers
from specviz.engines.embedded.sampler import Sampler

CPU = torch.device("cpu")
HIDDEN, HEADS, KV_HEADS, HEAD_DIM, MLP = 32, 4, 2, 8, 48


def some_skipped(layers: int) -> Sublayers:
    """Every other MLP of the inner layers, and one attention."""
    mlp = tuple(layer % 2 == 0 or layer == layers - 1 for layer in range(layers))
    return Sublayers((True,) * (layers - 1) + (layers == 1,), mlp)


def random_llama(
    layers: int = 4, *, vocabulary: int = 40, seed: int = 0, max_positions: int = 512
) -> Llama:
    """A model whose predictions differ from token to token."""
    config = ModelConfig(
        model_type="llama",
        layers=layers,
        hidden=HIDDEN,
        heads=HEADS,
        kv_heads=KV_HEADS,
        head_dim=HEAD_DIM,
        vocabulary=vocabulary,
        norm_eps=1e-6,
        max_positions=max_positions,
        eos_ids=frozenset(),
        inverse_frequencies=1.0 / 10000.0 ** (torch.arange(0, HEAD_DIM, 2) / HEAD_DIM),
        tied=True,
    )
    generator = torch.Generator().manual_seed(seed)

    def random(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator) * 0.25

    weights = {"model.embed_tokens.weight": 4 * random(vocabulary, HIDDEN)}
    weights["model.norm.weight"] = torch.ones(HIDDEN)
    for layer in range(layers):
        prefix = f"model.layers.{layer}"
        weights |= {
            f"{prefix}.input_layernorm.weight": torch.ones(HIDDEN),
            f"{prefix}.post_attention_layernorm.weight": torch.ones(HIDDEN),
            f"{prefix}.self_attn.q_proj.weight": random(HEADS * HEAD_DIM, HIDDEN),
            f"{prefix}.self_attn.k_proj.weight": random(KV_HEADS * HEAD_DIM, HIDDEN),
            f"{prefix}.self_attn.v_proj.weight": random(KV_HEADS * HEAD_DIM, HIDDEN),
            f"{prefix}.self_attn.o_proj.weight": random(HIDDEN, HEADS * HEAD_DIM),
            f"{prefix}.mlp.gate_proj.weight": random(MLP, HIDDEN),
            f"{prefix}.mlp.up_proj.weight": random(MLP, HIDDEN),
            f"{prefix}.mlp.down_proj.weight": random(HIDDEN, MLP),
        }
    with torch.inference_mode():
        weights = {name: weight.clone() for name, weight in weights.items()}
        return Llama(config, weights, torch.float32, CPU)


def sampler(temperature: float = 0.0, seed: int = 0, *, sampled_drafts: bool = True) -> Sampler:
    return Sampler(Sampling(temperature, seed=seed), CPU, sampled_drafts=sampled_drafts)


def rounds(
    target: Llama,
    proposer: Proposer | None,
    prompt_ids: Sequence[int],
    *,
    k: int,
    length: int,
    temperature: float = 0.0,
    seed: int = 0,
    cache: KVCache | None = None,
) -> Iterator[tuple[Round, KVCache]]:
    """Rounds until `length` tokens are out, each with the target's cache as it is then."""
    decoder = Decoder(target, proposer, cache=cache)
    emitted = 0
    for done in decoder.rounds(prompt_ids, sampler(temperature, seed), k):
        yield done, decoder.cache
        emitted += len(done.token_ids)
        if emitted >= length:
            return


def decode(
    target: Llama, proposer: Proposer | None, prompt_ids: Sequence[int], length: int, k: int = 0
) -> list[int]:
    """The first `length` tokens of greedy decoding."""
    done = rounds(target, proposer, prompt_ids, k=k, length=length)
    return [token for one, _ in done for token in one.token_ids][:length]
