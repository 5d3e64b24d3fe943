"""In which format a draft or head is written, from its configuration and its tensors' names.

No sign decides alone: NVIDIA's ModelOpt writes SpecForge's architecture over `layers.0.*`, and the
authors of EAGLE name their heads as a plain Llama, in pickled files.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from specviz.checkpoints.config import SPECULATORS_TYPE, Config, architectures
from specviz.methods import Method


class Format(StrEnum):
    MODEL = "Hugging Face model"
    SPECULATORS = "Speculators"
    SPECFORGE = "SpecForge"  # the names of EAGLE-3's authors: midlayer.*
    EAGLE3 = "EAGLE-3"  # layers.0.* without Speculators' configuration: ModelOpt and others
    EAGLE = "EAGLE"  # 1 and 2: they differ in how they draft, not in their weights
    MEDUSA = "Medusa"
    DFLASH = "DFlash"
    GGUF = "GGUF"


EAGLE3_FORMATS = (Format.SPECULATORS, Format.SPECFORGE, Format.EAGLE3)

DRAFTS_WITH = {
    Method.DRAFT_MODEL: (Format.MODEL, Format.GGUF),
    Method.MIRROR: (Format.MODEL,),
    Method.MEDUSA: (Format.MEDUSA,),
    Method.EAGLE: (Format.EAGLE,),
    Method.EAGLE3: (*EAGLE3_FORMATS, Format.GGUF),
}
"""The formats that a method's weights come in."""


def format_of(config: Config, names: Collection[str]) -> Format:
    """The format of a folder with these tensors; `names` is empty where they were not read."""
    kinds = architectures(config)
    if SPECULATORS_TYPE in config:
        return Format.SPECULATORS
    if config.get("model_type") == "medusa" or "MedusaModel" in kinds:
        return Format.MEDUSA
    if "dflash_config" in config or any("DFlash" in kind for kind in kinds):
        return Format.DFLASH
    if any(name.startswith("midlayer.") for name in names):
        return Format.SPECFORGE
    if "layers.0.hidden_norm.weight" in names:
        return Format.EAGLE3
    if "LlamaForCausalLMEagle3" in kinds:
        return Format.SPECFORGE
    if any("Eagle3" in kind for kind in kinds) or {"fc.weight", "d2t"} <= set(names):
        return Format.EAGLE3
    if "fc.weight" in names or any("Eagle" in kind for kind in kinds):
        return Format.EAGLE
    return Format.MODEL
