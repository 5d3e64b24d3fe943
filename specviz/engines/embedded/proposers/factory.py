"""The proposer of a method, with the model or head that it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from specviz.config import check_draft_is_used
from specviz.engines.embedded.draft import Proposer
from specviz.engines.embedded.kv_cache import KVCache
from specviz.engines.embedded.model import Llama, Sublayers
from specviz.engines.embedded.options import Options
from specviz.engines.embedded.proposers.draft_model import DraftModel
from specviz.engines.embedded.proposers.eagle import load_eagle
from specviz.engines.embedded.proposers.eagle3 import load_eagle3
from specviz.engines.embedded.proposers.layer_skip import LayerSkip
from specviz.engines.embedded.proposers.medusa import load_medusa
from specviz.engines.embedded.proposers.mirror import Mirror
from specviz.engines.embedded.proposers.ngram import Ngram
from specviz.engines.embedded.proposers.self_draft import SelfDrafter
from specviz.engines.embedded.proposers.suffix import Suffix
from specviz.engines.embedded.proposers.swift import Swift
from specviz.errors import UsageError
from specviz.methods import Method

LoadModel = Callable[[Path], Llama]


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a proposer: `cache` is the target's own, `weights` the draft's folder,
    `run` the sublayers that draft where the target does so itself."""

    target: Llama
    cache: KVCache
    weights: Path | None
    options: Options
    load: LoadModel
    run: Sublayers | None

    @property
    def drafts_tree(self) -> bool:
        return self.options.shape == "tree"

    def folder(self) -> Path:
        assert self.weights is not None, "a method that needs a draft is given one"
        return self.weights

    def draft_model(self) -> Llama:
        """The draft model. Raises UsageError if its tokenizer is not the target's."""
        draft = self.load(self.folder())
        if draft.config.vocabulary != self.target.config.vocabulary:
            raise UsageError(
                f"The draft {self.folder().name} has {draft.config.vocabulary} tokens, the target "
                f"{self.target.config.vocabulary}: use a draft with the target's tokenizer."
            )
        return draft

    def self_drafter(self) -> SelfDrafter:
        return SelfDrafter(self.target, self.cache)


def _eagle(parts: Parts) -> Proposer:
    floor = parts.options.stop_below
    return load_eagle(parts.folder(), parts.target, tree=parts.drafts_tree, floor=floor)


def _eagle3(parts: Parts) -> Proposer:
    floor = parts.options.stop_below
    return load_eagle3(parts.folder(), parts.target, tree=parts.drafts_tree, floor=floor)


def _layer_skip(parts: Parts) -> Proposer:
    assert parts.run is not None, "a method that skips layers is given which"
    return LayerSkip(parts.self_drafter(), parts.run, parts.options.stop_below)


PROPOSERS: Mapping[Method, Callable[[Parts], Proposer]] = {
    Method.DRAFT_MODEL: lambda parts: DraftModel(parts.draft_model(), parts.options.stop_below),
    Method.NGRAM: lambda parts: Ngram(),
    Method.SUFFIX: lambda parts: Suffix(branches=parts.drafts_tree),
    Method.MEDUSA: lambda parts: load_medusa(parts.folder(), parts.target, tree=parts.drafts_tree),
    Method.EAGLE: _eagle,
    Method.EAGLE3: _eagle3,
    Method.LAYER_SKIP: _layer_skip,
    Method.SWIFT: lambda parts: Swift(parts.self_drafter(), first=parts.run),
    Method.MIRROR: lambda parts: Mirror(
        parts.target, parts.draft_model(), parts.options.stop_below
    ),
}


def open_proposer(
    method: Method,
    target: Llama,
    cache: KVCache,
    folder: Path | None,
    options: Options,
    load: LoadModel,
    run: Sublayers | None = None,
) -> tuple[Proposer | None, Path | None]:
    """The proposer of `method` (None for the baseline) and the folder its weights came from.

    `cache` is the one that the target will verify with: methods without a draft model share it.
    Raises UsageError for a draft that the method does not use or that does not fit the target.
    """
    check_draft_is_used(method, folder)
    if method is Method.BASELINE:
        return None, None
    return PROPOSERS[method](Parts(target, cache, folder, options, load, run)), folder
