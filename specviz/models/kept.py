"""Folders of models in the cache: written once, found by name, removed.

A folder is there as a whole or not at all. It is written beside its place under a lock, which ends
with the process that holds it: what a killed one left is removed by the next, and of two that want
the same model the second finds it.
"""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from specviz.errors import UsageError
from specviz.models.drafts import is_current, is_for, shipped_drafts, write_draft
from specviz.models.from_gguf import Progress
from specviz.models.hub import download, is_hub_name
from specviz.models.packaged import NAME, ORIGIN, write_packaged
from specviz.paths import cache_folder

Fill = Callable[[Path], None]
"""Writes a model into a folder that exists."""


def located(name: str, note: Callable[[str], None] = lambda text: None) -> str:
    """The folder that a short name stands for, written now if it is not there; any other name as it
    is. `note` gets what is done and how far it is.

    Raises UsageError where the model cannot be had.
    """
    if _is_short(name):
        return str(get(name, lambda done, total: note(_note(done, total))))
    folder = kept(name)
    return str(folder) if folder else name


def kept(name: str) -> Path | None:
    """The folder of a model that has been written under this name."""
    if not _is_short(name) and not is_hub_name(name):
        return None
    folder = place_of(name)
    return folder if (folder / "config.json").is_file() else None


def place_of(name: str) -> Path:
    """The folder that a model of this name is in, or will be."""
    return cache_folder("models") / (name.casefold() if _is_short(name) else name)


def folder_of(name: str) -> Path:
    """The folder of a model as it was named: that of a short name, also before it is written, of a
    model that is kept, else the path itself."""
    return place_of(name) if _is_short(name) else kept(name) or Path(name).expanduser()


def _is_short(name: str) -> bool:
    """Whether it is the packaged model, or a draft for it that ships."""
    return name.casefold() in (NAME, *(file.stem for file in shipped_drafts(NAME)))


def get(name: str, progress: Progress = lambda done, total: None) -> Path:
    """The folder of a model, written now if it is not there: the packaged one with the drafts that
    ship for it, or one of the hub.

    Raises UsageError for any other name, and where the model cannot be had.
    """
    if _is_short(name):
        target = _written(place_of(NAME), lambda folder: write_packaged(folder, progress))
        for file in shipped_drafts(NAME):
            _add_draft(file, target)
        return place_of(name)
    if not is_hub_name(name):
        raise UsageError(
            f"There is no model {name}: name {NAME}, or one of the Hugging Face hub such as "
            f"{ORIGIN}."
        )
    return _written(place_of(name), lambda folder: download(name, folder), resumes=True)


def remove(name: str) -> Path:
    """Remove the folder of a model from the cache and return where it was. Raises UsageError."""
    folder = kept(name)
    if folder is None:
        raise UsageError(
            f"There is no written model {name}: `specviz models list` says which there are."
        )
    try:
        with _locked(folder):
            shutil.rmtree(_fresh(folder), ignore_errors=True)
            folder.rename(_fresh(folder))  # at once, however long the removal takes
            shutil.rmtree(_fresh(folder))
    except OSError as error:
        raise UsageError(f"{folder} cannot be removed ({error.strerror}).") from error
    return folder


def names() -> list[str]:
    """The names under which models are in the cache."""
    root = cache_folder("models")
    found = [*root.glob("*/config.json"), *root.glob("*/*/config.json")]
    parents = sorted(file.parent.relative_to(root) for file in found)
    return [path.as_posix() for path in parents if not path.name.startswith(".")]


def _note(done: int, total: int) -> str:
    return f"writing the model {NAME}, once: {100 * done // total} %"


def _written(folder: Path, fill: Fill, *, resumes: bool = False) -> Path:
    """`resumes`: `fill` goes on with what an earlier one left."""
    if (folder / "config.json").is_file():
        return folder
    try:
        with _locked(folder):
            if not folder.exists():  # another process may have written it meanwhile
                _write(folder, fill, resumes=resumes)
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be written ({error.strerror}): make room there, or name another "
            "cache with XDG_CACHE_HOME."
        ) from error
    return folder


def _add_draft(file: Path, target: Path) -> None:
    """Write the draft in a file beside its target, unless this version of it is there."""
    folder = target.with_name(file.stem)
    if is_current(file, folder) or not is_for(file, target):
        return
    with _locked(folder):
        if not is_current(file, folder):
            shutil.rmtree(folder, ignore_errors=True)
            _write(folder, lambda fresh: write_draft(file, target, fresh), resumes=False)


def _write(folder: Path, fill: Fill, *, resumes: bool) -> None:
    fresh = _fresh(folder)
    if not resumes:
        shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(exist_ok=True)
    try:
        fill(fresh)
        fresh.rename(folder)
    except BaseException:
        if not resumes:
            shutil.rmtree(fresh, ignore_errors=True)
        raise


def _fresh(folder: Path) -> Path:
    """The folder's place while it is written."""
    return folder.with_name(f".{folder.name}.new")


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Until the end nobody else writes or removes the folder."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f".{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
