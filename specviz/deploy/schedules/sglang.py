"""SGLang's adaptive speculation, held to one number of steps per batch size.

Read in SGLang 0.5.23: `srt/speculative/adaptive_spec_params.py`,
`srt/arg_groups/speculative_hook.py`. A batch size uses the largest key that is not above it. With
one candidate its acceptance has nothing to choose from.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from specviz.deploy.launch import Remark
from specviz.deploy.schedules.steps import OTHERS, Schedule, Step
from specviz.deploy.sglang import SGLANG

FILE = "adaptive.json"
SOURCE = "SGLang 0.5.23, srt/speculative/adaptive_spec_params.py"
ONLY_EAGLE = Remark(
    "SGLang adapts with EAGLE and EAGLE3 only, top-k 1, without attention data parallelism; "
    "elsewhere it warns and drafts a fixed number of steps.",
    "SGLang 0.5.23, srt/speculative/adaptive_spec_params.py, adaptive_unsupported_reason",
)


def schedule(steps: Sequence[Step], version: str) -> Schedule:
    """The flags and the file that `--speculative-adaptive-config` names."""
    candidates = {str(step.first): {"candidate_steps": [step.k]} for step in steps}
    most = max(step.k for step in steps)
    flags = [
        "--speculative-adaptive",
        f"--speculative-adaptive-config {FILE}",
        "--speculative-eagle-topk 1",
        f"--speculative-num-steps {most}",
        f"--speculative-num-draft-tokens {most + 1}",
    ]
    return Schedule(
        framework=SGLANG,
        version=version,
        option=" ".join(flags),
        cannot="SGLang's file looks at the batch size, rounded up to that of a CUDA graph: it "
        f"cannot say {OTHERS}, and it changes K at once when the load swings.",
        source=SOURCE,
        files={FILE: json.dumps(candidates, indent=2) + "\n"},
        remarks=(ONLY_EAGLE,),
    )
