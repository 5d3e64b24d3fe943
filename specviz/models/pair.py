"""The model that answers where none is named, and the draft that goes with a model."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from specviz.checkpoints.check import first_refusal
from specviz.checkpoints.folder import open_checkpoint
from specviz.checkpoints.format import DRAFTS_WITH, Format
from specviz.checkpoints.gguf_pair import gguf_in
from specviz.config import RunConfig
from specviz.errors import UsageError
from specviz.methods import METHODS, Method, served_by
from specviz.models.kept import folder_of, located, names, place_of
from specviz.models.packaged import NAME

SETTING = "SPECVIZ_MODEL"
"""The environment variable that names another default model: a folder, or a short name."""

Note = Callable[[str], None]
"""Gets what is done and how far it is."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A target and its draft, None for a method without one: folders, or names that a server
    knows."""

    target: str
    draft: str | None


def default_model() -> str:
    """The name or folder of the model that is taken where none is named."""
    return os.environ.get(SETTING) or NAME


def default_name() -> str:
    """The name under which the default model's runs are stored: its folder's."""
    return default_folder().name


def is_default(model: str | None) -> bool:
    """Whether a model, as it was named or stored, is the default one."""
    return model is None or Path(model).name == default_name()


def pair_of(
    model: str | None, draft: str | None, method: Method, note: Note = lambda text: None
) -> Pair:
    """Target and draft as folders: those that are named; else the default model, and the draft
    that fits. A model under a short name is written now if it is not there.

    Raises UsageError where the model cannot be had or the method needs a draft that is not here.
    """
    target = located(model or default_model(), note)
    if draft is not None:
        return Pair(target, located(draft, note))
    record = METHODS[method]
    if not record.needs_draft:
        return Pair(target, None)
    if found := draft_for(Path(target), method):
        return Pair(target, str(found))
    if not (Path(target) / "config.json").is_file():
        raise UsageError(
            f"{target} is not a model folder here, so no {record.draft} for it can be found: name "
            "a folder of this machine, or the draft too, with --draft."
        )
    raise UsageError(
        f"No {record.draft} for {Path(target).name} is here, and {method.value} needs one: name "
        "its folder with --draft, or make one with `specviz train`."
    )


def completed(config: RunConfig, note: Note = lambda text: None) -> RunConfig:
    """`config` with the folders of its model and draft. Raises UsageError, as `pair_of`."""
    pair = pair_of(config.model, config.draft, config.method or Method.BASELINE, note)
    return replace(config, model=pair.target, draft=pair.draft)


def draft_for(target: Path, method: Method) -> Path | None:
    """A draft that a method can use with the target in a folder: one that lies beside it, as those
    that ship with specviz do, else one in the cache."""
    return next(iter(drafts_for(target, method)), None)


def drafts_for(target: Path, method: Method) -> tuple[Path, ...]:
    """All of them."""
    if method not in DRAFTS_WITH or not (target / "config.json").is_file():
        return ()
    folders = tuple(_folders(target))
    changed = tuple(file.stat().st_mtime_ns for folder in folders for file in folder.iterdir())
    return _fitting(target, method, folders, changed)


def usual_method(
    model: str | None, draft: str | None, kind: str | None, note: Note = lambda text: None
) -> Method:
    """The method that is taken where none is named: draft_model for a draft that is, or that fits
    the model; else eagle3 with a head that fits; else ngram.

    `kind`: the kind of server as in `specviz.methods`, None for the embedded engine. Raises
    UsageError where the model cannot be had.
    """
    if draft is not None:
        return Method.DRAFT_MODEL
    target = Path(located(model or default_model(), note))
    offered = served_by(kind) if kind else tuple(Method)
    drafting = (Method.DRAFT_MODEL, Method.EAGLE3)
    return next(
        (one for one in drafting if one in offered and draft_for(target, one)), Method.NGRAM
    )


def default_draft(method: Method) -> Path | None:
    """The draft that the default model gets for a method."""
    return draft_for(default_folder(), method)


def default_folder() -> Path:
    """The default model's folder; a short name's may not be written yet."""
    return folder_of(default_model())


def _folders(target: Path) -> Iterator[Path]:
    beside = sorted(file.parent for file in target.parent.glob("*/config.json"))
    yield from (one for one in dict.fromkeys((*beside, *map(place_of, names()))) if one != target)


@lru_cache(maxsize=256)
def _fitting(
    target: Path, method: Method, folders: tuple[Path, ...], _changed: tuple[int, ...]
) -> tuple[Path, ...]:
    return tuple(folder for folder in folders if fits(folder, target, method))


def fits(draft: Path, target: Path, method: Method) -> bool:
    """Whether a method can use this draft, a folder or a GGUF file, with the target."""
    try:
        found = Format.GGUF if gguf_in(draft) else open_checkpoint(draft).format
    except UsageError:
        return False
    if found not in DRAFTS_WITH[method]:
        return False
    if found is Format.MODEL and _weights(draft) >= _weights(target):
        return False
    return first_refusal(str(draft), str(target), method) is None


def _weights(model: Path) -> int:
    if model.is_file():
        return model.stat().st_size
    return sum(file.stat().st_size for file in model.glob("*.safetensors"))
