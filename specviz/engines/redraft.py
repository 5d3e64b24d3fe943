"""Which arms can be replayed on this machine, and the engine that does it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from specviz.config import EngineKind, RunConfig
from specviz.errors import UsageError
from specviz.methods import record_of

if TYPE_CHECKING:
    from specviz.engines.embedded.engine import EmbeddedEngine


def replayable(config: RunConfig) -> RunConfig:
    """The embedded arm that drafts as `config` did.

    A vLLM server's drafts are made again from the same checkpoints. Raises UsageError where that
    cannot be done, with the reason.
    """
    record = record_of(config.method)
    if record is None or not record.is_redraftable:
        name = config.method or "A server that does not say how it drafts"
        raise UsageError(
            f"{name} cannot be replayed: what it drafts depends on more than the answer so far. "
            "Measure each K instead."
        )
    is_embedded = config.engine is EngineKind.EMBEDDED
    shape = config.options.get("shape", "auto")
    if is_embedded and "tree" in (shape, record.usual_shape if shape == "auto" else None):
        raise UsageError("Trees cannot be replayed: another K has other branches. Measure each K.")
    if config.server_url:
        raise UsageError(
            "An attached server's models are not on this machine: measure each K instead."
        )
    for folder in (config.model, config.draft):
        if folder and not Path(folder).is_dir():
            raise UsageError(f"A replay needs the models in a folder; {folder} is none.")
    # vLLM drafts chains, and its flags say nothing to the embedded engine
    options = config.options if is_embedded else {"shape": "chain"}
    return replace(config, engine=EngineKind.EMBEDDED, traced=False, options=options)


def open_embedded_arm(config: RunConfig) -> EmbeddedEngine:
    """The engine of an embedded arm, in this thread. Raises UsageError."""
    from specviz.engines.embedded.opening import open_engine  # torch: only where it is used

    return open_engine(config)[0]
