"""SWIFT: self-speculation that searches for the sublayers to skip while it decodes.

Xia et al., arXiv 2410.06916, section 4, and the authors' code (https://github.com/hemingkx/SWIFT).
Optimisation: once there is enough output, a step first tries one other set of sublayers on it and
keeps the better one. Acceleration: when that has been done, or no longer helps, the best set is
kept. The search is part of drafting and of its time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from specviz.engines.embedded.draft import Draft, Outcome, Watch
from specviz.engines.embedded.model import Sublayers
from specviz.engines.embedded.proposers.chain_builder import ChainBuilder
from specviz.engines.embedded.proposers.layer_search import LayerSearch, SearchSettings
from specviz.engines.embedded.proposers.self_draft import SelfDrafter
from specviz.engines.embedded.sampler import Sampler
from specviz.trace import ExtraBytes


@dataclass(frozen=True, slots=True)
class SwiftSettings:
    """The authors' settings.

    `window`: tokens that a set is tried on. `interval`: steps between two tries. `confidence`: a
    draft ends with the first candidate whose probability is below it (section 4.2). `loss`: where
    a new request's text suits the set so much less, the search is taken up again (ours).
    """

    window: int = 32
    interval: int = 1
    confidence: float = 0.8
    loss: float = 0.1
    search: SearchSettings = field(default_factory=SearchSettings)


class Swift:
    """Drafts with the best set found so far, which the next request begins with.

    Sets are compared on the same text: the latest `window` tokens, until as many new ones have
    come; then the best set is measured again on those.
    """

    tap_layers: tuple[int, ...] = ()
    watch: Watch | None = None

    def __init__(
        self,
        drafter: SelfDrafter,
        settings: SwiftSettings | None = None,
        first: Sublayers | None = None,
    ) -> None:
        self._drafter = drafter
        self._settings = settings or SwiftSettings()
        self.search = LayerSearch(drafter.layers, self._settings.search, first)
        self._steps = 0

    def reset(self, prompt_ids: Sequence[int], sampler: Sampler) -> None:
        self._sampler = sampler
        self._prompt = len(prompt_ids)
        self._window: tuple[int, int] | None = None  # positions of the text that sets are tried on

    def propose(self, context: Sequence[int], k: int) -> Draft:
        self._steps += 1
        if self._steps % self._settings.interval == 0:
            self._optimise(context)
        return self._drafter.chain(
            context,
            k,
            self.search.best,
            ChainBuilder(self._sampler),
            confidence=self._settings.confidence,
        )

    def observe(self, outcome: Outcome) -> None:
        """Nothing: sets are tried on the context."""

    def extra_bytes(self) -> ExtraBytes:
        return ExtraBytes(buffers=self.search.nbytes)

    def _optimise(self, context: Sequence[int]) -> None:
        first = self._window is None
        if (first or not self.search.done) and self._renew_window(context):
            before, now = self.search.best_score, self._matchness(context, self.search.best)
            self.search.rate_best(now)
            if first and self.search.done and now < before - self._settings.loss:
                self.search.resume()
        elif self._window is not None and not self.search.done:
            point = self.search.suggest()
            self.search.learn(point, self._matchness(context, self.search.sublayers(point)))

    def _renew_window(self, context: Sequence[int]) -> bool:
        """Move the window to the latest tokens if they are all output and all new."""
        start = len(context) - self._settings.window
        if start <= (self._prompt if self._window is None else self._window[1] - 1):
            return False
        self._window = (start, len(context))
        return True

    def _matchness(self, context: Sequence[int], run: Sublayers) -> float:
        assert self._window is not None
        return self._drafter.matchness(context, *self._window, run)
