"""The server that the form's answers are on this machine. No Streamlit."""

from __future__ import annotations

from specviz.config import EngineKind
from specviz.deploy.request import Request
from specviz.errors import UsageError
from specviz.methods import Method
from specviz.models.pair import pair_of
from specviz.servers.kinds import launcher_of
from specviz.servers.launch.launcher import ServerSpec
from specviz.views.servers.launch_form.controls import is_unnamed
from specviz.views.shared.arm_choice import startable


def spec_of(request: Request) -> ServerSpec:
    """A target that was not named is the default model, a draft that was not named the one that
    fits.

    Raises UsageError for a framework that specviz does not start, a method that it does not have
    here, several devices, trees, and a draft that is missing.
    """
    kind = EngineKind(request.framework)
    launcher = launcher_of(kind)
    methods = startable(kind)
    if request.method not in methods:
        raise UsageError(
            f"{launcher.name} cannot be started here with {request.method}: choose from "
            f"{', '.join(methods)}, or copy the command."
        )
    if request.gpus > 1 or request.data_parallel > 1 or request.is_tree:
        raise UsageError(
            "Start here serves on one device and drafts chains: leave the parallel sizes and "
            "top-k at 1, or copy the command."
        )
    method = Method(request.method)
    target = None if is_unnamed(request.model) else request.model
    draft = None if is_unnamed(request.draft) else request.draft
    pair = pair_of(target, draft, method)
    return ServerSpec(
        launcher,
        pair.target,
        method,
        pair.draft,
        request.k,
        port=request.port,
        extra_args=request.extra,
    )
