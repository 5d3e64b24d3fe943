"""An EAGLE-3 head of one format in the other: Speculators' or SpecForge's.

The tensors are the same under other names, so a head drafts the same from both, bit for bit. As
Speculators 0.9 (`convert/eagle/eagle3_converter.py`) and SpecForge 0.2 (`export/to_sglang.py`)
write them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from specviz.checkpoints.aux_layers import EAGLE_CONFIG, LAYERS_KEY, aux_layers
from specviz.checkpoints.check import check_pair
from specviz.checkpoints.config import (
    LAYER_CONFIG,
    SPECULATORS_CONFIG,
    SPECULATORS_TYPE,
    Config,
    architectures,
    size_of,
)
from specviz.checkpoints.files.safetensors import Tensor, hold_the_same
from specviz.checkpoints.files.written import write_folder
from specviz.checkpoints.finding import Verdict
from specviz.checkpoints.folder import Checkpoint, open_checkpoint
from specviz.checkpoints.format import EAGLE3_FORMATS, Format
from specviz.checkpoints.frameworks import is_deep
from specviz.checkpoints.tensors import drafts_of, unchecked
from specviz.checkpoints.weights import EMBEDDINGS, embeddings_of
from specviz.errors import UsageError

SERVED_K = 5
"""K of a server that is given only a Speculators folder."""
HEAD_KEYS = (
    *("draft_vocab_size", "target_hidden_size", "tie_word_embeddings", LAYERS_KEY, EAGLE_CONFIG),
    *("norm_before_residual", "norm_before_fc", "fc_norm", "norm_output"),
)
"""What is next to the layer's configuration in a Speculators folder."""
OWN_PREFIX = "specviz_"
SPECULATORS_KEYS = (SPECULATORS_TYPE, SPECULATORS_CONFIG, "speculators_version")
FORMATS = (Format.SPECULATORS, Format.SPECFORGE)


def convert(head: Path, to: Format, target: str, out: Path) -> None:
    """Write the head in `head` to the new folder `out`, in the format `to`.

    `target` is the folder of the head's target; a Speculators folder names it as it is given here.
    Raises UsageError for a head that is broken or that the format cannot hold.
    """
    folder = Path(target).expanduser()
    draft = _opened(head, folder)
    own = open_checkpoint(folder)
    layers = size_of(own.config, "num_hidden_layers", own.name)
    if to is Format.SPECULATORS:
        config = _speculators_config(draft, own, target, layers)
        tensors = _renamed(draft, "midlayer.", "layers.0.")
        theirs = embeddings_of(own.tensors or {})
        if EMBEDDINGS not in tensors and theirs is not None:
            tensors[EMBEDDINGS] = theirs
    else:
        config = _specforge_config(draft, layers)
        tensors = _renamed(draft, "layers.0.", "midlayer.")
        _drop_target_embeddings(tensors, own)
    write_folder(out, config, tensors)


def _opened(head: Path, target: Path) -> Checkpoint:
    found = check_pair(head, target)
    if wrong := [one.sentence for one in found if one.verdict is Verdict.REFUSED]:
        raise UsageError(wrong[0])
    draft = open_checkpoint(head)
    if draft.format not in EAGLE3_FORMATS or unchecked(draft):
        raise UsageError(
            f"{head} has no EAGLE-3 head in safetensors: Speculators' and SpecForge's formats are "
            "converted into each other, nothing else."
        )
    return draft


def _renamed(draft: Checkpoint, old: str, new: str) -> dict[str, Tensor]:
    return {
        f"{new}{name.removeprefix(old)}" if name.startswith(old) else name: tensor
        for name, tensor in (draft.tensors or {}).items()
    }


def _drop_target_embeddings(tensors: dict[str, Tensor], target: Checkpoint) -> None:
    """Engines share the target's, so SpecForge leaves them out; a head's own ones stay."""
    own, theirs = tensors.get(EMBEDDINGS), embeddings_of(target.tensors or {})
    if own is None or theirs is None or (own.dtype, own.shape) != (theirs.dtype, theirs.shape):
        return
    if hold_the_same(own, theirs):
        del tensors[EMBEDDINGS]


def _head_keys(draft: Checkpoint, layers: int) -> dict[str, Any]:
    """What any format says of the head itself."""
    config = draft.config
    kept = {key: config[key] for key in config if key in HEAD_KEYS or key.startswith(OWN_PREFIX)}
    kept.pop(EAGLE_CONFIG, None)
    return kept | {
        "draft_vocab_size": drafts_of(draft),
        "norm_before_residual": bool(config.get("norm_before_residual")),
        "tie_word_embeddings": False,
        LAYERS_KEY: list(aux_layers(config, layers)),
    }


def _layer_keys(config: Config) -> dict[str, Any]:
    """What any format says of the head's decoder layer."""
    others = (*HEAD_KEYS, *SPECULATORS_KEYS, LAYER_CONFIG, "architectures")
    return {
        key: value
        for key, value in config.items()
        if key not in others and not key.startswith(OWN_PREFIX)
    }


def _speculators_config(
    draft: Checkpoint, target: Checkpoint, named: str, layers: int
) -> dict[str, Any]:
    """`named`: the target as its user wrote it."""
    kind = str(draft.config.get("model_type"))
    layer = {**_layer_keys(draft.config), "tie_word_embeddings": False}
    return {
        "architectures": ["Eagle3Speculator"],
        SPECULATORS_TYPE: "eagle3",
        SPECULATORS_CONFIG: {
            "algorithm": "eagle3",
            "default_proposal_method": "greedy",
            "proposal_methods": [{"proposal_type": "greedy", "speculative_tokens": SERVED_K}],
            "verifier": {"name_or_path": named, "architectures": architectures(target.config)},
        },
        LAYER_CONFIG: {**layer, "architectures": [f"{kind.capitalize()}ForCausalLM"]},
        **_head_keys(draft, layers),
    }


def _specforge_config(draft: Checkpoint, layers: int) -> dict[str, Any]:
    """With the layers twice: as vLLM counts them, and in `eagle_config` as SGLang does.

    Raises UsageError for what a SpecForge head cannot be.
    """
    if draft.config.get("model_type") != "llama":
        raise UsageError(
            f"SpecForge and SGLang have EAGLE-3 heads of a Llama layer, {draft.name} has one of "
            f"{draft.config.get('model_type')}: serve it with vLLM."
        )
    if is_deep(draft):
        raise UsageError(
            f"SpecForge and SGLang have EAGLE-3 heads of one layer, {draft.name} has "
            f"{draft.config['num_hidden_layers']}: serve it with vLLM."
        )
    if draft.config.get("norm_before_residual"):
        raise UsageError(
            f"{draft.name} adds the residual after the norm (norm_before_residual), which "
            "SpecForge and SGLang cannot: serve it with vLLM."
        )
    keys = _head_keys(draft, layers)
    if not keys.get("norm_output"):
        keys.pop("norm_output", None)  # SpecForge would leave out the norm before lm_head
    return {
        **_layer_keys(draft.config),
        "architectures": ["LlamaForCausalLMEagle3"],
        **keys,
        EAGLE_CONFIG: {
            "use_aux_hidden_state": True,
            LAYERS_KEY: [layer - 1 for layer in keys[LAYERS_KEY]],
        },
    }
