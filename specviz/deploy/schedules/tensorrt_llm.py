"""TensorRT-LLM's `draft_len_schedule`, or `max_concurrency` where one K is switched off.

The meaning of the schedule's keys flipped with NVIDIA/TensorRT-LLM#10860 (merged 13 March 2026,
during the candidates of 1.3): they were the batch sizes from which a length is used, and are those
up to which it is; beyond the last one speculation is off now. Read in `tensorrt_llm/llmapi/
llm_args.py` before and after (DecodingBaseConfig, validate_draft_len_schedule_and_sort). Both want
`max_draft_len` at the smallest batch size, and no more at any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from specviz.deploy.launch import Remark
from specviz.deploy.schedules.steps import OTHERS, Schedule, Step
from specviz.deploy.tensorrt_llm import TENSORRT_LLM, as_yaml
from specviz.deploy.versions import is_before
from specviz.errors import UsageError

FLIPPED = "1.3"
LARGEST_BATCH = 2048
"""Default of `max_batch_size` (llm_args.py, BaseLlmArgs)."""

CHANGE = "https://github.com/NVIDIA/TensorRT-LLM/pull/10860"
SOURCE = "tensorrt_llm/llmapi/llm_args.py, DecodingBaseConfig, before and after #10860"
BEFORE = Remark(
    "Until 1.3 only methods that draft outside the target's step follow it (NGram, and models that "
    "draft on their own); EAGLE-3 and MTP in one model do not.",
    "NVIDIA/TensorRT-LLM#10860, which brought it to one model",
    url=CHANGE,
)
CANDIDATES = Remark(
    "Candidates of 1.3 from before 13 March 2026 read the keys the other way round: as the batch "
    "sizes from which a length is used. Name version 1.2 for those.",
    "NVIDIA/TensorRT-LLM#10860",
    url=CHANGE,
)


def schedule(steps: Sequence[Step], version: str) -> Schedule:
    """The keys to add to `speculative_config` in its YAML.

    Raises UsageError where a larger batch has a larger K: TensorRT-LLM refuses that.
    """
    is_old = is_before(version, FLIPPED)
    found = keys(steps, is_old=is_old)
    scheduled = "draft_len_schedule" in found
    return Schedule(
        framework=TENSORRT_LLM,
        version=version,
        option=as_yaml({"speculative_config": found}).rstrip(),
        cannot=f"TensorRT-LLM's schedule looks at the batch size only: it cannot say {OTHERS}, nor "
        "a K that is larger at a larger batch, and it changes K at once when the load swings.",
        source=SOURCE,
        remarks=(BEFORE,) if is_old else ((CANDIDATES,) if scheduled else ()),
    )


def keys(steps: Sequence[Step], *, is_old: bool) -> dict[str, Any]:
    """`max_draft_len` alone for one K everywhere, with `max_concurrency` for one that is switched
    off, with `draft_len_schedule` for more."""
    most = steps[0].k
    if larger := next((step for step in steps if step.k > most), None):
        raise UsageError(
            f"TensorRT-LLM's schedule starts with its largest K: the policy has K {most} at batch "
            f"size 1 and K {larger.k} from {larger.first} on. Make none larger than the first."
        )
    if len(steps) == 1:
        return {"max_draft_len": most}
    if len(steps) == 2 and steps[1].k == 0:
        return {"max_draft_len": most, "max_concurrency": steps[0].last}
    lengths = {step.first: step.k for step in steps} if is_old else _up_to(steps)
    return {"max_draft_len": most, "draft_len_schedule": lengths}


def _up_to(steps: Sequence[Step]) -> dict[int, int]:
    """The last K goes on up to the largest batch; where it is 0 that needs no key."""
    *others, last = steps
    found = {step.last: step.k for step in others}
    return {**found, max(last.last, LARGEST_BATCH): last.k} if last.k else found
