"""TensorRT-LLM's command: `trtllm-serve MODEL --config FILE`, on its PyTorch back end.

Read in NVIDIA/TensorRT-LLM: `tensorrt_llm/llmapi/llm_args.py` at 0004396 and in an older version
(StrictBaseModel: an unknown key is an error), `tensorrt_llm/commands/serve.py`,
`docs/source/features/speculative-decoding.md` at 04c8822. Not run against a real one.
"""

from __future__ import annotations

from typing import Any

from specviz.deploy.framework import Framework, Offer
from specviz.deploy.launch import Launch
from specviz.deploy.request import DFLASH, DSPARK, MTP, Request
from specviz.deploy.versions import is_before
from specviz.errors import UsageError
from specviz.methods import Method

TENSORRT_LLM = "tensorrt-llm"
CONFIG = "config.yaml"
NEW_NAMES = "1.3"
"""From here on Eagle3 has its own word and the draft is `speculative_model`."""

OLD_WORDS = {Method.EAGLE3.value: "Eagle", Method.DRAFT_MODEL.value: "DraftTarget"}
"""Before `NEW_NAMES`. "Eagle" is EAGLE-3 there: the PyTorch back end never had EAGLE 1 and 2."""

TREES = (Method.EAGLE3, MTP)
"""From `NEW_NAMES` on; before that trees were marked as not to be used."""


def launch(request: Request) -> Launch:
    """`trtllm-serve …` and its YAML, with statistics on: without them it reports no acceptance.

    Raises UsageError for what `options` refuses and for data parallelism.
    """
    if request.data_parallel > 1:
        raise UsageError(
            "trtllm-serve starts one replica: start one per group of GPUs, with a router in front."
        )
    argv = ["trtllm-serve", request.model, "--host", request.host]
    argv += ["--port", str(request.port)] if request.port else []
    sizes = {"--tp_size": request.tensor_parallel, "--pp_size": request.pipeline_parallel}
    for flag, size in sizes.items():
        argv += [flag, str(size)] if size > 1 else []
    # the older name is also known to later versions, the newer one not to all earlier ones
    flag = "--config" if has_new_names(request) else "--extra_llm_api_options"
    return Launch(
        framework=TENSORRT_LLM,
        version=request.version or "",
        argv=(*argv, flag, request.in_folder(CONFIG), *request.extra),
        files={CONFIG: as_yaml(options(request))},
    )


def options(request: Request) -> dict[str, Any]:
    """The LLM API's options for a request, without model and sizes.

    Raises UsageError without K, and for a tree where there is none.
    """
    statistics = {"enable_iter_perf_stats": True, "return_perf_metrics": True}
    if not request.speculates:
        return statistics
    # drafts that are not part of the target's own step; later versions have a draft model in it
    outside = request.method == Method.NGRAM or (
        request.method == Method.DRAFT_MODEL and not has_new_names(request)
    )
    synchronous = {"disable_overlap_scheduler": True} if outside else {}
    return {**statistics, **synchronous, "speculative_config": _speculation(request)}


def has_new_names(request: Request) -> bool:
    """Whether the version comes after the change of names."""
    return request.version is None or not is_before(request.version, NEW_NAMES)


def as_yaml(content: dict[str, Any]) -> str:
    """A file of it, in the order of the keys."""
    import yaml

    return str(yaml.safe_dump(content, sort_keys=False))


def _speculation(request: Request) -> dict[str, Any]:
    new = has_new_names(request)
    if request.k is None and not (new and request.method == MTP):
        raise UsageError(f"TensorRT-LLM has no K of its own for {request.method}: name one.")
    word = OFFERS[request.method].word if new else OLD_WORDS.get(request.method)
    config: dict[str, Any] = {"decoding_type": word or OFFERS[request.method].word}
    if request.k is not None:
        name = "num_nextn_predict_layers" if request.method == MTP and not new else "max_draft_len"
        config[name] = request.depth or request.k
    if request.draft:
        config["speculative_model" if new else "speculative_model_dir"] = request.draft
    if request.is_tree:
        config |= _tree(request)
    return config


def _tree(request: Request) -> dict[str, Any]:
    if request.method not in TREES or not has_new_names(request):
        raise UsageError(
            f"TensorRT-LLM {request.version} drafts a chain with {request.method}: leave top-k at "
            f"1. From {NEW_NAMES} on it drafts trees with {' and '.join(TREES)}."
        )
    k, room = request.k or 0, request.topk * (request.depth or 0)
    if k > room:
        raise UsageError(f"K is at most top-k × depth, {room}, in TensorRT-LLM: {k} is more.")
    return {
        "use_dynamic_tree": True,
        "dynamic_tree_max_topK": request.topk,
        "max_total_draft_tokens": k,
    }


_LEGACY = (
    "Medusa, Lookahead and ReDrafter belong to TensorRT-LLM's older engine flow (trtllm-build); "
    "its PyTorch back end has none of them."
)

OFFERS = {
    Method.DRAFT_MODEL.value: Offer("Draft_Target"),
    Method.NGRAM.value: Offer("NGram"),
    Method.EAGLE3.value: Offer("Eagle3"),
    MTP: Offer("MTP"),
    DFLASH: Offer("DFlash", first=NEW_NAMES),
    DSPARK: Offer("DSpark", first=NEW_NAMES),
}

FRAMEWORK = Framework(
    name=TENSORRT_LLM,
    title="TensorRT-LLM",
    versions=("1.2", "1.3"),
    checked="the source of TensorRT-LLM before and after the change of names",
    offers=OFFERS,
    launch=launch,
    instead={
        Method.MEDUSA.value: _LEGACY,
        Method.EAGLE.value: "Checkpoints of EAGLE 1 and 2 do not open in TensorRT-LLM's PyTorch "
        "back end; those of EAGLE-3 do.",
        Method.SUFFIX.value: "TensorRT-LLM 1.3 has a suffix automaton of its own (decoding_type "
        "SA), which is another method.",
    },
)
