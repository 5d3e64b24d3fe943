"""Rows of random tokens that can only be predicted by looking back.

Names, words and numbers of a prompt are copied into most answers. Copying has two parts: finding the
place, and writing whatever token is there. From text alone the demo target learns the second part
token by token, digits first, and writes a frequent word in place of a rare one. Tokens drawn from the
whole vocabulary teach it for all of them at once (https://arxiv.org/abs/2209.11895 on induction
heads, https://arxiv.org/abs/2312.04927 on recalling by key).
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

REPEATED = (6, 48)  # tokens of a sequence that comes twice
PAIRS = (4, 20)  # of key and value, asked for in another order


def recall_row(rng: Random, tokens: range, length: int) -> tuple[list[int], list[bool]]:
    """`length` ids out of `tokens`, and for each whether it follows from what was before."""
    ids: list[int] = []
    known: list[bool] = []
    while len(ids) < length:
        exercise = rng.choice((_repeated, _looked_up))
        for token, follows in exercise(rng, tokens):
            ids.append(token)
            known.append(follows)
    return ids[:length], known[:length]


def _repeated(rng: Random, tokens: range) -> Iterator[tuple[int, bool]]:
    sequence = rng.sample(tokens, rng.randint(*REPEATED))
    yield from ((token, False) for token in sequence)
    yield from ((token, place > 0) for place, token in enumerate(sequence))


def _looked_up(rng: Random, tokens: range) -> Iterator[tuple[int, bool]]:
    pairs = rng.randint(*PAIRS)
    keys, values = rng.sample(tokens, pairs), rng.choices(tokens, k=pairs)
    order = list(range(pairs))
    for asked in (False, True):
        for place in order:
            yield keys[place], False
            yield values[place], asked
        rng.shuffle(order)
