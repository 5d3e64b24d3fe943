"""Which arms can be redrafted on this machine, and the engine that does it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from specviz.config import EngineKind, Method, RunConfig
from specviz.errors import UsageError

if TYPE_CHECKING:
    from specviz.engines.embedded.engine import EmbeddedEngine

REDRAFTABLE = (
    *(Method.DRAFT_MODEL, Method.NGRAM, Method.MEDUSA),
    *(Method.EAGLE, Method.EAGLE3, Method.LAYER_SKIP),
)
"""Methods whose chain depends on the answer so far and nothing else, and begins as the chain of a
smaller K does. Suffix learns from earlier answers, SWIFT and Mirror from their own steps."""


def redraftable(config: RunConfig) -> RunConfig:
    """The embedded arm that drafts as `config` did.

    A vLLM server's drafts are made again from the same checkpoints. Raises UsageError where that
    cannot be done, with the reason.
    """
    if config.method not in REDRAFTABLE:
        name = config.method or "A server that does not say how it drafts"
        raise UsageError(
            f"{name} cannot be redrafted: what it drafts depends on more than the answer so far. "
            "Measure each K instead."
        )
    is_embedded = config.engine is EngineKind.EMBEDDED
    if is_embedded and _drafts_trees(config):
        raise UsageError("Trees cannot be redrafted: another K has other branches. Measure each K.")
    if config.server_url:
        raise UsageError(
            "An attached server's models are not on this machine: measure each K instead."
        )
    for folder in (config.model, config.draft):
        if folder and not Path(folder).is_dir():
            raise UsageError(f"A redraft needs the models in a folder; {folder} is none.")
    # vLLM drafts chains, and its flags say nothing to the embedded engine
    options = config.options if is_embedded else {"shape": "chain"}
    return replace(config, engine=EngineKind.EMBEDDED, traced=False, options=options)


def _drafts_trees(config: RunConfig) -> bool:
    """Asked for, or medusa's usual shape."""
    shape = config.options.get("shape", "auto")
    return shape == "tree" or (shape == "auto" and config.method is Method.MEDUSA)


def open_embedded_arm(config: RunConfig) -> EmbeddedEngine:
    """The engine of an embedded arm, in this thread. Raises UsageError."""
    from specviz.engines.embedded.opening import open_engine  # torch: only where it is used

    return open_engine(config)[0]
