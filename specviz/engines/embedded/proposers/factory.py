"""The proposer of a method, with the model or head that it needs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from specviz.config import Method
from specviz.engines.embedded.draft import Proposer
from specviz.engines.embedded.kv_cache import KVCache
from specviz.engines.embedded.model import Llama
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
from specviz.paths import DEMO_DRAFTS

LoadModel = Callable[[Path], Llama]


def open_proposer(
    method: Method,
    target: Llama,
    cache: KVCache,
    folder: Path | None,
    options: Options,
    load: LoadModel,
) -> tuple[Proposer | None, Path | None]:
    """The proposer of `method` (None for the baseline) and the folder its weights came from.

    `cache` is the one that the target will verify with: methods without a draft model share it.
    Raises UsageError for a draft that the method does not use or that does not fit the target.
    """
    if folder is not None and method not in DEMO_DRAFTS:
        raise UsageError(f"The method {method.value} uses no draft model: leave --draft out.")
    folder = folder or DEMO_DRAFTS.get(method)
    return _proposer(method, target, cache, folder, options, load), folder


def _proposer(
    method: Method,
    target: Llama,
    cache: KVCache,
    folder: Path | None,
    options: Options,
    load: LoadModel,
) -> Proposer | None:
    if method is Method.BASELINE:
        return None
    if method is Method.NGRAM:
        return Ngram()
    if method is Method.SUFFIX:
        return Suffix(branches=options.shape == "tree")
    if method is Method.LAYER_SKIP:
        return LayerSkip(SelfDrafter(target, cache), options.stop_below)
    if method is Method.SWIFT:
        return Swift(SelfDrafter(target, cache))
    if method is Method.MIRROR:
        assert folder is not None
        return Mirror(target, _same_vocabulary(load(folder), target, folder), options.stop_below)
    if method is Method.DRAFT_MODEL:
        assert folder is not None
        return DraftModel(_same_vocabulary(load(folder), target, folder), options.stop_below)
    if method is Method.MEDUSA:
        assert folder is not None
        return load_medusa(folder, target, tree=options.shape == "tree")
    if method is Method.EAGLE:
        assert folder is not None
        return load_eagle(folder, target, tree=options.shape == "tree", floor=options.stop_below)
    if method is Method.EAGLE3:
        assert folder is not None
        return load_eagle3(folder, target, tree=options.shape == "tree", floor=options.stop_below)
    raise UsageError(f"The embedded engine does not have the method {method.value}.")


def _same_vocabulary(draft: Llama, target: Llama, folder: Path) -> Llama:
    if draft.config.vocabulary != target.config.vocabulary:
        raise UsageError(
            f"The draft {folder.name} has {draft.config.vocabulary} tokens, the target "
            f"{target.config.vocabulary}: use a draft with the target's tokenizer."
        )
    return draft
