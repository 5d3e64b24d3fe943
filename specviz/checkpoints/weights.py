"""The values of a draft's weights: dtype, and what only reading all of them shows."""

from __future__ import annotations

from collections.abc import Mapping

from specviz.checkpoints.config import Config
from specviz.checkpoints.files.safetensors import Tensor, hold_the_same, is_finite
from specviz.checkpoints.finding import Finding, ok, refused, warning
from specviz.checkpoints.folder import Checkpoint

TORCH_NAMES = {"BF16": "bfloat16", "F16": "float16", "F32": "float32", "F64": "float64"}
DTYPE_SOURCE = "vLLM 0.33, config/speculative.py: the draft gets the target's dtype"
EMBEDDINGS = "embed_tokens.weight"
EMBEDDINGS_SOURCE = "SGLang 0.5.23, speculative/eagle_worker_v2.py: init_lm_head"


def check_dtype(draft: Checkpoint, target: Config) -> Finding:
    kinds = {tensor.dtype for tensor in (draft.tensors or {}).values()} & TORCH_NAMES.keys()
    names = sorted(TORCH_NAMES[kind] for kind in kinds)
    wanted = target.get("dtype") or target.get("torch_dtype")
    if not names:
        return warning("dtype", "The weights are in none of the usual float dtypes: check them.")
    if isinstance(wanted, str) and names != [wanted]:
        return warning(
            "dtype",
            f"The weights are {' and '.join(names)}, the target is {wanted}: engines cast them, so "
            "compare figures in the target's dtype.",
            DTYPE_SOURCE,
        )
    return ok("dtype", f"The weights are {' and '.join(names)}.", DTYPE_SOURCE)


def check_values(draft: Checkpoint, target: Checkpoint) -> list[Finding]:
    """Reads all weights of the draft, and the target's embeddings where the draft has its own."""
    tensors = draft.tensors or {}
    broken = [tensor.name for tensor in tensors.values() if not is_finite(tensor)]
    if broken:
        more = f" and {len(broken) - 1} more" if len(broken) > 1 else ""
        return [
            refused(
                "values",
                f"{broken[0]}{more} has values that are not numbers (NaN or infinite): export it "
                "again from an earlier step of its training.",
            )
        ]
    return [ok("values", "All weights are finite."), *_embeddings(draft, target)]


def _embeddings(draft: Checkpoint, target: Checkpoint) -> list[Finding]:
    own = (draft.tensors or {}).get(EMBEDDINGS)
    theirs = embeddings_of(target.tensors or {})
    if own is None or theirs is None:
        return []
    if (own.dtype, own.shape) == (theirs.dtype, theirs.shape) and hold_the_same(own, theirs):
        return []
    return [
        warning(
            "embeddings",
            "The head brings embeddings that are not the target's: vLLM reads them, SGLang and the "
            "embedded engine take the target's, so few drafts would be accepted there.",
            EMBEDDINGS_SOURCE,
        )
    ]


def embeddings_of(tensors: Mapping[str, Tensor]) -> Tensor | None:
    """A model's embeddings, whatever its name has in front of them."""
    return next((tensors[name] for name in tensors if name.endswith(EMBEDDINGS)), None)
