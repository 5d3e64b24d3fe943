"""Prompt lookup: the last tokens are searched earlier in the context, what followed is drafted.

Saxena, prompt lookup decoding, https://github.com/apoorvumang/prompt-lookup-decoding. Lengths and
the choice of match are vLLM's (`vllm/v1/spec_decode/ngram_proposer.py`): the longest n-gram that
occurred before, and of several occurrences the earliest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from sys import getsizeof

from specviz.engines.embedded.draft import Draft, Outcome, Watch, chain
from specviz.engines.embedded.sampler import Sampler
from specviz.trace import ExtraBytes

SHORTEST, LONGEST = 1, 3
"""prompt_lookup_min and prompt_lookup_max."""


class Ngram:
    """Drafts what followed the first occurrence of the last n tokens."""

    tap_layers: tuple[int, ...] = ()
    watch: Watch | None = None

    def __init__(self, shortest: int = SHORTEST, longest: int = LONGEST) -> None:
        assert 1 <= shortest <= longest
        self._lengths = range(longest, shortest - 1, -1)
        self._followed: dict[tuple[int, ...], int] = {}  # n-gram to where its first sequel starts
        self._indexed = 0  # n-grams that end up to this position are in the index

    def reset(self, prompt_ids: Sequence[int], sampler: Sampler) -> None:
        self._followed = {}
        self._indexed = 0

    def propose(self, context: Sequence[int], k: int) -> Draft:
        self._index(context)
        for n in self._lengths:
            start = self._followed.get(tuple(context[-n:]))
            if start is not None:
                token_ids = context[start : start + k]
                return replace(chain(token_ids, [1.0] * len(token_ids)), matched_tokens=n)
        return Draft(matched_tokens=0)

    def observe(self, outcome: Outcome) -> None:
        """Nothing: the next context holds the outcome."""

    def extra_bytes(self) -> ExtraBytes:
        grams = sum(map(getsizeof, self._followed))
        return ExtraBytes(buffers=getsizeof(self._followed) + grams)

    def _index(self, context: Sequence[int]) -> None:
        """Add the n-grams of `context` that something follows."""
        for end in range(self._indexed + 1, len(context)):
            for n in self._lengths:
                if n <= end:
                    self._followed.setdefault(tuple(context[end - n : end]), end)
        self._indexed = max(self._indexed, len(context) - 1)
