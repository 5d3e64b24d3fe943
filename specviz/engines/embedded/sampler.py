"""Temperature, top-k, top-p and random numbers of one request."""

from __future__ import annotations

import torch
from torch import Tensor

from specviz.config import Sampling


class Sampler:
    """Turns logits into the distribution that tokens are drawn from, and draws.

    One generator per request: the same seed on the same machine gives the same decisions.
    `sampled_drafts` False makes proposers pick their best token instead of drawing one.
    """

    def __init__(
        self, sampling: Sampling, device: torch.device, *, sampled_drafts: bool = True
    ) -> None:
        self.temperature = sampling.temperature
        self.top_k = sampling.top_k
        self.top_p = sampling.top_p
        self.greedy = sampling.temperature == 0.0
        self.draws_drafts = sampled_drafts and not self.greedy
        self._generator = torch.Generator(device)
        if sampling.seed is None:
            self._generator.seed()
        else:
            self._generator.manual_seed(sampling.seed)

    def probs(self, logits: Tensor) -> Tensor:
        """float32 probabilities [n, vocabulary] after temperature, then top-k, then top-p.

        At temperature 0 the plain softmax: the model's own probabilities, though nothing is drawn.
        """
        if self.greedy:
            return logits.float().softmax(-1)
        probs = (logits.float() / self.temperature).softmax(-1)
        probs = most_likely(probs, self.top_k) if self.top_k else probs
        return probs if self.top_p >= 1.0 else nucleus(probs, self.top_p)

    def draw(self, probs: Tensor) -> int:
        """One token id from `probs` [vocabulary] (need not sum to 1); the best one when greedy."""
        if self.greedy:
            return best(probs)
        return int(torch.multinomial(probs, 1, generator=self._generator))

    def draw_distinct(self, probs: Tensor, count: int) -> list[int]:
        """`count` different token ids, drawn one after the other without replacement.

        Fewer where fewer have a probability above zero.
        """
        count = min(count, int((probs > 0).sum()))
        drawn: list[int] = torch.multinomial(probs, count, generator=self._generator).tolist()
        return drawn

    def uniform(self) -> float:
        """A random number in (0, 1]: `u <= a` then holds with probability exactly a."""
        drawn = torch.rand((), generator=self._generator, device=self._generator.device)
        return 1.0 - float(drawn)


def best(row: Tensor) -> int:
    """Id of the largest of probabilities or logits [vocabulary], the first of equals."""
    return int(row.float().argmax())  # argmax of bfloat16 takes three times as long


def most_likely(probs: Tensor, top_k: int) -> Tensor:
    """The `top_k` largest of each row, renormalised; the first of equals."""
    if top_k >= probs.shape[-1]:
        return probs
    order = probs.argsort(dim=-1, descending=True, stable=True)
    kept = probs.scatter(-1, order[..., top_k:], 0.0)
    return kept / kept.sum(-1, keepdim=True)


def nucleus(probs: Tensor, top_p: float) -> Tensor:
    """The smallest set of tokens that reaches `top_p`, renormalised (arXiv 1904.09751, 3.1)."""
    ordered, order = probs.sort(dim=-1, descending=True)
    before = ordered.cumsum(-1) - ordered
    ordered = ordered.masked_fill(before >= top_p, 0.0)
    kept = torch.zeros_like(probs).scatter_(-1, order, ordered)
    return kept / kept.sum(-1, keepdim=True)
