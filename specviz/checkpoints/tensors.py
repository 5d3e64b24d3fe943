"""Whether a draft or head has the tensors that it must have, in the right shapes."""

from __future__ import annotations

from collections.abc import Mapping

from specviz.checkpoints.aux_layers import aux_layers
from specviz.checkpoints.config import MODEL_TYPES, SPECULATORS_TYPE, Sizes, read_sizes, size_of
from specviz.checkpoints.files.safetensors import Tensor
from specviz.checkpoints.finding import Finding, ok, refused, warning
from specviz.checkpoints.folder import Checkpoint
from specviz.checkpoints.format import EAGLE3_FORMATS, Format
from specviz.checkpoints.medusa_names import served_name
from specviz.checkpoints.shapes import Expected, Shapes, of_eagle, of_eagle3, of_medusa, of_model

SUBJECT = "tensors"
SILENT = "vLLM 0.33, model_loader/default_loader.py; SGLang 0.5.23, models/llama_eagle3.py"
UNKNOWN_SOURCE = "vLLM 0.33, models/utils.py: AutoWeightsLoader"


def unchecked(draft: Checkpoint) -> str | None:
    """Why the tensors of a draft cannot be held against a list; None where they can."""
    kind = draft.config.get("model_type")
    speculators = draft.raw.get(SPECULATORS_TYPE)
    if draft.format is Format.DFLASH:
        return "DFlash is not known here: its tensors were not checked."
    if draft.tensors is None:
        return (
            "The weights are pickled, which is not read here because that runs what the file says: "
            "save them as safetensors to have shapes and values checked."
        )
    if draft.format is Format.SPECULATORS and speculators != "eagle3":
        return (
            f"Speculators' {str(speculators)[:40]} is not known here: its tensors were not checked."
        )
    if draft.format is not Format.MEDUSA and kind not in MODEL_TYPES:
        return (
            f"The model type {str(kind)[:40]} is not known here: its tensors were not checked, and "
            f"the embedded engine runs {', '.join(MODEL_TYPES)} only."
        )
    if draft.is_quantised:
        return "The weights are quantised: their tensors were not checked."
    return None


def drafts_of(draft: Checkpoint) -> int:
    """How many tokens an EAGLE-3 head drafts. Raises UsageError."""
    vocabulary = size_of(draft.config, "vocab_size", draft.name)
    return size_of(draft.config, "draft_vocab_size", draft.name, vocabulary)


def expected_of(draft: Checkpoint, layers: int, hidden: int) -> Expected:
    """The tensors of a draft for a target of `layers` layers and `hidden` values a row.

    Raises UsageError for a configuration without the sizes.
    """
    if draft.format is Format.MEDUSA:
        return of_medusa(draft.config, draft.name)
    sizes: Sizes = read_sizes(draft.config, draft.name)
    if draft.format is Format.EAGLE:
        return of_eagle(draft.config, sizes)
    if draft.format in EAGLE3_FORMATS:
        features = len(aux_layers(draft.config, layers))
        forged = any(name.startswith("midlayer.") for name in draft.names)
        first = "midlayer." if forged or draft.format is Format.SPECFORGE else "layers.0."
        return of_eagle3(draft.config, sizes, first, features, hidden, drafts_of(draft))
    return of_model(draft.config, sizes)


def check_tensors(draft: Checkpoint, layers: int, hidden: int) -> list[Finding]:
    """One finding for what is missing, one per wrong shape, one for what nobody reads.

    Raises UsageError like `expected_of`.
    """
    assert draft.tensors is not None
    named = draft.tensors
    if draft.format is Format.MEDUSA:
        named = {served_name(name): tensor for name, tensor in named.items()}
    if wrong := _fewer_layers(draft):
        return [wrong]
    expected = expected_of(draft, layers, hidden)
    found = [
        *_missing(expected.required, named, draft.format),
        *_wrong({**expected.optional, **expected.required}, named, draft),
        *_unknown({**expected.optional, **expected.required}, named),
    ]
    if not found:
        return [ok(SUBJECT, f"All {len(named)} tensors are there in their shapes.")]
    return found


def _fewer_layers(draft: Checkpoint) -> Finding | None:
    """A refusal of a head whose configuration was copied from a deeper one's, as that of
    EAGLE3-Vicuna1.3-13B was (40 layers, BaldEagle issue 6)."""
    if draft.format not in (Format.EAGLE, *EAGLE3_FORMATS):
        return None
    said = size_of(draft.config, "num_hidden_layers", draft.name)
    deeper = [name.split(".")[1] for name in draft.names if name.startswith("layers.")]
    there = 1 + max((int(one) for one in deeper if one.isdigit()), default=0)
    if said <= there:
        return None
    sentence = (
        f"config.json says {said} layers and the weights have {there}, so the others would stay as "
        f"initialised: write num_hidden_layers {there}."
    )
    return refused(SUBJECT, sentence, SILENT)


def _missing(required: Shapes, named: Mapping[str, Tensor], found: Format) -> list[Finding]:
    names = [name for name in required if name not in named]
    if not names:
        return []
    lacks = f"{names[0]} and {len(names) - 1} more are" if len(names) > 1 else f"{names[0]} is"
    if found in (Format.EAGLE, *EAGLE3_FORMATS):
        sentence = (
            f"{lacks} missing, which vLLM and SGLang leave as initialised without a word: export "
            "the head again."
        )
        return [refused(SUBJECT, sentence, SILENT)]
    return [refused(SUBJECT, f"{lacks} missing: copy or export the weights again.")]


def _wrong(known: Shapes, named: Mapping[str, Tensor], draft: Checkpoint) -> list[Finding]:
    return [
        refused(
            SUBJECT,
            f"{name} is {list(named[name].shape)}, config.json and the target ask for "
            f"{list(shape)}: {draft.name} was made for other sizes, so name its own target, or "
            "restore its config.json.",
        )
        for name, shape in known.items()
        if name in named and named[name].shape != shape
    ]


def _unknown(known: Shapes, named: Mapping[str, Tensor]) -> list[Finding]:
    names = [name for name in named if name not in known]
    if not names:
        return []
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return [
        warning(
            SUBJECT,
            f"{names[0][:80]}{more} is no tensor of this format: vLLM refuses the name, SGLang and "
            "the embedded engine skip it, so drop it or correct its name.",
            UNKNOWN_SOURCE,
        )
    ]
