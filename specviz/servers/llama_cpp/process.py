"""A llama.cpp server's own process: `python -m specviz.servers.llama_cpp.process --model …`.

The package xllamacpp has llama.cpp with its HTTP server; this gives it what `llama-server` takes on
its command line, under the same names, as far as specviz uses it. A Hugging Face folder is written
as GGUF first. The server runs until the process is ended.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from specviz.errors import UsageError
from specviz.servers.llama_cpp.conversion.cache import gguf_of

if TYPE_CHECKING:
    import xllamacpp

API_KEY, THREADS = "LLAMA_API_KEY", "LLAMA_ARG_THREADS"
SLOTS = 4
"""Requests that are answered at the same time; llama.cpp's own default."""

CONTEXT = 4096
"""Tokens of each, or the model's context where that is shorter."""

PLAIN, DRAFT_SIMPLE, NGRAM_SIMPLE = "none", "draft-simple", "ngram-simple"

SYNTHETIC = "--spec-synth-len"
"""Tokens per step that are accepted whatever the target says: for speed tests."""


def arguments() -> argparse.ArgumentParser:
    """`llama-server`'s names and meanings."""
    parser = argparse.ArgumentParser(prog="llama.cpp", allow_abbrev=False)
    parser.add_argument("--model", "-m", required=True)
    parser.add_argument("--alias", required=True)
    parser.add_argument("--tags", default="")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--api-key", default=os.environ.get(API_KEY))
    parser.add_argument("--threads", "-t", type=int, default=_usual_threads())
    parser.add_argument("--parallel", "-np", type=int, default=SLOTS)
    parser.add_argument("--ctx-size", "-c", type=int, default=SLOTS * CONTEXT)
    parser.add_argument("--cache-type-k", "-ctk", choices=("f16", "f32"))
    parser.add_argument("--cache-type-v", "-ctv", choices=("f16", "f32"))
    types = (PLAIN, DRAFT_SIMPLE, NGRAM_SIMPLE)
    parser.add_argument("--spec-type", choices=types, default=PLAIN)
    parser.add_argument("--spec-draft-model", "-md")
    parser.add_argument("--spec-draft-n-max", type=int)
    parser.add_argument("--spec-draft-n-min", type=int)
    parser.add_argument("--spec-draft-p-min", type=float)
    parser.add_argument("--spec-draft-sampling", choices=("greedy", "probabilistic"))
    parser.add_argument(SYNTHETIC, type=float)
    parser.add_argument("--spec-ngram-simple-size-n", type=int)
    parser.add_argument("--spec-ngram-simple-size-m", type=int)
    parser.add_argument("--spec-ngram-simple-min-hits", type=int)
    return parser


def _usual_threads() -> int | None:
    """One on two cores, of which whoever asks needs the other: llama.cpp's threads wait for each
    other without sleeping. None: llama.cpp's default, one per physical core."""
    named = os.environ.get(THREADS, "")
    return int(named) if named.isdigit() else 1 if os.cpu_count() == 2 else None


def main(given: Sequence[str] | None = None) -> int:
    asked = arguments().parse_args(given)
    try:
        print("reading the model's files", flush=True)
        target = gguf_of(Path(asked.model).expanduser())
        draft = asked.spec_draft_model and gguf_of(Path(asked.spec_draft_model).expanduser())
        print("importing llama.cpp", flush=True)
        import xllamacpp
    except (UsageError, ModuleNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    try:
        server = xllamacpp.Server(parameters(asked, target, draft))
    except RuntimeError as error:  # the lines above have the reason
        print(f"{error}", file=sys.stderr)
        return 1
    print(f"ready at {server.listening_address}", flush=True)
    while True:
        signal.pause()


def parameters(
    asked: argparse.Namespace, target: Path, draft: Path | None
) -> xllamacpp.CommonParams:
    """llama.cpp's own record of them. What was not asked for keeps llama.cpp's default, but:

    Prompts are not cached, so that a repeated one costs the same each time. No browser's page may
    ask the server. A request that names no sampling gets the model's own distribution.
    """
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(target)
    params.model_alias, params.model_tags = {asked.alias}, set(filter(None, asked.tags.split(",")))
    params.hostnames, params.port = [asked.host], asked.port
    params.api_keys = [asked.api_key] if asked.api_key else []
    params.endpoint_metrics, params.ui = True, False
    params.cors_origins = f"http://{asked.host}:{asked.port}"
    params.n_parallel, params.n_ctx = asked.parallel, asked.ctx_size
    params.cache_prompt, params.cache_ram_mib = False, 0
    params.sampling.temp, params.sampling.top_k = 1.0, 0
    params.sampling.top_p, params.sampling.min_p = 1.0, 0.0
    if asked.threads is not None:
        for threads in (params.cpuparams, params.cpuparams_batch):
            threads.n_threads = asked.threads
        for threads in (
            params.speculative.draft.cpuparams,
            params.speculative.draft.cpuparams_batch,
        ):
            threads.n_threads = asked.threads
    types = {"f16": xllamacpp.ggml_type.GGML_TYPE_F16, "f32": xllamacpp.ggml_type.GGML_TYPE_F32}
    if asked.cache_type_k:
        params.cache_type_k = types[asked.cache_type_k]
    if asked.cache_type_v:
        params.cache_type_v = types[asked.cache_type_v]
    _speculate(params.speculative, asked, draft)
    return params


def _speculate(
    speculative: xllamacpp.CommonParamsSpeculative, asked: argparse.Namespace, draft: Path | None
) -> None:
    import xllamacpp

    kinds = xllamacpp.common_speculative_type
    if asked.spec_synth_len is not None:
        speculative.synth_len = asked.spec_synth_len
    if asked.spec_type == DRAFT_SIMPLE:
        speculative.types = [kinds.COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE]
        speculative.draft.mparams.path = str(draft)
        _set(speculative.draft, asked, "spec_draft_", ("n_max", "n_min", "p_min"))
        speculative.draft.probabilistic = asked.spec_draft_sampling == "probabilistic"
    if asked.spec_type == NGRAM_SIMPLE:
        speculative.types = [kinds.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE]
        names = ("size_n", "size_m", "min_hits")
        _set(speculative.ngram_simple, asked, "spec_ngram_simple_", names)


def _set(record: object, asked: argparse.Namespace, prefix: str, names: Sequence[str]) -> None:
    for name in names:
        if (value := getattr(asked, prefix + name)) is not None:
            setattr(record, name, value)


if __name__ == "__main__":
    sys.exit(main())
