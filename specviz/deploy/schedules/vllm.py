"""vLLM's `num_speculative_tokens_per_batch_size`, a part of its speculative configuration.

Read in vLLM 0.32.0 and 0.33.0: `config/speculative.py`, `v1/spec_decode/dynamic/utils.py`,
`v1/core/sched/scheduler.py`.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence

from specviz.deploy import vllm
from specviz.deploy.launch import Remark
from specviz.deploy.schedules.steps import OTHERS, Schedule, Step
from specviz.methods import VLLM

SOURCE = "vLLM 0.32.0 and 0.33.0, v1/spec_decode/dynamic/utils.py"
PARALLEL = Remark(
    "vLLM ignores the schedule with data parallelism: its replicas would choose different Ks.",
    "vLLM 0.33.0, config/vllm.py, _maybe_disable_dynamic_sd_for_data_parallel",
)


def schedule(steps: Sequence[Step], version: str) -> Schedule:
    """The keys to add to `--speculative-config`: its K and its schedule."""
    return Schedule(
        framework=VLLM,
        version=version,
        option=json.dumps(keys(steps)),
        cannot=f"vLLM's schedule looks at the requests in a step only: it cannot say {OTHERS}, and "
        "it changes K at once when the load swings.",
        source=SOURCE,
        remarks=(PARALLEL,),
    )


def flag(steps: Sequence[Step], method: str, draft: str | None) -> str:
    """The whole `--speculative-config` of a method, with the schedule."""
    config = vllm.speculative_config(method, None, draft) or {}
    return f"--speculative-config {shlex.quote(json.dumps(config | keys(steps)))}"


def keys(steps: Sequence[Step]) -> dict[str, object]:
    """[first, last, K] with both ends included; the last K goes on beyond its end."""
    return {
        "num_speculative_tokens": max(step.k for step in steps),
        "num_speculative_tokens_per_batch_size": [[one.first, one.last, one.k] for one in steps],
    }
