"""Which tensors a draft or head must have, may have, and how large they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from specviz.checkpoints.config import Config, Sizes, size_of

Shape = tuple[int, ...]
Shapes = dict[str, Shape]


@dataclass(frozen=True, slots=True)
class Expected:
    """Shapes by name."""

    required: Shapes
    optional: Shapes


def of_model(config: Config, sizes: Sizes) -> Expected:
    """A Llama, Qwen2 or Qwen3 folder, as transformers saves it."""
    table = (sizes.vocabulary, sizes.hidden)
    required: Shapes = {"model.embed_tokens.weight": table, "model.norm.weight": (sizes.hidden,)}
    optional: Shapes = {}
    for layer in range(sizes.layers):
        prefix = f"model.layers.{layer}."
        required |= decoder_layer(prefix, config, sizes)
        required[f"{prefix}input_layernorm.weight"] = (sizes.hidden,)
        optional |= biases(prefix, sizes)
        optional[f"{prefix}self_attn.rotary_emb.inv_freq"] = (sizes.head_dim // 2,)
    tied = bool(config.get("tie_word_embeddings"))
    (optional if tied else required)["lm_head.weight"] = table
    return Expected(required, optional)


def of_eagle(config: Config, sizes: Sizes) -> Expected:
    """vLLM 0.33 `llama_eagle.py`: fc over token and hidden state, a first layer without a norm."""
    required: Shapes = {"fc.weight": (sizes.hidden, 2 * sizes.hidden)}
    optional: Shapes = {"fc.bias": (sizes.hidden,), **_tables(sizes, sizes.vocabulary)}
    for layer in range(sizes.layers):
        prefix = f"layers.{layer}."
        required |= decoder_layer(prefix, config, sizes)
        optional |= biases(prefix, sizes)
        norms = optional if layer == 0 else required
        norms[f"{prefix}input_layernorm.weight"] = (sizes.hidden,)
    return Expected(required, optional)


def of_eagle3(
    config: Config, sizes: Sizes, first: str, features: int, target_hidden: int, drafts: int
) -> Expected:
    """vLLM 0.33 `llama_eagle3.py`: `features` layers of the target, a first layer over two rows.

    `first` is the prefix of the first layer (`midlayer.` or `layers.0.`), `drafts` the size of the
    draft's vocabulary.
    """
    hidden = sizes.hidden
    required: Shapes = {
        "fc.weight": (hidden, features * target_hidden),
        "norm.weight": (hidden,),
        "lm_head.weight": (drafts, hidden),
        f"{first}hidden_norm.weight": (hidden,),
    }
    optional: Shapes = {**_tables(sizes, drafts), "d2t": (drafts,), "t2d": (sizes.vocabulary,)}
    optional |= {"mask_hidden": (1, features * target_hidden)}
    eagle = config.get("eagle_config")
    nested = eagle if isinstance(eagle, dict) else {}
    if nested.get("norm_before_fc", config.get("norm_before_fc")):
        required["input_norm.weight"] = (features * target_hidden,)
    if config.get("fc_norm"):
        required |= {f"fc_norm.{one}.weight": (target_hidden,) for one in range(features)}
    for layer in range(sizes.layers):
        prefix = f"layers.{layer}." if layer else first
        required |= decoder_layer(prefix, config, sizes, rows=1 if layer else 2)
        required[f"{prefix}input_layernorm.weight"] = (hidden,)
        optional |= biases(prefix, sizes)
    return Expected(required, {name: optional[name] for name in optional if name not in required})


def of_medusa(config: Config, name: str) -> Expected:
    """vLLM 0.32 `medusa.py`; vLLM 0.33 no longer has it."""
    hidden, vocabulary = (size_of(config, key, name) for key in ("hidden_size", "vocab_size"))
    heads = size_of(config, "num_heads", name)
    layers = size_of(config, "num_hidden_layers", name, 1)
    table = (vocabulary, hidden)
    required: Shapes = {}
    optional: Shapes = {}
    for head in range(heads):
        for layer in range(layers):
            block = f"blocks.{head}.layers.{layer}"
            required[f"{block}.weight"] = (hidden, hidden)
            kept = required if config.get("medusa_fc_bias") else optional
            kept[f"{block}.bias"] = (hidden,)
        if not config.get("original_lm_head"):
            required[f"lm_heads.{head}.weight"] = table
    kept_tokens = size_of(config, "truncated_vocab_size", name, vocabulary)
    if config.get("original_lm_head"):
        shared = (kept_tokens, hidden)
        optional |= {"lm_head.weight": shared, "lm_heads.0.weight": shared}
    if kept_tokens < vocabulary:
        required["token_map"] = (kept_tokens,)
    return Expected(required, optional)


def decoder_layer(prefix: str, config: Config, sizes: Sizes, rows: int = 1) -> Shapes:
    """Attention, MLP and the norm between them; attention reads `rows` vectors side by side."""
    queries, keys = sizes.heads * sizes.head_dim, sizes.kv_heads * sizes.head_dim
    read = rows * sizes.hidden
    found: Shapes = {
        "self_attn.q_proj.weight": (queries, read),
        "self_attn.k_proj.weight": (keys, read),
        "self_attn.v_proj.weight": (keys, read),
        "self_attn.o_proj.weight": (sizes.hidden, queries),
        "mlp.gate_proj.weight": (sizes.intermediate, sizes.hidden),
        "mlp.up_proj.weight": (sizes.intermediate, sizes.hidden),
        "mlp.down_proj.weight": (sizes.hidden, sizes.intermediate),
        "post_attention_layernorm.weight": (sizes.hidden,),
    }
    if config.get("model_type") == "qwen3":
        found |= {f"self_attn.{one}_norm.weight": (sizes.head_dim,) for one in "qk"}
    return {f"{prefix}{name}": shape for name, shape in found.items()}


def biases(prefix: str, sizes: Sizes) -> Shapes:
    """Of a layer: Qwen2 has those of attention, other models by their configuration."""
    queries, keys = sizes.heads * sizes.head_dim, sizes.kv_heads * sizes.head_dim
    found: Mapping[str, Shape] = {
        "self_attn.q_proj": (queries,),
        "self_attn.k_proj": (keys,),
        "self_attn.v_proj": (keys,),
        "self_attn.o_proj": (sizes.hidden,),
        "mlp.gate_proj": (sizes.intermediate,),
        "mlp.up_proj": (sizes.intermediate,),
        "mlp.down_proj": (sizes.hidden,),
    }
    return {f"{prefix}{name}.bias": shape for name, shape in found.items()}


def _tables(sizes: Sizes, drafts: int) -> Shapes:
    """Embeddings and vocabulary matrix: heads may bring their own or take the target's."""
    return {
        "embed_tokens.weight": (sizes.vocabulary, sizes.hidden),
        "lm_head.weight": (drafts, sizes.hidden),
    }
