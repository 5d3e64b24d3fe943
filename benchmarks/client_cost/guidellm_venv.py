"""GuideLLM in its own environment: its dependencies are not ours."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from specviz.paths import PROJECT_ROOT

VERSION = "0.8.1"
FOLDER = PROJECT_ROOT / ".guidellm-venv"


def guidellm(folder: Path = FOLDER) -> Path | None:
    """Its command, installed once (several GB with its torch). None if that fails; the reason is
    printed."""
    command = folder / "bin" / "guidellm"
    if command.exists():
        return command
    print(f"installing guidellm {VERSION} into {folder}", flush=True)
    try:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, f"guidellm=={VERSION}"], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        lines = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        print(f"left out: guidellm {VERSION} cannot be installed here ({lines[-1]})", flush=True)
        return None
    return command
