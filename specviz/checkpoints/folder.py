"""A folder with a draft, a head or a target: its configuration, its tensors, its format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specviz.checkpoints.config import flat
from specviz.checkpoints.files.json_object import read_json
from specviz.checkpoints.files.pickled import names_in
from specviz.checkpoints.files.safetensors import Tensor, read_header
from specviz.checkpoints.format import Format, format_of
from specviz.errors import UsageError

CONFIG = "config.json"
INDEX = "model.safetensors.index.json"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """`raw` is config.json as it is, `config` the flat form of it.

    `tensors` by name, without `model.` in front for heads; None where the weights are pickled.
    `names`: what their tensors are called, without `model.`, also where they are pickled (with
    other texts then). `unlisted`: weights next to an index that does not name them.
    """

    folder: Path
    raw: Mapping[str, Any]
    config: Mapping[str, Any]
    tensors: Mapping[str, Tensor] | None
    format: Format
    names: frozenset[str] = frozenset()
    unlisted: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def is_quantised(self) -> bool:
        return bool(self.config.get("quantization_config"))


def open_checkpoint(folder: Path, *, weights: bool = True) -> Checkpoint:
    """The folder and, with `weights`, the headers of its weights.

    Raises UsageError for what is missing or broken.
    """
    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder}: check the path.")
    raw = read_json(folder / CONFIG)
    config = flat(raw)
    tensors, unlisted = _tensors(folder) if weights else ({}, ())
    named = _pickled_names(folder) if tensors is None else frozenset(tensors)
    names = frozenset(map(bare, named))
    found = format_of(config, names)
    if found is not Format.MODEL and tensors is not None:
        tensors = {bare(name): tensor for name, tensor in tensors.items()}
    return Checkpoint(folder, raw, config, tensors, found, names, unlisted)


def bare(name: str) -> str:
    """The name of a head's tensor: some exporters put `model.` in front."""
    return name.removeprefix("model.")


def _tensors(folder: Path) -> tuple[dict[str, Tensor] | None, tuple[str, ...]]:
    files = sorted(folder.glob("*.safetensors"))
    if (folder / INDEX).exists():
        return _indexed(folder, [file.name for file in files])
    if files:
        return _together([read_header(file) for file in files]), ()
    return None, ()


def _pickled_names(folder: Path) -> frozenset[str]:
    files = sorted([*folder.glob("*.bin"), *folder.glob("*.pt")])
    if not files:
        raise UsageError(f"{folder} has no *.safetensors file: copy the whole folder.")
    return frozenset().union(*map(names_in, files))


def _indexed(folder: Path, present: list[str]) -> tuple[dict[str, Tensor], tuple[str, ...]]:
    """The tensors that the index names, each in the file that it names."""
    places = read_json(folder / INDEX).get("weight_map")
    if not isinstance(places, dict) or not all(isinstance(one, str) for one in places.values()):
        raise UsageError(f"{folder / INDEX} has no weight_map: copy it again.")
    names = sorted(set(places.values()))
    for name in names:
        if name not in present:
            raise UsageError(
                f"{folder / INDEX} names the file {name[:80]}, which is not there: copy it again."
            )
    headers = {name: read_header(folder / name) for name in names}
    for tensor, name in places.items():
        if tensor not in headers[name]:
            raise UsageError(
                f"{folder / INDEX} names {tensor[:80]} in {name}, which does not have it: copy "
                "both again."
            )
    unlisted = tuple(name for name in present if name not in headers)
    return _together(list(headers.values())), unlisted


def _together(headers: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    for header in headers:
        for name, tensor in header.items():
            if name in found:
                raise UsageError(
                    f"{name[:80]} is in {found[name].file.name} and in {tensor.file.name}: leave "
                    "the weights of one export only in the folder."
                )
            found[name] = tensor
    return found
