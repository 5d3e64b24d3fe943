"""SGLang's command: `python -m sglang.launch_server --speculative-algorithm …`.

Read in SGLang 0.5.23: `srt/arg_groups/fields/`, `srt/arg_groups/speculative_hook.py`,
`srt/arg_groups/validation_hook.py`, `srt/speculative/eagle_utils.py`. Not run against a real one.
"""

from __future__ import annotations

from specviz.deploy.framework import Framework, Offer
from specviz.deploy.launch import Launch
from specviz.deploy.request import DFLASH, DSPARK, MTP, Request
from specviz.errors import UsageError
from specviz.methods import Method

SGLANG = "sglang"

OFFERS = {
    Method.DRAFT_MODEL.value: Offer("STANDALONE"),
    Method.NGRAM.value: Offer("NGRAM"),
    Method.EAGLE.value: Offer("EAGLE"),
    Method.EAGLE3.value: Offer("EAGLE3"),
    MTP: Offer("NEXTN"),
    DFLASH: Offer("DFLASH"),
    DSPARK: Offer("DSPARK"),
}

EAGLE_FAMILY = (Method.EAGLE, Method.EAGLE3, Method.DRAFT_MODEL, MTP)
"""They take steps, top-k and draft tokens: all three or none, and then SGLang chooses."""

TREES = (Method.EAGLE, Method.EAGLE3, MTP)


def launch(request: Request) -> Launch:
    """`python -m sglang.launch_server …` with metrics on: without them `/metrics` is empty.

    Raises UsageError for a tree or a pipeline that SGLang does not draft with that method.
    """
    argv = ["python", "-m", "sglang.launch_server", "--model-path", request.model]
    argv += ["--host", request.host]
    argv += ["--port", str(request.port)] if request.port else []
    sizes = {
        "--tp-size": request.tensor_parallel,
        "--pp-size": request.pipeline_parallel,
        "--dp-size": request.data_parallel,
    }
    for flag, size in sizes.items():
        argv += [flag, str(size)] if size > 1 else []
    if request.speculates:
        argv += _speculation(request)
    return Launch(
        framework=SGLANG,
        version=request.version or "",
        argv=(*argv, "--enable-metrics", *request.extra),
        env=_environment(request),
    )


def _speculation(request: Request) -> list[str]:
    if request.is_tree and request.method not in TREES:
        raise UsageError(
            f"SGLang drafts a chain with {request.method}: leave top-k at 1. "
            f"It drafts trees with {', '.join(TREES)}."
        )
    flags = ["--speculative-algorithm", OFFERS[request.method].word]
    if request.draft:
        flags += ["--speculative-draft-model-path", request.draft]
    if request.k is None:
        return flags
    if request.method in EAGLE_FAMILY:
        return [*flags, *_steps(request, request.k)]
    if request.method == DSPARK:  # a block of K and the token before it are verified
        return [*flags, "--speculative-dspark-block-size", str(request.k)]
    return [*flags, "--speculative-num-draft-tokens", str(request.k + 1)]


def _steps(request: Request, k: int) -> list[str]:
    """SGLang counts the token before the draft as one of the draft tokens: K + 1."""
    steps = request.depth or k
    room = request.topk + (steps - 1) * request.topk**2
    if request.is_tree and k > room:
        raise UsageError(
            f"A tree of depth {steps} with top-k {request.topk} has {room} tokens to choose from, "
            f"fewer than K = {k}."
        )
    return [
        *("--speculative-num-steps", str(steps)),
        *("--speculative-eagle-topk", str(request.topk)),
        *("--speculative-num-draft-tokens", str(k + 1)),
    ]


def _environment(request: Request) -> dict[str, str]:
    """Without the switch, SGLang refuses to speculate across pipeline stages.

    `validation_hook.check_pipeline_parallel_compat`, after NEXTN was resolved to EAGLE.
    """
    if request.pipeline_parallel == 1 or not request.speculates:
        return {}
    if request.method not in (Method.EAGLE, MTP):
        raise UsageError(
            f"SGLang does not speculate with {request.method} across pipeline stages: use tensor "
            "parallelism, or eagle or mtp."
        )
    return {"SGLANG_ENABLE_PP_SPEC": "1"}


FRAMEWORK = Framework(
    name=SGLANG,
    title="SGLang",
    versions=("0.5.23",),
    checked="the source of SGLang 0.5.23",
    offers=OFFERS,
    launch=launch,
    instead={},
)
