"""A chain of draft tokens, drawn or picked one after the other."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from specviz.engines.embedded.draft import Draft, chain
from specviz.engines.embedded.sampler import Sampler, best


@dataclass(slots=True)
class ChainBuilder:
    """Collects what the verifier needs to know of a chain.

    With `floor` above 0 the chain ends where the drafter's best continuation would bring the
    product of its probabilities below it (after Du et al., GLIDE with a CaPE, arXiv 2402.02082,
    and Mamou et al., 2405.04304, who stop on confidence too). This is decided before a token is
    drawn: deciding afterwards would distort the distribution that drafts are drawn from.
    """

    sampler: Sampler
    floor: float = 0.0
    token_ids: list[int] = field(default_factory=list)
    _probs: list[float] = field(default_factory=list)
    _rows: list[Tensor] = field(default_factory=list)
    _confidence: float = 1.0

    def add(self, probs: Tensor) -> bool:
        """Add a token from its distribution [vocabulary]; False if the chain ends before it."""
        first_choice = best(probs)
        if self.token_ids and self._confidence * float(probs[first_choice]) < self.floor:
            return False
        draws = self.sampler.draws_drafts
        token_id = self.sampler.draw(probs) if draws else first_choice
        self.token_ids.append(token_id)
        self._probs.append(float(probs[token_id]))
        self._rows.append(probs)
        self._confidence *= self._probs[-1]
        return True

    def draft(self) -> Draft:
        rows = torch.stack(self._rows) if self.sampler.draws_drafts else None
        return chain(self.token_ids, self._probs, rows)
