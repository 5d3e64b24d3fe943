"""The environment of a server's process: tracing plugin, offline use, the CPU build's switches."""

from __future__ import annotations

import itertools
import os
import site
from importlib.metadata import entry_points
from pathlib import Path

import specviz
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.vllm.hardware import runs_on_cpu
from specviz.servers.vllm.scheduler.scheduler import POLICY_VARIABLE
from specviz.servers.vllm.tracing.spool import FOLDER_VARIABLE

PLUGIN = "specviz"
PLUGIN_ENTRY = Path(__file__).parent / "tracing" / "entry"

# Not endpoint plugins: they are off unless named, and naming them here would switch them on.
_PLUGIN_GROUPS = ("general", "platform", "io_processor", "stat_logger")
_servers_started = itertools.count()


def server_environment(spec: ServerSpec, *, on_cpu: bool | None = None) -> dict[str, str]:
    """This process's environment with what the server needs; the operator's own values stay.

    Nothing here chooses a model runner, so that what is looked at is what is served: vLLM takes V2
    where Triton is, and V1 for what V2 lacks (suffix, custom classes, parallel drafting other than
    DFlash's and DSpark's, drafts with a vocabulary of their own). `on_cpu` None finds out whether
    this machine has a GPU.
    """
    on_cpu = runs_on_cpu() if on_cpu is None else on_cpu
    env = dict(os.environ)
    # Without compiled modules a server takes twice as long to import; and a trace folder of
    # another server is not this one's, nor is its policy.
    for name in ("PYTHONDONTWRITEBYTECODE", FOLDER_VARIABLE, POLICY_VARIABLE):
        env.pop(name, None)
    defaults = {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "PYTHONUNBUFFERED": "1"}
    if all(Path(name).is_dir() for name in (spec.model, spec.draft) if name):
        defaults["HF_HUB_OFFLINE"] = "1"
    if on_cpu:
        defaults |= _cpu_switches()
    for name, value in defaults.items():
        env.setdefault(name, value)
    if spec.policy:
        env[POLICY_VARIABLE] = str(spec.policy.resolve())
    return env | plugin_variables(env) if spec.trace or spec.policy else env


def plugin_variables(env: dict[str, str]) -> dict[str, str]:
    """What makes a vLLM process load the tracing plugin, also from a checkout.

    vLLM adds HTTP routes only for plugins that `VLLM_PLUGINS` names, and naming one switches off
    all that are not named: so every installed plugin is named too, unless the operator chose.
    """
    chosen = env.get("VLLM_PLUGINS")
    names = set(chosen.split(",")) if chosen is not None else _installed_plugins()
    paths = [str(PLUGIN_ENTRY)]
    root = str(Path(specviz.__file__).parents[1])
    if root not in site.getsitepackages():
        paths.append(root)
    if env.get("PYTHONPATH"):
        paths.append(env["PYTHONPATH"])
    return {
        "VLLM_PLUGINS": ",".join(sorted((names | {PLUGIN}) - {""})),
        "PYTHONPATH": os.pathsep.join(paths),
    }


def _installed_plugins() -> set[str]:
    groups = [f"vllm.{group}_plugins" for group in _PLUGIN_GROUPS]
    return {entry.name for group in groups for entry in entry_points(group=group)}


def _cpu_switches() -> dict[str, str]:
    """One process less; buffers that are kept; on two cores, servers take turns with core 0.

    glibc otherwise returns every freed buffer above 128 KiB to the system, and touching the next
    one costs more than the softmax written into it (1.2 ms against 0.4 for 80 rows of 4096).
    """
    switches = {
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        "MALLOC_MMAP_THRESHOLD_": str(32 * 2**20),
        "MALLOC_TRIM_THRESHOLD_": str(2**30),
    }
    if os.cpu_count() == 2:
        switches["VLLM_CPU_OMP_THREADS_BIND"] = str(next(_servers_started) % 2)
    return switches
