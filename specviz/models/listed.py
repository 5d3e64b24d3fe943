"""The models and drafts that are on this machine: shipped, packaged, and from the hub."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from specviz.checkpoints.check import check_pair
from specviz.checkpoints.finding import Verdict
from specviz.checkpoints.folder import open_checkpoint
from specviz.checkpoints.format import Format
from specviz.errors import UsageError
from specviz.models import kept, packaged
from specviz.paths import MODELS

SHIPPED = "specviz"
HUB = "Hugging Face hub"


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
    folders = {name: kept.place_of(name) for name in (packaged.NAME, *kept.names())}
    shipped = sorted(file.parent for file in MODELS.glob("*/config.json"))
    folders |= {folder.name: folder for folder in shipped}
    return [_listed(name, folder, folders.values()) for name, folder in folders.items()]


def _listed(name: str, folder: Path, others: Iterable[Path]) -> Listed:
    written = (folder / "config.json").is_file()
    found = _format(folder) if written else None
    return Listed(
        name=name,
        path=str(folder),
        source=_source(name, folder),
        licence=_licence(name, folder),
        written=written,
        size_bytes=_size(folder) if written else None,
        format=found,
        drafts=tuple(_drafts(folder, others)) if found is Format.MODEL else None,
    )


def _source(name: str, folder: Path) -> str | None:
    if folder.parent == MODELS:
        return SHIPPED
    if name != packaged.NAME:
        return HUB
    version = packaged.package_version()
    return f"{packaged.PACKAGE} {version}" if version else None


def _format(folder: Path) -> Format | None:
    try:
        return open_checkpoint(folder).format
    except UsageError:
        return None


def _drafts(target: Path, others: Iterable[Path]) -> list[str]:
    """Folders that nothing speaks against, by their headers; a model drafts for larger ones."""
    return [
        folder.name
        for folder in others
        if folder != target
        and (folder / "config.json").is_file()
        and (_format(folder) is not Format.MODEL or _size(folder) < _size(target))
        and not any(
            one.verdict is Verdict.REFUSED for one in check_pair(folder, target, values=False)
        )
    ]


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _licence(name: str, folder: Path) -> str | None:
    """The word after `license:` at the head of its README, as on the Hugging Face hub."""
    if name == packaged.NAME or folder.parent == MODELS:
        return packaged.LICENCE  # which is that of specviz too
    try:
        lines = (folder / "README.md").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    head = takewhile(lambda line: line != "---", lines[1:])
    pairs = (line.partition(":") for line in head if lines[0] == "---")
    return next((value.strip() for key, _, value in pairs if key == "license"), None)
