"""Self-speculation with a fixed set of skipped sublayers.

Zhang et al., Draft & Verify, arXiv 2309.08168, section 3: sublayers in between are skipped, chosen
once per model (`skipped_layers`). Elhoushi et al., LayerSkip, arXiv 2404.16710, section 4.3, leave
out the last layers instead, which needs a model that was trained for it; both keep one set of
weights and one KV cache.
"""

from __future__ import annotations

from collections.abc import Sequence

from specviz.engines.embedded.draft import Draft, Outcome, Watch
from specviz.engines.embedded.model import Sublayers
from specviz.engines.embedded.proposers.chain_builder import ChainBuilder
from specviz.engines.embedded.proposers.self_draft import SelfDrafter
from specviz.engines.embedded.sampler import Sampler
from specviz.trace import ExtraBytes


class LayerSkip:
    """Drafts with the sublayers `run`; `floor` as elsewhere."""

    tap_layers: tuple[int, ...] = ()
    watch: Watch | None = None

    def __init__(self, drafter: SelfDrafter, run: Sublayers, floor: float = 0.0) -> None:
        self._drafter = drafter
        self._floor = floor
        self._run = run

    def reset(self, prompt_ids: Sequence[int], sampler: Sampler) -> None:
        self._sampler = sampler

    def propose(self, context: Sequence[int], k: int) -> Draft:
        builder = ChainBuilder(self._sampler, self._floor)
        return self._drafter.chain(context, k, self._run, builder)

    def observe(self, outcome: Outcome) -> None:
        """Nothing: the target's cache is the only state."""

    def extra_bytes(self) -> ExtraBytes:
        return ExtraBytes()
