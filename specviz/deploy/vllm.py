"""vLLM's command: `vllm serve MODEL --speculative-config JSON`.

Read in vLLM 0.32.0 and 0.33.0: `engine/arg_utils.py`, `entrypoints/*/cli_args.py`,
`config/speculative.py`.
"""

from __future__ import annotations

import json
from typing import Any

from specviz.deploy.framework import Framework, Offer
from specviz.deploy.launch import Launch, Remark
from specviz.deploy.request import DFLASH, DSPARK, MTP, Request
from specviz.errors import UsageError
from specviz.methods import METHODS, VLLM, Method, ServerSupport, record_of

PROMPT_LOOKUP_MIN, PROMPT_LOOKUP_MAX = 1, 3
"""Shortest and longest n-gram that is looked up in the context, in tokens."""

K_IN_CHECKPOINT = (MTP, DSPARK)
"""Their checkpoints say how many tokens they draft."""


def speculative_config(method: str, k: int | None, draft: str | None) -> dict[str, Any] | None:
    """The value of `--speculative-config`, None for the baseline.

    Draft models sample their drafts (`draft_sample_method` probabilistic): with greedy drafts
    vLLM would accept by the target's probability alone at temperature > 0.
    """
    if method == Method.BASELINE:
        return None
    config: dict[str, Any] = {"method": str(method)}
    if draft:
        config["model"] = draft
    if k is not None:
        config["num_speculative_tokens"] = k
    if method == Method.DRAFT_MODEL:
        config["draft_sample_method"] = "probabilistic"
    if method == Method.NGRAM:
        config |= {"prompt_lookup_max": PROMPT_LOOKUP_MAX, "prompt_lookup_min": PROMPT_LOOKUP_MIN}
    return config


def engine_arguments(request: Request) -> dict[str, Any]:
    """Fields of vLLM's `EngineArgs`, as Triton's `model.json` takes them.

    Raises UsageError for a tree, which vLLM does not draft, and for a missing K.
    """
    if request.is_tree:
        raise UsageError("vLLM drafts chains only: leave top-k at 1. SGLang drafts trees.")
    arguments: dict[str, Any] = {"model": request.model}
    sizes = {
        "tensor_parallel_size": request.tensor_parallel,
        "pipeline_parallel_size": request.pipeline_parallel,
        "data_parallel_size": request.data_parallel,
    }
    arguments |= {name: size for name, size in sizes.items() if size > 1}
    if config := speculative_config(request.method, _k(request), request.draft):
        arguments["speculative_config"] = config
    return arguments


def launch(request: Request) -> Launch:
    """`vllm serve …`, with the counts per request that specviz reads."""
    arguments = engine_arguments(request)
    argv = ["vllm", "serve", arguments.pop("model"), "--host", request.host]
    argv += ["--port", str(request.port)] if request.port else []
    for name, value in arguments.items():
        text = json.dumps(value) if isinstance(value, dict) else str(value)
        argv += [f"--{name.replace('_', '-')}", text]
    if request.speculates:
        argv += ["--per-request-spec-decode-metrics", "detailed"]
    return Launch(
        framework=VLLM,
        version=request.version or "",
        argv=(*argv, *request.extra),
        remarks=packages(request),
    )


def packages(request: Request) -> tuple[Remark, ...]:
    """The package that a method needs and vLLM does not bring."""
    support = _support(request.method)
    package = support.package if support else None
    if package is None:
        return ()
    name = package.replace("_", "-")
    return (
        Remark(
            f"{request.method} needs the package {name}: pip install {name}.",
            "vLLM 0.33.0, config/speculative.py, _validate_suffix_decoding",
        ),
    )


def _k(request: Request) -> int | None:
    if request.k is not None or not request.speculates:
        return request.k
    support = _support(request.method)
    if support is not None:
        return support.default_k
    if request.method in K_IN_CHECKPOINT:
        return None
    raise UsageError(f"Name K: vLLM does not read it from a {request.method} checkpoint.")


def _support(method: str) -> ServerSupport | None:
    record = record_of(method)
    return None if record is None else record.servers.get(VLLM)


FRAMEWORK = Framework(
    name=VLLM,
    title="vLLM",
    versions=("0.32", "0.33"),
    checked="vLLM 0.32.0's own parser and the source of 0.33.0",
    offers={
        **{
            method.value: Offer(method.value, last=record.servers[VLLM].last_version)
            for method, record in METHODS.items()
            if VLLM in record.servers and method is not Method.BASELINE
        },
        **{name: Offer(name) for name in (MTP, DFLASH, DSPARK)},
    },
    launch=launch,
    instead={},
)
