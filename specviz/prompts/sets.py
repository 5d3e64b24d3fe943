"""Which prompts a benchmark asks: the shipped ones or a file's, all or drawn, in a seeded order."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random

from specviz.errors import UsageError
from specviz.paths import PROMPTS
from specviz.prompts.files import read_conversations, read_prompt_file
from specviz.prompts.formats import FORMATS, Conversation
from specviz.prompts.shipped import CATEGORIES

__all__ = ["FORMATS", "Conversation", "PromptSource", "load_conversations", "shares"]


@dataclass(frozen=True, slots=True)
class PromptSource:
    """Which prompts, as a plan says it.

    `file` None: the shipped prompts. `format`: see `FORMATS`. `count` None takes all; `weights`
    by category say how `count` is shared out; `seed` draws them.
    """

    file: str | None = None
    format: str | None = None
    count: int | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    seed: int = 20


def load_conversations(
    source: PromptSource, note: Callable[[str], None] | None = None
) -> tuple[Conversation, ...]:
    """The prompts of a plan, drawn without replacement, in the order of its seed.

    With weights every category gets its share of `count` (see `shares`), and categories are mixed;
    without `count` it is the largest for which every category suffices. Categories without a
    weight are left out. The same file and source give the same prompts in the same order. `note`
    gets a sentence about entries of the file that are skipped.

    Raises UsageError for a file that cannot be used (see `read_prompt_file`), for an unknown
    category, a weight that is none, and for more prompts than there are.
    """
    if source.count is not None and source.count < 1:
        raise UsageError(f"count must be at least 1, not {source.count}: leave it out for all.")
    if source.file is None:
        if source.format is not None:
            raise UsageError("A prompt format goes with a file: name the file or leave it out.")
        conversations, where = _shipped(), "the shipped prompts"
    else:
        path = Path(source.file).expanduser()
        found = read_prompt_file(path, source.format)
        if found.skipped and note is not None:
            note(found.skipped)
        conversations, where = found.conversations, str(path)
    if source.weights:
        return _drawn_by_weight(conversations, source, where)
    if source.count is not None and source.count > len(conversations):
        raise UsageError(
            f"There are {len(conversations)} prompts in {where}, not {source.count}: lower count, "
            "or leave it out for all."
        )
    return tuple(_shuffled(conversations, source.seed)[: source.count])


def shares(weights: Mapping[str, float], count: int) -> dict[str, int]:
    """How many of `count` each category gets, by largest remainder (Hamilton's method).

    They add up to `count`, and each is its exact share rounded up or down; between equal
    remainders the alphabet decides. `weights`: at least one above 0, none below.
    """
    # As written: 0.1 is a tenth, so that equal remainders are equal.
    exact = {category: Fraction(str(weights[category])) for category in sorted(weights)}
    total = sum(exact.values())
    quotas = {category: count * weight / total for category, weight in exact.items()}
    given = {category: math.floor(quota) for category, quota in quotas.items()}
    left = count - sum(given.values())
    for category in sorted(quotas, key=lambda name: given[name] - quotas[name])[:left]:
        given[category] += 1
    return given


def _drawn_by_weight(
    conversations: Sequence[Conversation], source: PromptSource, where: str
) -> tuple[Conversation, ...]:
    categories: dict[str, list[Conversation]] = {}
    for conversation in conversations:
        if conversation.category is not None:
            categories.setdefault(conversation.category, []).append(conversation)
    available = {category: len(found) for category, found in categories.items()}
    _check_weights(source.weights, available, where)
    if source.count is None:
        needed = shares(source.weights, _largest_count(source.weights, available))
    else:
        needed = shares(source.weights, source.count)
    _check_enough(needed, available, source.count, where)
    # One seed per category: changing one weight does not redraw the other categories.
    drawn = [
        conversation
        for category, number in needed.items()
        for conversation in _shuffled(categories[category], f"{source.seed}/{category}")[:number]
    ]
    return tuple(_shuffled(drawn, source.seed))


def _check_weights(weights: Mapping[str, float], available: Mapping[str, int], where: str) -> None:
    for category, weight in weights.items():
        if category not in available:
            known = f"use {', '.join(available)}" if available else "leave the weights out"
            raise UsageError(f"There is no category {category!r} in {where}: {known}.")
        if not (weight >= 0 and math.isfinite(weight)):
            raise UsageError(f"The weight of {category} must be at least 0, not {weight:g}.")
    if not any(weights.values()):
        raise UsageError("All weights are 0: give at least one category a weight above 0.")


def _check_enough(
    needed: Mapping[str, int], available: Mapping[str, int], count: int | None, where: str
) -> None:
    short = [
        f"{category} has {available[category]} and needs {number}"
        for category, number in needed.items()
        if number > available[category]
    ]
    if short:
        raise UsageError(
            f"There are not enough prompts in {where} for {count} by these weights: "
            f"{', '.join(short)}: lower count, or leave it out for as many as there are."
        )


def _largest_count(weights: Mapping[str, float], available: Mapping[str, int]) -> int:
    """The largest count for which every category suffices.

    Tried from above: by largest remainder a category may get less of a larger count (the Alabama
    paradox), so that the counts that work need not be without a gap.
    """
    total = sum(Fraction(str(weight)) for weight in weights.values())
    # A share is never below its quota rounded down, so here the quota is below available + 1.
    most = min(
        math.ceil((available[category] + 1) * total / Fraction(str(weight))) - 1
        for category, weight in weights.items()
        if weight
    )
    return next(count for count in range(most, 0, -1) if _suffices(weights, available, count))


def _suffices(weights: Mapping[str, float], available: Mapping[str, int], count: int) -> bool:
    given = shares(weights, count)
    return all(given[category] <= available[category] for category in given)


def _shuffled(conversations: Sequence[Conversation], seed: int | str) -> list[Conversation]:
    """In the seed's order. The first n of it are a sample of n, and part of every larger one."""
    order = list(conversations)
    Random(str(seed)).shuffle(order)
    return order


@cache
def _shipped(folder: Path = PROMPTS) -> tuple[Conversation, ...]:
    """The prompts by category: those of the pages, then those for benchmarks alone."""
    return tuple(
        conversation
        for category in CATEGORIES
        for place in (folder, folder / "more")
        for conversation in read_conversations(place / f"{category}.jsonl", "specviz")
    )
