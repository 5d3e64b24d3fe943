"""SuffixDecoding: continuations counted in suffix trees of this and of earlier answers.

Oliaro et al., arXiv 2411.04975 (NeurIPS 2025), section 3; limits and the comparison of candidates
as in the authors' code that vLLM uses (https://github.com/snowflakedb/ArcticInference,
`csrc/suffix_decoding/suffix_tree.cc`), with vLLM's defaults.
"""

from __future__ import annotations

from collections.abc import Sequence

from specviz.engines.embedded.draft import Draft, Outcome, Watch
from specviz.engines.embedded.proposers.suffix_tree import Guess, Place, SuffixTree
from specviz.engines.embedded.sampler import Sampler
from specviz.trace import ExtraBytes

MAX_TREE_DEPTH = 24
MAX_CACHED_REQUESTS = 10_000
MAX_SPEC_FACTOR = 1.0
MIN_TOKEN_PROB = 0.1

MAX_CACHED_TOKENS = 500_000
"""Not vLLM's: a bound on memory (some 250 bytes per token), whatever the answers' lengths."""


class Suffix:
    """Drafts the best-scored continuation of the last tokens.

    One tree holds the prompt and the answer so far, the other the answers of this proposer's
    requests, this one's included. Every match, from one token to the longest, is a candidate: it
    may be continued by `MAX_SPEC_FACTOR` times its length, and its score is the sum of the
    continuation's probabilities, that is the number of tokens expected to be accepted.
    `branches` makes the continuation a tree instead of a path.
    """

    tap_layers: tuple[int, ...] = ()
    watch: Watch | None = None

    def __init__(
        self,
        *,
        branches: bool = False,
        max_cached_requests: int = MAX_CACHED_REQUESTS,
        max_cached_tokens: int = MAX_CACHED_TOKENS,
    ) -> None:
        self._branches = branches
        self._max_requests = max_cached_requests
        self._max_tokens = max_cached_tokens
        self._request = SuffixTree(MAX_TREE_DEPTH)
        self._answers = SuffixTree(MAX_TREE_DEPTH)
        self._read = 0  # tokens of the context that are in the trees

    def reset(self, prompt_ids: Sequence[int], sampler: Sampler) -> None:
        answers = self._answers
        while len(answers) and self._full(answers):
            answers.forget_first()
        answers.begin()
        self._request = SuffixTree(MAX_TREE_DEPTH)
        self._request.begin()
        self._request.extend(prompt_ids)
        self._read = len(prompt_ids)

    def propose(self, context: Sequence[int], k: int) -> Draft:
        new = context[self._read :]
        self._read = len(context)
        self._request.extend(new)
        self._answers.extend(new)
        matched, guess = self._best(context[-MAX_TREE_DEPTH:], k)
        return Draft(
            tuple(guess.token_ids),
            tuple(guess.parents),
            tuple(guess.probs),
            matched_tokens=matched,
        )

    def observe(self, outcome: Outcome) -> None:
        """Nothing: the next context holds the outcome."""

    def extra_bytes(self) -> ExtraBytes:
        return ExtraBytes(buffers=self._request.nbytes + self._answers.nbytes)

    def _full(self, answers: SuffixTree) -> bool:
        return len(answers) >= self._max_requests or answers.tokens > self._max_tokens

    def _best(self, context: Sequence[int], k: int) -> tuple[int, Guess]:
        """Length of the match and continuation with the highest score.

        Among equals the longest match counts, and this request's before that of others.
        """
        best, best_score = (0, Guess([], [], [])), 0.0
        for tree in (self._answers, self._request):
            for place in tree.places(context):
                guess = self._continue(tree, place, k)
                score = sum(guess.probs)
                if guess.token_ids and score >= best_score:
                    best, best_score = (place.matched, guess), score
        return best

    def _continue(self, tree: SuffixTree, place: Place, k: int) -> Guess:
        most = min(k, int(place.matched * MAX_SPEC_FACTOR + 1e-6))
        return tree.guess(place, most, MIN_TOKEN_PROB, branches=self._branches)
