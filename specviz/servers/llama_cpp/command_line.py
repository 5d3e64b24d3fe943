"""How a llama.cpp server is started: the arguments and environment of its process."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path

import specviz
from specviz.machine import package_version
from specviz.methods import Method
from specviz.servers.launch.launcher import HOST, ServerSpec
from specviz.servers.llama_cpp.process import (
    CONTEXT,
    DRAFT_SIMPLE,
    NGRAM_SIMPLE,
    SLOTS,
    SYNTHETIC,
)

K_TAG, BUILD_TAG, VERIFIER_TAG = "num_speculative_tokens", "build", "verifier"
"""llama.cpp reports neither K nor its rule, and xllamacpp's no build; tags are passed on."""

SYNTHETIC_RULE = "synthetic"

LOOKED_UP = 2
"""Tokens of the n-gram that is looked up in the context."""


def server_command(spec: ServerSpec) -> list[str]:
    """The arguments that start the server."""
    command = [sys.executable, "-m", "specviz.servers.llama_cpp.process"]
    command += ["--model", spec.model, "--alias", spec.model, "--host", HOST]
    command += ["--port", str(spec.port)] if spec.port else []
    command += ["--ctx-size", str(SLOTS * _context(spec.model))]
    command += ["--tags", ",".join(_tags(spec))]
    return [*command, *speculative_flags(spec), *spec.extra_args]


def speculative_flags(spec: ServerSpec, draft: str | None = None) -> list[str]:
    """llama-server's flags for the method, none for plain decoding."""
    k = str(spec.num_speculative_tokens)
    if spec.method is Method.DRAFT_MODEL:
        model = draft or spec.draft or ""
        return ["--spec-type", DRAFT_SIMPLE, "--spec-draft-model", model, "--spec-draft-n-max", k]
    if spec.method is Method.NGRAM:
        flags = ["--spec-type", NGRAM_SIMPLE, "--spec-ngram-simple-size-n", str(LOOKED_UP)]
        return [*flags, "--spec-ngram-simple-size-m", k]
    return []


def server_environment(spec: ServerSpec) -> dict[str, str]:
    """This process's environment, where the child finds specviz from a checkout too."""
    env = dict(os.environ)
    paths = [str(Path(specviz.__file__).parents[1]), *filter(None, [env.get("PYTHONPATH")])]
    return env | {"PYTHONPATH": os.pathsep.join(paths), "PYTHONUNBUFFERED": "1"}


def printed_command(spec: ServerSpec) -> str:
    """`llama-server …` over several lines, for GGUF files that `specviz gguf` or llama.cpp's own
    script writes."""
    draft = _as_file(spec.draft) if spec.draft else None
    flags = speculative_flags(spec, draft)
    pairs = [
        f"{name} {shlex.quote(value)}" for name, value in zip(flags[::2], flags[1::2], strict=True)
    ]
    return " \\\n  ".join(
        [f"llama-server -m {shlex.quote(_as_file(spec.model))}", *pairs, "--metrics"]
    )


def _tags(spec: ServerSpec) -> list[str]:
    version = package_version("xllamacpp") or "?.unknown"  # 2026.10.11549 has llama.cpp's b11549
    tags = [f"{BUILD_TAG}=b{version.rpartition('.')[2]}"]
    if not spec.num_speculative_tokens:
        return tags
    tags.append(f"{K_TAG}={spec.num_speculative_tokens}")
    if any(argument.startswith(SYNTHETIC) for argument in spec.extra_args):
        tags.append(f"{VERIFIER_TAG}={SYNTHETIC_RULE}")
    return tags


def _as_file(model: str) -> str:
    return model if model.endswith(".gguf") else f"{model.rstrip('/')}.gguf"


def _context(model: str) -> int:
    """Tokens that a request may have, of a folder's own context; a file's is not known here."""
    try:
        config = json.loads((Path(model) / "config.json").read_text(encoding="utf-8"))
        return min(CONTEXT, int(config["max_position_embeddings"]))
    except (OSError, ValueError, KeyError, TypeError):
        return CONTEXT  # what is wrong with the folder is the server's to say
