"""`specviz serve`: a vLLM server in the foreground, the demo family by default."""

from __future__ import annotations

from specviz.errors import UsageError
from specviz.methods import METHODS, Method
from specviz.paths import DEMO_TARGET
from specviz.servers.launch.foreground import serve
from specviz.servers.vllm.command_line import ServerSpec


def serve_foreground(
    model: str | None,
    method: Method,
    draft: str | None,
    k: int | None,
    port: int | None,
    *,
    trace: bool,
    extra_args: tuple[str, ...],
) -> int:
    """Serve until stopped. Returns the exit code."""
    demo = METHODS[method].demo_draft
    if draft is None and demo is not None:
        if model is not None:
            raise UsageError(
                "A draft model or head is needed for --model of your own: name it with --draft."
            )
        draft = str(demo)
    spec = ServerSpec(
        model=model or str(DEMO_TARGET),
        method=method,
        draft=draft,
        k=k,
        port=port,
        trace=trace,
        extra_args=extra_args,
    )
    return serve(spec)
