"""Models of the Hugging Face hub, for machines that reach it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from specviz.errors import UsageError

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
WANTED = ("*.json", "*.safetensors", "*.jinja", "README.md", "LICENSE*")
"""Not the same weights in other formats."""


def is_hub_name(name: str) -> bool:
    """Whether a name can be OWNER/NAME of the hub."""
    return _NAME.fullmatch(name) is not None


def download(name: str, folder: Path) -> None:
    """Download a model into `folder`; one that was interrupted goes on. Progress goes to standard
    error.

    Raises UsageError where the hub is not reached or does not have it as a folder for transformers.
    """
    import httpx2
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        snapshot_download(name, local_dir=folder, allow_patterns=list(WANTED))
    except (HfHubHTTPError, LocalEntryNotFoundError, httpx2.HTTPError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise UsageError(
            f"{name} cannot be downloaded from the Hugging Face hub ({reason}): check the name and "
            "the connection, or name a folder that is on this machine."
        ) from error
    if not (folder / "config.json").is_file() or not any(folder.glob("*.safetensors")):
        raise UsageError(
            f"{name} has no config.json with *.safetensors on the hub: choose another model."
        )
    shutil.rmtree(folder / ".cache", ignore_errors=True)  # the download's own notes
