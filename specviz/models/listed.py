"""The models and drafts that are on this machine: shipped, packaged, and from the hub."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from specviz.checkpoints.folder import open_checkpoint
from specviz.checkpoints.format import DRAFTS_WITH, Format
from specviz.errors import UsageError
from specviz.models import kept, packaged
from specviz.models.drafts import shipped_drafts
from specviz.models.pair import default_folder, drafts_for
from specviz.paths import cache_folder

SHIPPED = "specviz"
HUB = "Hugging Face hub"
FOLDER = "folder"


@dataclass(frozen=True, slots=True)
class Listed:
    """One model or draft.

    `source`: where it is from, None where that is not on this machine. `size_bytes`: of the folder,
    None before it is written. `format`: as `checkpoints` finds it. `drafts`: names of the drafts
    and heads that fit it, None for what is none of a target or is not written.
    """

    name: str
    path: str
    source: str | None
    licence: str | None
    written: bool
    size_bytes: int | None
    format: str | None
    drafts: tuple[str, ...] | None


def list_models() -> list[Listed]:
    """The models here and those that need no network, targets with the drafts that fit them."""
    folders = [kept.place_of(packaged.NAME), *map(kept.place_of, kept.names())]
    folders += sorted(file.parent for file in default_folder().parent.glob("*/config.json"))
    return [listed(folder) for folder in dict.fromkeys(folders)]


def listed(folder: Path) -> Listed:
    """The model or draft in a folder, or that will be there."""
    written = (folder / "config.json").is_file()
    found = _format(folder) if written else None
    return Listed(
        name=_name(folder),
        path=str(folder),
        source=_source(folder),
        licence=_licence(folder),
        written=written,
        size_bytes=_size(folder) if written else None,
        format=found,
        drafts=_drafts(folder) if found is Format.MODEL else None,
    )


def _name(folder: Path) -> str:
    """As it is given to commands: with its owner, if it is from the hub."""
    root = cache_folder("models")
    return folder.relative_to(root).as_posix() if root in folder.parents else folder.name


def _source(folder: Path) -> str | None:
    if cache_folder("models") not in folder.parents:
        return FOLDER if folder.is_dir() else None
    if folder.name in (file.stem for file in shipped_drafts(packaged.NAME)):
        return SHIPPED
    if folder != kept.place_of(packaged.NAME):
        return HUB
    version = packaged.package_version()
    return f"{packaged.PACKAGE} {version}" if version else None


def _format(folder: Path) -> Format | None:
    try:
        return open_checkpoint(folder).format
    except UsageError:
        return None


def _drafts(target: Path) -> tuple[str, ...]:
    found = [draft for method in DRAFTS_WITH for draft in drafts_for(target, method)]
    return tuple(dict.fromkeys(draft.name for draft in found))


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _licence(folder: Path) -> str | None:
    """The word after `license:` at the head of its README, as on the Hugging Face hub."""
    if folder == kept.place_of(packaged.NAME):
        return packaged.LICENCE  # which is that of specviz too
    try:
        lines = (folder / "README.md").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    head = takewhile(lambda line: line != "---", lines[1:])
    pairs = (line.partition(":") for line in head if lines[0] == "---")
    return next((value.strip() for key, _, value in pairs if key == "license"), None)
