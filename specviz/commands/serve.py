"""`specviz serve`: a server in the foreground."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from specviz.commands.options import DraftOption, KOption, ModelOption, note
from specviz.config import EngineKind
from specviz.methods import Method


def serve(
    context: typer.Context,
    kind: Annotated[
        EngineKind, typer.Option(help="Which server to start: vllm or llama.cpp.")
    ] = EngineKind.VLLM,
    model: ModelOption = None,
    method: Annotated[
        Method | None,
        typer.Option(help="Drafting method (default: the best that the model has a draft for)."),
    ] = None,
    draft: DraftOption = None,
    k: KOption = None,
    port: Annotated[int | None, typer.Option(help="Port (default: a free one).")] = None,
    policy: Annotated[
        Path | None,
        typer.Option(help="File of a policy: vLLM gives every request the K that it says."),
    ] = None,
    trace: Annotated[
        bool,
        typer.Option(
            "--trace/--no-trace", help="Load the tracing plugin into vLLM; llama.cpp has none."
        ),
    ] = True,
) -> None:
    """Start a server in the foreground. Flags after `--` are passed to it.

    llama.cpp takes folders of plain Llama models (see `specviz gguf`) and .gguf files.
    """
    from specviz.models.pair import pair_of, usual_method
    from specviz.policy.file import read_policy
    from specviz.servers.kinds import launcher_of
    from specviz.servers.launch.foreground import serve as serve_until_stopped
    from specviz.servers.launch.launcher import ServerSpec

    if policy is not None and k is None:
        k = read_policy(policy).num_speculative_tokens
    method = method or usual_method(model, draft, kind.value, note)
    pair = pair_of(model, draft, method, note)
    spec = ServerSpec(
        launcher_of(kind),
        model=pair.target,
        method=method,
        draft=pair.draft,
        k=k,
        port=port,
        trace=trace,
        extra_args=tuple(context.args),
        policy=policy,
    )
    serve_until_stopped(spec)
