"""The demo target, for whose server its end of an answer is a token like any other.

What it writes is not over before a test has cancelled it, or killed its server.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.support.demo_models import DEMO_TARGET

ENDLESS = {"eos_token_id": 0, "eos_token": "<|pad|>", "max_position_embeddings": 4096}
"""As long as llama.cpp's context (`CONTEXT`), so that an answer takes ten seconds and more."""
END, MORE = "<|end|>", "<|more|>"
"""llama.cpp takes a token whose text is the first for an end, whatever the files say."""


def write_endless(folder: Path) -> Path:
    shutil.copytree(DEMO_TARGET, folder)
    for path in [*folder.glob("*.json"), *folder.glob("*.jinja")]:
        path.write_text(path.read_text().replace(END, MORE))
    for name in ("config", "generation_config", "tokenizer_config"):
        path = folder / f"{name}.json"
        said = json.loads(path.read_text())
        path.write_text(json.dumps({key: ENDLESS.get(key, value) for key, value in said.items()}))
    return folder
