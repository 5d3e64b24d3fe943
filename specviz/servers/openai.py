"""Any other OpenAI-compatible server: it is asked for nothing beyond the API."""

from __future__ import annotations

from dataclasses import replace

from specviz.config import EngineKind
from specviz.servers.capabilities import NO_PLUGIN, Capabilities
from specviz.servers.dialect import Dialect, Get


def openai_compatible(behind: Dialect) -> Dialect:
    """A server of unknown kind.

    It may be a gateway that hides the server behind it but passes on what that adds to answers and
    metrics. So what `behind` would add is read where it comes; nothing of it is asked for.
    """
    return replace(
        behind,
        name="OpenAI-compatible",
        engine=EngineKind.OPENAI,
        advice=f"{behind.name} shows what was drafted: start one with `specviz serve`.",
        identify=_any_server,
        extra_body={},
        trace=None,
        launcher=None,
    )


async def _any_server(_: Get) -> Capabilities:
    return Capabilities(tracing_reason=NO_PLUGIN)
