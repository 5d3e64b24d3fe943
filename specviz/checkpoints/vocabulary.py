"""The draft's vocabulary: `d2t`, from draft id to target id, and `t2d`, which target ids it has.

`d2t` holds differences: target id = draft id + d2t[draft id]. vLLM, SGLang and llama.cpp read
`d2t` only; Speculators and SpecForge train with both.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from specviz.checkpoints.files.safetensors import Tensor, read_whole_numbers
from specviz.checkpoints.finding import Finding, ok, refused

SUBJECT = "vocabulary"
D2T_SOURCE = "vLLM 0.33, models/llama_eagle3.py; llama.cpp, conversion/llama.py"
T2D_SOURCE = "Speculators 0.9, model.py: load_vocab_mappings"

Ids = npt.NDArray[np.int64]


def check_maps(tensors: Mapping[str, Tensor], drafts: int, vocabulary: int) -> list[Finding]:
    """Both maps of a head with `drafts` of the target's `vocabulary` tokens.

    The shapes of tensors that are there are taken for checked.
    """
    if "d2t" not in tensors:
        return [_without_d2t(drafts, vocabulary)]
    differences = read_whole_numbers(tensors["d2t"])
    if differences is None:
        return [_not_whole(tensors["d2t"])]
    ids = np.arange(drafts) + differences
    known = read_whole_numbers(tensors["t2d"]) if "t2d" in tensors else None
    wrong = _wrong_ids(ids, differences, known, vocabulary)
    if wrong:
        return [refused(SUBJECT, wrong, D2T_SOURCE)]
    if "t2d" in tensors and known is None:
        return [_not_whole(tensors["t2d"])]
    if known is not None and (contradiction := _contradiction(ids, known)):
        return [refused(SUBJECT, contradiction, T2D_SOURCE)]
    return [ok(SUBJECT, f"The head drafts {drafts:,} of {vocabulary:,} tokens.", D2T_SOURCE)]


def _without_d2t(drafts: int, vocabulary: int) -> Finding:
    if drafts == vocabulary:
        return ok(SUBJECT, f"The head drafts all {vocabulary:,} tokens.", D2T_SOURCE)
    return refused(
        SUBJECT,
        f"The head drafts {drafts:,} of {vocabulary:,} tokens and has no d2t that says which; vLLM "
        "and SGLang would take the first ones without a word: export it again with d2t.",
        D2T_SOURCE,
    )


def _not_whole(tensor: Tensor) -> Finding:
    return refused(
        SUBJECT,
        f"{tensor.name} is {tensor.dtype}, not whole numbers: export the head again without "
        "casting it.",
        D2T_SOURCE,
    )


def _wrong_ids(ids: Ids, stored: Ids, known: Ids | None, vocabulary: int) -> str | None:
    """What is wrong with the target ids that `d2t` leads to."""
    outside = (ids < 0) | (ids >= vocabulary)
    if not outside.any() and len(np.unique(ids)) == len(ids):
        return None
    if known is not None and np.array_equal(np.sort(stored), np.flatnonzero(known)):
        return (
            "d2t holds target ids where engines expect differences (target id - draft id): "
            "subtract 0, 1, 2, … from it."
        )
    if outside.any():
        place = int(outside.argmax())
        return (
            f"d2t leads draft token {place:,} to target token {ids[place]:,} of {vocabulary:,}: "
            "export the head again, or name the target that it was trained on."
        )
    values, counts = np.unique(ids, return_counts=True)
    return (
        f"d2t leads {counts.max():,} draft tokens to target token {values[counts.argmax()]:,}: "
        "export the head again."
    )


def _contradiction(ids: Ids, known: Ids) -> str | None:
    marked = np.flatnonzero(known)
    if len(marked) != len(ids):
        return (
            f"t2d marks {len(marked):,} tokens, d2t leads to {len(ids):,}: one of them belongs to "
            "another head, so export both again."
        )
    if not np.array_equal(np.sort(ids), marked):
        first = int(np.setxor1d(ids, marked)[0])
        return (
            f"t2d and d2t disagree on target token {first:,}: one of them belongs to another head, "
            "so export both again."
        )
    return None
