"""Which layers of the target an EAGLE-3 head reads.

Id i is the input of layer i, as vLLM, Speculators and the embedded engine count; the number of
layers is the last one's output. SGLang 0.5.23 reads `eagle_config` only and takes id i there for
the output of layer i (`models/llama.py: set_eagle3_layers_to_capture`).
"""

from __future__ import annotations

from typing import Any

from specviz.checkpoints.config import Config
from specviz.checkpoints.finding import Finding, ok, refused, warning
from specviz.errors import UsageError

LAYERS_KEY = "eagle_aux_hidden_state_layer_ids"
EAGLE_CONFIG = "eagle_config"
SUBJECT = "aux layers"
SOURCE = "vLLM 0.33, v1/worker/gpu_model_runner.py and models/interfaces.py"


def default_layers(layers: int) -> tuple[int, ...]:
    """What vLLM, SGLang and Speculators take where a head names none, and llama.cpp always."""
    return 2, layers // 2, layers - 3


def nested_ids(config: Config) -> tuple[int, ...]:
    """The ids in `eagle_config`, the only place where SGLang looks. Raises UsageError."""
    nested = config.get(EAGLE_CONFIG)
    return _ids(nested.get(LAYERS_KEY)) if isinstance(nested, dict) else ()


def aux_layers(config: Config, layers: int) -> tuple[int, ...]:
    """The ids that vLLM takes for a target of `layers` layers. Raises UsageError for others than
    whole numbers."""
    return _ids(config.get(LAYERS_KEY)) or nested_ids(config) or default_layers(layers)


def _ids(found: Any) -> tuple[int, ...]:
    if not found:
        return ()
    if not isinstance(found, list) or not all(type(one) is int for one in found):
        raise UsageError(
            f"{LAYERS_KEY} is {str(found)[:60]}, not a list of whole numbers: restore the head's "
            "own config.json."
        )
    return tuple(found)


def check_aux_layers(config: Config, layers: int) -> Finding:
    """Against a target of `layers` layers. Raises UsageError like `aux_layers`."""
    ids = aux_layers(config, layers)
    listed = ", ".join(map(str, ids))
    beyond = [one for one in ids if not 0 <= one <= layers]
    if beyond:
        return refused(
            SUBJECT,
            f"The head reads layer {beyond[0]} of a target that has the layers 0 to {layers} (the "
            "last is its output): name the target that the head was trained on.",
            SOURCE,
        )
    if list(ids) != sorted(set(ids)):
        return refused(
            SUBJECT,
            f"The head reads the layers {listed}, but every engine reads them in ascending order "
            "and once: sort them, and the columns of fc.weight with them.",
            SOURCE,
        )
    if not config.get(LAYERS_KEY) and not nested_ids(config):
        return warning(
            SUBJECT,
            f"config.json names no {LAYERS_KEY}, so engines read the layers {listed}: add them if "
            "the head was trained on others.",
            SOURCE,
        )
    if not config.get(LAYERS_KEY):
        return warning(
            SUBJECT,
            f"The layers {listed} stand in {EAGLE_CONFIG} only, where vLLM takes them for inputs "
            f"of layers and SGLang for outputs: write {LAYERS_KEY} next to it as vLLM counts.",
            SOURCE,
        )
    return ok(SUBJECT, f"The head reads the layers {listed} of 0 to {layers}.", SOURCE)
