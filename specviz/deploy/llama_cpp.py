"""llama.cpp's command: `llama-server --spec-type …`.

Read in ggml-org/llama.cpp, `tools/server/README.md` at 00dc805, and in the option names inside
xllamacpp 2026.10.11549 (build b11549).
"""

from __future__ import annotations

import re

from specviz.deploy.framework import Framework, Offer
from specviz.deploy.launch import Launch
from specviz.deploy.request import DFLASH, DSPARK, MTP, Request, Use
from specviz.errors import UsageError
from specviz.methods import Method

LLAMA_CPP = "llama.cpp"

OFFERS = {
    Method.DRAFT_MODEL.value: Offer("draft-simple"),
    Method.NGRAM.value: Offer("ngram-simple"),
    Method.EAGLE3.value: Offer("draft-eagle3"),
    MTP: Offer("draft-mtp"),
    DFLASH: Offer("draft-dflash"),
    DSPARK: Offer("draft-dspark"),
}

_ON_THE_HUB = re.compile(r"[\w.-]+/[\w.-]+(:[\w.-]+)?")


def launch(request: Request) -> Launch:
    """`llama-server …` with `--metrics`, which is off by default.

    Raises UsageError for weights that are not GGUF, trees, and sizes that llama.cpp does not have.
    """
    if request.is_tree:
        raise UsageError("llama.cpp drafts chains only: leave top-k at 1. SGLang drafts trees.")
    argv = ["llama-server", *_weights("--model", "--hf-repo", request.model)]
    argv += ["--host", request.host]
    argv += ["--port", str(request.port)] if request.port else []
    argv += _gpus(request)
    if request.speculates:
        argv += _speculation(request)
    return Launch(
        framework=LLAMA_CPP,
        version=request.version or "",
        argv=(*argv, "--metrics", *request.extra),
    )


def _speculation(request: Request) -> list[str]:
    """With `--spec-draft-model` alone nothing is drafted: the type has to be named."""
    flags = ["--spec-type", OFFERS[request.method].word]
    if request.draft:
        flags += _weights("--spec-draft-model", "--spec-draft-hf", request.draft)
    if request.method == Method.NGRAM:
        return [*flags, *(["--spec-ngram-simple-size-m", str(request.k)] if request.k else [])]
    flags += ["--spec-draft-n-max", str(request.k)] if request.k else []
    if Use.SAMPLING in (request.uses or ()):  # a greedy draft would be accepted less often
        flags += ["--spec-draft-sampling", "probabilistic"]
    return flags


def _weights(file_flag: str, hub_flag: str, name: str) -> list[str]:
    if name.lower().endswith(".gguf"):
        return [file_flag, name]
    if _ON_THE_HUB.fullmatch(name) and not name.startswith("."):
        return [hub_flag, name]
    raise UsageError(
        f"llama.cpp opens GGUF: {name} is neither a .gguf file nor a Hugging Face repository such "
        "as OWNER/NAME or OWNER/NAME:Q4_K_M."
    )


def _gpus(request: Request) -> list[str]:
    """llama.cpp uses every GPU that it sees; what is named is how it splits the model."""
    if request.data_parallel > 1:
        raise UsageError(
            "llama-server has no replicas: start one per GPU, with a router in front. "
            "Requests at the same time are --parallel."
        )
    if request.gpus == 1:
        return []
    if request.tensor_parallel > 1 and request.pipeline_parallel > 1:
        raise UsageError(
            "llama.cpp splits by rows or by layers, not both: name tensor or pipeline parallelism."
        )
    mode = "row" if request.tensor_parallel > 1 else "layer"
    return ["--split-mode", mode, "--tensor-split", ",".join(["1"] * request.gpus)]


FRAMEWORK = Framework(
    name=LLAMA_CPP,
    title="llama.cpp",
    versions=("b11549",),
    checked="the options inside llama.cpp b11549",
    offers=OFFERS,
    launch=launch,
    instead={},
)
