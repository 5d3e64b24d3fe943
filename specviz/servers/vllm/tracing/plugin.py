"""What vLLM loads by the entry points of group `vllm.general_plugins` and
`vllm.endpoint_plugins` (both named `specviz`, switched on by `VLLM_PLUGINS=specviz`)."""

from __future__ import annotations

import os
from typing import Any

from specviz.servers.vllm.scheduler import admission, counts
from specviz.servers.vllm.scheduler.scheduler import POLICY_VARIABLE
from specviz.servers.vllm.tracing import spool


def register() -> None:
    """Put the hooks into every worker that this process will start. May be called repeatedly.

    Nothing of vLLM is changed before a worker has loaded its model: the API process, which loads
    this plugin too, stays as it is, unless there is a policy.
    """
    folder = spool.open_folder()
    admission.install()
    from vllm.v1.worker.worker_base import WorkerWrapperBase

    from specviz.servers.vllm.tracing import hooks

    hooks.install_on_start(WorkerWrapperBase, folder)


def endpoint() -> Any:
    """The plugin object that adds the two routes to the API server."""
    from specviz.servers.vllm.tracing.routes import TraceRoutes

    folder = spool.open_folder()
    if os.environ.get(POLICY_VARIABLE):
        counts.show_on_metrics(folder)
    return TraceRoutes(folder)
