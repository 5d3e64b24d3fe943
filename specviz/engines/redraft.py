"""Which arms can be redrafted on this machine, and the engine that does it.

Redrafting drafts again after every token of a stored answer: one run at the largest K then gives
the steps of every smaller K.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from specviz.config import EngineKind, RunConfig
from specviz.errors import UsageError
from specviz.methods import record_of
from specviz.models.kept import kept

if TYPE_CHECKING:
    from specviz.engines.embedded.engine import EmbeddedEngine


def redraftable(config: RunConfig) -> RunConfig:
    """The embedded arm that drafts as `config` did.

    For a vLLM arm it loads the same checkpoints. Raises UsageError, with the reason, for an arm
    that cannot be redrafted.
    """
    record = record_of(config.method)
    if record is None or not record.is_redraftable:
        name = config.method or "A server that does not report its method"
        raise UsageError(
            f"{name} cannot be redrafted: its drafts depend on more than the answer so far. "
            "Measure each K instead."
        )
    is_embedded = config.engine is EngineKind.EMBEDDED
    shape = config.options.get("shape", "auto")
    if is_embedded and "tree" in (shape, record.usual_shape if shape == "auto" else None):
        raise UsageError("Trees cannot be redrafted: another K has other branches. Measure each K.")
    if config.server_url:
        raise UsageError(
            "An attached server's models are not on this machine: measure each K instead."
        )
    for folder in (config.model, config.draft):
        if folder and not (kept(folder) or Path(folder).is_dir()):
            raise UsageError(f"Redrafting needs the models in a folder; {folder} is none.")
    # vLLM drafts chains, in the checkpoints' own dtype; its flags mean nothing to this engine
    options = config.options if is_embedded else {"shape": "chain", "dtype": "bfloat16"}
    return replace(config, engine=EngineKind.EMBEDDED, traced=False, options=options)


def open_embedded_arm(config: RunConfig) -> EmbeddedEngine:
    """The engine of an embedded arm, opened in this thread. Raises UsageError."""
    from specviz.engines.embedded.opening import open_engine  # torch: only where it is used

    return open_engine(config)[0]
