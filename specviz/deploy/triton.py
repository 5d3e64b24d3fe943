"""Triton's model repository, for its vLLM and its TensorRT-LLM back end.

Read in triton-inference-server/vllm_backend at 8de0c14 (`samples/`, `src/model.py`),
triton-inference-server/tensorrtllm_backend at 0b9d7d5 (`docs/llmapi.md`), NVIDIA/TensorRT-LLM
(`triton_backend/all_models/llmapi/`) and triton-inference-server/tutorials
(`Feature_Guide/Speculative_Decoding/`). Not run against a real one.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace

from specviz.deploy import tensorrt_llm, vllm
from specviz.deploy.framework import Framework
from specviz.deploy.launch import Launch, Remark
from specviz.deploy.problems import TRITON
from specviz.deploy.request import Request
from specviz.errors import UsageError
from specviz.methods import VLLM

REPOSITORY = "model_repository"
BACKENDS = {VLLM: vllm.FRAMEWORK, tensorrt_llm.TENSORRT_LLM: tensorrt_llm.FRAMEWORK}

# The container of the TensorRT-LLM back end has the template and its launcher here.
TEMPLATE = "/app/all_models/llmapi/."
LAUNCHER = "/app/scripts/launch_triton_server.py"

CONFIG_PBTXT = """\
backend: "vllm"

instance_group [
  {
    count: 1
    kind: KIND_MODEL
  }
]

parameters: {
  key: "REPORT_CUSTOM_METRICS"
  value: {
    string_value: "true"
  }
}
"""


def framework(backend: str | None) -> Framework:
    """Triton with a back end, vLLM if None. Its versions and methods are those of the back end.

    Raises UsageError for a back end that serves no language models here.
    """
    name = backend or VLLM
    if name not in BACKENDS:
        raise UsageError(f"There is no back end {name!r}: choose from {', '.join(BACKENDS)}.")
    engine = BACKENDS[name]
    start = _launch_vllm if name == VLLM else _launch_tensorrt_llm
    return replace(engine, name=TRITON, title=f"Triton with {engine.title}", launch=start)


def _launch_vllm(request: Request) -> Launch:
    """A model repository whose `model.json` is vLLM's engine arguments."""
    _check_extra(request)
    name = _model_name(request.model)
    arguments = {**vllm.engine_arguments(request), "disable_log_stats": False}
    argv = ["tritonserver", "--model-repository", request.in_folder(REPOSITORY)]
    for service in ("http", "grpc", "metrics"):
        argv += [f"--{service}-address", request.host]
    argv += ["--http-port", str(request.port)] if request.port else []
    return Launch(
        framework=TRITON,
        version=request.version or "",
        argv=tuple(argv),
        files={
            f"{REPOSITORY}/{name}/config.pbtxt": CONFIG_PBTXT,
            f"{REPOSITORY}/{name}/1/model.json": json.dumps(arguments, indent=4) + "\n",
        },
        remarks=(
            *vllm.packages(request),
            _container("vllm-python-py3", f"its vLLM should be {request.version}", "vllm_backend"),
        ),
    )


def _launch_tensorrt_llm(request: Request) -> Launch:
    """The LLM API's template with this `model.yaml`; the rest is copied beside it."""
    _check_extra(request)
    if request.port is not None or request.data_parallel > 1:
        raise UsageError(
            "Ports and replicas of Triton's TensorRT-LLM back end are in its template: leave them "
            "out here, and set instance_group and gpu_device_ids in its config.pbtxt."
        )
    content = {
        "model": request.model,
        "backend": "pytorch",
        "tensor_parallel_size": request.tensor_parallel,
        "pipeline_parallel_size": request.pipeline_parallel,
        **tensorrt_llm.options(request),
        "triton_config": {"max_batch_size": 0, "decoupled": False},
    }
    folder = request.in_folder(REPOSITORY)
    return Launch(
        framework=TRITON,
        version=request.version or "",
        prepare=(("cp", "--recursive", "--no-clobber", TEMPLATE, folder),),
        argv=("python3", LAUNCHER, f"--model_repo={folder}"),
        files={f"{REPOSITORY}/tensorrt_llm/1/model.yaml": tensorrt_llm.as_yaml(content)},
        remarks=(
            _container(
                "trtllm-python-py3",
                f"its TensorRT-LLM should be {request.version}",
                "tensorrtllm_backend",
            ),
        ),
    )


def _container(image: str, version: str, repository: str) -> Remark:
    return Remark(
        f"Run it inside nvcr.io/nvidia/tritonserver:<yy.mm>-{image}; {version}.",
        f"triton-inference-server/{repository}",
        f"https://github.com/triton-inference-server/{repository}",
    )


def _check_extra(request: Request) -> None:
    if request.extra:
        raise UsageError("Triton takes engine options from its files: add them there.")


def _model_name(model: str) -> str:
    """A folder's name for the model: what is after the last slash, letters and digits."""
    return (
        re.sub(r"[^A-Za-z0-9_.-]+", "_", model.rstrip("/").rpartition("/")[2]).strip(".") or "llm"
    )
