"""Two tokenizers, by their `tokenizer.json`: the first difference that changes token ids."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specviz.checkpoints.files.json_object import read_json
from specviz.errors import UsageError

TOKENIZER = "tokenizer.json"


@dataclass(frozen=True, slots=True)
class Difference:
    """`of_vocabulary`: ids stand for other tokens. Else only special tokens do, or texts are cut
    elsewhere, which a draft can live with: it gets the target's ids, never a text."""

    words: str
    of_vocabulary: bool


def first_difference(target: Path, draft: Path) -> Difference | None:
    """Between the files of two folders, None where equal texts become equal ids.

    Raises UsageError for a file that is missing or no tokenizer.
    """
    ours, theirs = (read_json(folder / TOKENIZER) for folder in (target, draft))
    try:
        return _first(ours, theirs)
    except (ValueError, AttributeError, TypeError, KeyError, IndexError) as error:
        raise UsageError(
            f"{TOKENIZER} of {draft.name} or {target.name} is no tokenizer ({error}): copy both "
            "again."
        ) from error


def tokens_by_id(folder: Path) -> dict[int, str]:
    """Every token of a folder's tokenizer. Raises UsageError."""
    tokenizer = read_json(folder / TOKENIZER)
    try:
        known = {**_vocabulary(tokenizer["model"]), **_special(tokenizer)}
        return {place: token for token, place in known.items()}
    except (AttributeError, TypeError, KeyError, IndexError) as error:
        raise UsageError(
            f"{folder / TOKENIZER} is no tokenizer ({error}): copy it again."
        ) from error


def _first(target: Mapping[str, Any], draft: Mapping[str, Any]) -> Difference | None:
    ours, theirs = target["model"], draft["model"]
    of_vocabulary = _other_value(
        "kind of tokenizer", ours.get("type"), theirs.get("type")
    ) or _other_vocabulary(_vocabulary(ours), _vocabulary(theirs))
    if of_vocabulary:
        return Difference(of_vocabulary, of_vocabulary=True)
    of_rest = (
        _other_merge(ours.get("merges") or [], theirs.get("merges") or [])
        or _other_vocabulary(_special(target), _special(draft), "special token")
        or _other_value("normaliser", target.get("normalizer"), draft.get("normalizer"))
        or _other_value("pre-tokeniser", target.get("pre_tokenizer"), draft.get("pre_tokenizer"))
    )
    return Difference(of_rest, of_vocabulary=False) if of_rest else None


def _other_value(name: str, ours: object, theirs: object) -> str | None:
    if ours == theirs:
        return None
    short = [json.dumps(value, ensure_ascii=False)[:60] for value in (ours, theirs)]
    return f"{name}: target {short[0]}, draft {short[1]}"


def _vocabulary(model: Mapping[str, Any]) -> dict[str, int]:
    """Ids by token; a unigram model lists its tokens in the order of their ids."""
    vocabulary = model.get("vocab") or {}
    if isinstance(vocabulary, dict):
        return vocabulary
    return {str(entry[0]): place for place, entry in enumerate(vocabulary)}


def _special(tokenizer: Mapping[str, Any]) -> dict[str, int]:
    return {token["content"]: token["id"] for token in tokenizer.get("added_tokens") or ()}


def _other_vocabulary(
    ours: Mapping[str, int], theirs: Mapping[str, int], noun: str = "token"
) -> str | None:
    """The token with the smallest id on which the two disagree."""
    if ours == theirs:
        return None
    different = {
        token for token in ours.keys() | theirs.keys() if ours.get(token) != theirs.get(token)
    }
    ids = {token: min(_ids(token, ours, theirs)) for token in different}
    first = min(sorted(different), key=ids.__getitem__)
    sides = [
        f"id {vocabulary[first]}" if first in vocabulary else "missing"
        for vocabulary in (ours, theirs)
    ]
    return (
        f"{noun} {first!r}: target {sides[0]}, draft {sides[1]}; "
        f"{len(different):,} differ ({len(ours):,} and {len(theirs):,} in all)"
    )


def _ids(token: str, ours: Mapping[str, int], theirs: Mapping[str, int]) -> list[int]:
    return [vocabulary[token] for vocabulary in (ours, theirs) if token in vocabulary]


def _other_merge(ours: list[Any], theirs: list[Any]) -> str | None:
    if ours == theirs:
        return None
    place = next(
        (place for place, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]),
        min(len(ours), len(theirs)),
    )
    return f"merge {place + 1:,} of {len(ours):,} and {len(theirs):,} differs"
