"""What each engine ignores of a checkpoint without saying so, and who opens its format.

Read in vLLM 0.33 (`models/llama_eagle3.py`, `transformers_utils/configs/speculators/algos.py`),
SGLang 0.5.23 (`models/llama_eagle.py`, `models/llama_eagle3.py`, `model_executor/
model_runner_components/spec_aux_hidden_state.py`), llama.cpp (`conversion/llama.py` at 0274f0f) and
the embedded engine; SGLang and llama.cpp were not run.
"""

from __future__ import annotations

from collections.abc import Iterator

from specviz.checkpoints.aux_layers import aux_layers, default_layers, nested_ids
from specviz.checkpoints.config import MODEL_TYPES, SPECULATORS_TYPE, architectures
from specviz.checkpoints.finding import Finding, ok, warning
from specviz.checkpoints.folder import Checkpoint
from specviz.checkpoints.format import EAGLE3_FORMATS, Format

VLLM, SGLANG, LLAMA_CPP, EMBEDDED = "vLLM", "SGLang", "llama.cpp", "embedded engine"
ENGINES = frozenset((VLLM, SGLANG, LLAMA_CPP, EMBEDDED))
"""Subjects of findings that concern one engine alone."""

OPENED_BY = {
    Format.MODEL: ((VLLM, SGLANG, EMBEDDED), ", llama.cpp once it is GGUF"),
    Format.SPECULATORS: (
        (VLLM, EMBEDDED),
        ", llama.cpp once it is GGUF; SGLang does not: write it for SGLang with `specviz convert "
        "--to specforge`",
    ),
    Format.SPECFORGE: ((VLLM, SGLANG, EMBEDDED), ", llama.cpp once it is GGUF"),
    Format.EAGLE3: (
        (VLLM, EMBEDDED),
        ", llama.cpp once it is GGUF; SGLang skips layers.0 without a word: write it for SGLang "
        "with `specviz convert --to specforge`",
    ),
    Format.EAGLE: ((VLLM, EMBEDDED), "; llama.cpp does not have EAGLE-1 and 2"),
    Format.MEDUSA: (("vLLM up to 0.32", EMBEDDED), "; SGLang and llama.cpp do not"),
    Format.DFLASH: (
        (VLLM, SGLANG),
        " as their method dflash, llama.cpp once it is GGUF; the embedded engine does not have it",
    ),
}
"""The engines that open a folder of a format, and the rest of the sentence."""
DEEP = "; the heads of SGLang, llama.cpp and the embedded engine have one layer"
VLLM_SPECULATORS = ("eagle3", "peagle", "dflash", "dflash2", "dspark")

VLLM_SOURCE = "vLLM 0.33, transformers_utils/configs/speculators/algos.py"
SGLANG_SOURCE = "SGLang 0.5.23, models/llama_eagle3.py"
SGLANG_LAYERS = "SGLang 0.5.23, model_runner_components/spec_aux_hidden_state.py"
SPECFORGE_SOURCE = "SpecForge 0.2, modeling/draft/llama3_eagle.py: compute_logits"
SGLANG_EAGLE = "SGLang 0.5.23, models/llama_eagle.py"
LLAMA_CPP_SOURCE = "llama.cpp 0274f0f, conversion/llama.py"
MEDUSA_SOURCE = "vLLM 0.32, models/medusa.py"


def opened_by(draft: Checkpoint) -> Finding | None:
    """Which engines open the draft; None where that is not known."""
    kind = draft.raw.get(SPECULATORS_TYPE)
    if draft.format is Format.SPECULATORS and kind != "eagle3":
        if kind in VLLM_SPECULATORS:
            return ok("engines", f"vLLM 0.33 opens Speculators' {kind}.", VLLM_SOURCE)
        return warning(
            "engines",
            f"vLLM 0.33 does not open Speculators' {str(kind)[:40]}: it has "
            f"{', '.join(VLLM_SPECULATORS)}.",
            VLLM_SOURCE,
        )
    if draft.format is not Format.MEDUSA and draft.config.get("model_type") not in MODEL_TYPES:
        return None
    return ok("engines", _opening(draft))


def _opening(draft: Checkpoint) -> str:
    engines, others = OPENED_BY[draft.format]
    deep = is_deep(draft)
    opening = [
        f"the {one}" if one == EMBEDDED else one
        for one in engines
        if one != EMBEDDED or (draft.tensors is not None and not deep)
    ]
    verb = "open" if len(opening) > 1 else "opens"
    *most, last = opening
    listed = f"{', '.join(most)} and {last}" if most else last
    return f"{listed} {verb} it{DEEP if deep else others}."


def is_deep(draft: Checkpoint) -> bool:
    """Whether it is a head of several layers."""
    heads = (Format.EAGLE, *EAGLE3_FORMATS)
    return draft.format in heads and draft.config.get("num_hidden_layers", 1) != 1


def ignored(draft: Checkpoint, layers: int) -> list[Finding]:
    """What engines ignore of a draft or head for a target of `layers` layers. Raises UsageError."""
    if draft.format in EAGLE3_FORMATS:
        return [
            *_by_vllm(draft),
            *_by_sglang(draft, layers),
            *_by_specforge(draft),
            *_by_llama_cpp(draft, layers),
            *_by_embedded(draft),
        ]
    if draft.format is Format.EAGLE:
        return [*_of_eagle(draft), *_by_embedded(draft)]
    if draft.format is Format.MEDUSA:
        return list(_of_medusa(draft))
    return []


def _by_vllm(draft: Checkpoint) -> Iterator[Finding]:
    if draft.format is Format.SPECULATORS and "norm_before_residual" not in draft.config:
        yield warning(
            VLLM,
            "config.json has no norm_before_residual: vLLM takes it for true, Speculators and the "
            "embedded engine for false, so write what the head was trained with.",
            VLLM_SOURCE,
        )


def _by_sglang(draft: Checkpoint, layers: int) -> Iterator[Finding]:
    if draft.format is not Format.SPECFORGE:
        return  # SGLang does not open it at all
    config = draft.config
    kinds = architectures(config)
    if kinds and "LlamaForCausalLMEagle3" not in kinds:
        yield warning(
            SGLANG,
            f"SGLang does not take {kinds[0][:60]} for an EAGLE-3 head: name the architecture "
            "LlamaForCausalLMEagle3 for SGLang.",
            SGLANG_SOURCE,
        )
    ids, nested = aux_layers(config, layers), nested_ids(config)
    seen = tuple(one + 1 for one in nested) if nested else default_layers(layers)
    if layers in ids:
        yield warning(
            SGLANG,
            f"SGLang cannot read layer {layers}, the output of the last one, so fc.weight would "
            "not fit: use another engine, or a head trained on earlier layers.",
            "SGLang 0.5.23, models/llama.py",
        )
    elif seen != ids:
        yield warning(
            SGLANG,
            f"SGLang would read the layers {_listed(seen)}, not {_listed(ids)}: it looks into "
            "eagle_config only and counts outputs, so let `specviz convert --to specforge` write "
            "both.",
            SGLANG_LAYERS,
        )
    if config.get("draft_vocab_size") is None:
        yield warning(
            SGLANG, "SGLang needs draft_vocab_size in config.json: write it.", SGLANG_SOURCE
        )
    if config.get("norm_before_residual"):
        yield warning(
            SGLANG,
            "SGLang ignores norm_before_residual and adds the residual before the norm, so few "
            "drafts would be accepted: use another engine.",
            SGLANG_SOURCE,
        )
    if config.get("tie_word_embeddings"):
        yield warning(
            SGLANG,
            "SGLang would take the embeddings for lm_head, because tie_word_embeddings is true: "
            "write false.",
            SGLANG_SOURCE,
        )
    if biases := sorted(name for name in draft.names if name.endswith(".bias")):
        yield warning(
            SGLANG, f"SGLang skips {biases[0]} and other biases of attention.", SGLANG_SOURCE
        )


def _by_specforge(draft: Checkpoint) -> Iterator[Finding]:
    if draft.format is Format.SPECFORGE and "norm_output" in draft.config:
        yield warning(
            "SpecForge",
            "By norm_output SpecForge means a norm before lm_head; vLLM, SGLang and the embedded "
            "engine mean that the next step reads the normed output, so leave it out unless the "
            "head was trained like that.",
            SPECFORGE_SOURCE,
        )


def _by_llama_cpp(draft: Checkpoint, layers: int) -> Iterator[Finding]:
    if is_deep(draft):
        return  # said already
    if draft.config.get("draft_vocab_size") is None:
        yield warning(
            LLAMA_CPP,
            "llama.cpp's converter knows an EAGLE-3 head by draft_vocab_size in config.json: write "
            "it.",
            LLAMA_CPP_SOURCE,
        )
    ids, taken = aux_layers(draft.config, layers), default_layers(layers)
    if ids != taken:
        yield warning(
            LLAMA_CPP,
            f"llama.cpp's converter writes the layers {_listed(taken)} whatever config.json says, "
            f"so the head would not see {_listed(ids)}: correct extract_layers in the GGUF.",
            LLAMA_CPP_SOURCE,
        )
    if draft.config.get("norm_output"):
        yield warning(
            LLAMA_CPP,
            "llama.cpp's converter ignores norm_output, so later drafted tokens would be worse.",
            LLAMA_CPP_SOURCE,
        )


def _by_embedded(draft: Checkpoint) -> list[Finding]:
    layers = draft.config.get("num_hidden_layers", 1)
    if layers == 1:
        return []
    return [
        warning(
            EMBEDDED,
            f"The embedded engine runs heads of one layer, this one has {layers}: use vLLM.",
        )
    ]


def _of_eagle(draft: Checkpoint) -> Iterator[Finding]:
    if "fc.bias" in draft.names:
        yield warning(
            VLLM, "vLLM's fc has no bias: it refuses the name fc.bias.", "vLLM 0.33, llama_eagle.py"
        )
    else:
        yield warning(
            SGLANG,
            "SGLang gives fc a bias and leaves it random where the file has none: add an fc.bias "
            "of zeros for SGLang.",
            SGLANG_EAGLE,
        )
    kinds = architectures(draft.config)
    if kinds and "LlamaForCausalLMEagle" not in kinds:
        yield warning(
            SGLANG,
            f"SGLang does not take {kinds[0][:60]} for an EAGLE head: name the architecture "
            "LlamaForCausalLMEagle for SGLang.",
            SGLANG_EAGLE,
        )


def _of_medusa(draft: Checkpoint) -> Iterator[Finding]:
    names, config = draft.names, draft.config
    if any(name.endswith(".bias") for name in names) and not config.get("medusa_fc_bias"):
        yield warning(
            VLLM,
            "vLLM skips the biases, because medusa_fc_bias is not true: write true.",
            MEDUSA_SOURCE,
        )
    if config.get("num_hidden_layers", 1) != 1:
        yield warning(EMBEDDED, "The embedded engine reads the first layer of each head only.")
    if "token_map" in names:
        yield warning(EMBEDDED, "The embedded engine ignores token_map: use vLLM.")


def _listed(ids: tuple[int, ...]) -> str:
    return ", ".join(map(str, ids))
