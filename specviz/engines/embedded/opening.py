"""From a configuration to an embedded engine: models loaded once, the proposer chosen."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

import torch

from specviz.checkpoints.check import first_refusal
from specviz.checkpoints.frameworks import EMBEDDED
from specviz.config import EngineKind, Prompt, RunConfig, Sampling
from specviz.engines.embedded.checkpoint import read_json
from specviz.engines.embedded.engine import EmbeddedEngine
from specviz.engines.embedded.faster_dtype import DTYPES, Dtype, faster_dtype
from specviz.engines.embedded.model import Llama, load_model
from specviz.engines.embedded.options import engine_version, parse_options, settle
from specviz.engines.embedded.proposers.factory import open_proposer
from specviz.engines.embedded.proposers.skipped_layers import skipped_layers
from specviz.engines.embedded.tokenizer import ChatTokenizer
from specviz.engines.embedded.verify import accept_typical
from specviz.errors import UsageError
from specviz.machine import git_revision, hardware_summary
from specviz.methods import METHODS, Method
from specviz.models.pair import completed

KEPT_MODELS = 6
_OPENING = threading.Lock()


async def open_embedded(
    config: RunConfig, note: Callable[[str], None]
) -> tuple[EmbeddedEngine, RunConfig]:
    """The engine of an arm and its completed configuration. Raises UsageError."""
    settle(parse_options(config.options), config.method or Method.BASELINE)
    return await asyncio.to_thread(open_engine, config, note)


def open_engine(
    config: RunConfig, note: Callable[[str], None] = lambda text: None
) -> tuple[EmbeddedEngine, RunConfig]:
    """The engine that `config` asks for, and the configuration completed with what it uses.

    A model under a short name is written into the cache if it is not there; `note` gets that.
    Engines are opened one at a time: two threads cannot import transformers at once, and the
    second engine finds the first one's models loaded. Raises UsageError for an unknown option, an
    unsupported model or a draft that does not fit.
    """
    config = completed(config, note)
    read_json(Path(config.model or ""), "config.json")
    note("loading the models")  # only if there is something to load
    with _OPENING:
        return _open_engine(config, note)


def _open_engine(
    config: RunConfig, note: Callable[[str], None]
) -> tuple[EmbeddedEngine, RunConfig]:
    if config.server_url:
        raise UsageError("The embedded engine has no server: leave --server out, or use vllm.")
    method = config.method or Method.BASELINE
    options = settle(parse_options(config.options), method)
    record = METHODS[method]
    folder = Path(config.model or "")
    draft = Path(config.draft) if config.draft else None
    checked = draft is not None and record.needs_draft
    if checked and (wrong := first_refusal(str(draft), str(folder), method, EMBEDDED)):
        raise UsageError(wrong)
    device = _device(options.device)
    dtype = _dtype(options.dtype, folder, device)
    target = loaded_model(folder.resolve(), dtype, device)
    cache, tokenizer = target.new_cache(), tokenizer_in(folder)
    proposer, drafts_with = open_proposer(
        method,
        target,
        cache,
        draft,
        options,
        lambda path: loaded_model(path.resolve(), dtype, device),
        skipped_layers(folder, target, tokenizer, note) if record.skips_layers else None,
    )
    k = config.k or record.embedded_k or 0
    shape = {"shape": options.shape} if record.has_shapes else {}
    engine = EmbeddedEngine(
        target,
        tokenizer,
        proposer,
        k=k,
        traced=config.traced,
        sampled_drafts=options.draft_sampling == "sampled",
        rule=accept_typical if options.acceptance == "typical" else None,
        cache=cache,
    )
    return engine, replace(
        config,
        method=method,
        k=k or None,
        model=folder.name,
        draft=drafts_with.name if drafts_with else None,
        options={**config.options, "dtype": dtype, **shape},
        server_version=engine_version(torch.__version__, dtype, device.type, target.products),
        hardware=hardware_summary(),
        git_revision=git_revision(),
    )


def _device(name: str) -> torch.device:
    if name == "cuda" and not torch.cuda.is_available():
        raise UsageError("This machine has no CUDA device: use the device cpu or auto.")
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


def _dtype(asked: Dtype | Literal["auto"], folder: Path, device: torch.device) -> Dtype:
    """What `auto` stands for with this target, whose dtype its drafter has too."""
    if asked != "auto":
        return asked
    return "bfloat16" if device.type != "cpu" else faster_dtype(folder)


@lru_cache(maxsize=KEPT_MODELS)
def loaded_model(folder: Path, dtype: Dtype, device: torch.device) -> Llama:
    """The model in a folder, loaded once per process, dtype and device."""
    return load_model(folder, DTYPES[dtype], device)


@lru_cache(maxsize=KEPT_MODELS)
def tokenizer_in(folder: Path) -> ChatTokenizer:
    """The tokenizer in a folder, loaded once per process."""
    return ChatTokenizer(folder)


def warm_up() -> None:
    """Load and run the default model once: the first request then starts at once."""
    engine, _ = open_engine(RunConfig(EngineKind.EMBEDDED, Method.BASELINE))
    for _ in engine.events(Prompt("Hello"), Sampling(max_tokens=2)):
        pass
