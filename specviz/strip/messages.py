"""Messages to the token strip: who the arms are, their events, their results.

`hello` names the arms, `batch`es bring events and figures per arm; `specviz.web.watch` sends them
over a WebSocket, `specviz.report` writes them into a file.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from specviz.analysis.arm_names import arm_names
from specviz.analysis.readout import Figure, readout, verdict
from specviz.config import EngineKind, Prompt
from specviz.engines.embedded.options import repeats_plain
from specviz.live.job import ArmLog, Phase, baseline_to_time, comparisons, finished_baseline
from specviz.methods import Method
from specviz.models.pair import is_default
from specviz.trace import Step
from specviz.wire import event_to_dict


def hello(mode: str, prompt: Prompt, arms: Sequence[ArmLog]) -> dict[str, Any]:
    names = arm_names([arm.config for arm in arms])
    return {
        "type": "hello",
        "mode": mode,
        "prompt": prompt.text,
        "arms": [_introduced(arm, name) for arm, name in zip(arms, names, strict=True)],
    }


def logged(arm_id: str, title: str, tool: str, k: int | None, steps: Sequence[Step]) -> list[str]:
    """All messages of one request that another tool logged, for a replay.

    What a log does not have (prompt, method, times of the client, figures) is left empty.
    """
    arm = {
        "id": arm_id,
        "title": title,
        "engine": tool,
        "badge": tool,
        "model": None,
        "fidelity": "logged",
        "lossless": None,
        "rule": None,
        "k": k,
        "method": None,
        "max_tokens": None,
    }
    part = {
        "id": arm_id,
        "from": 0,
        "figures": [],
        "state": {"phase": Phase.FINISHED.value, "note": None},
        "events": [event_to_dict(step) for step in steps],
    }
    messages: list[dict[str, Any]] = [
        {"type": "hello", "mode": "replay", "prompt": "", "arms": [arm]},
        {"type": "batch", "verdict": None, "arms": [part]},
        {"type": "end"},
    ]
    return [json.dumps(message) for message in messages]


def _introduced(arm: ArmLog, name: str) -> dict[str, Any]:
    """What is known of an arm before its events."""
    config = arm.config
    in_app = config.engine is EngineKind.EMBEDDED
    return {
        "id": arm.run_id,
        "title": name,
        "engine": ", ".join(filter(None, [config.engine.value, config.server_version])),
        "badge": "in the app" if in_app else config.server_version,
        "model": None if is_default(config.model) else Path(config.model or "").name,
        "fidelity": None,
        "lossless": config.is_lossless,
        "rule": "typical" if config.judges_typically else None,
        "k": config.k,
        "method": config.method.value if config.method else None,
        "max_tokens": config.sampling.max_tokens,
    }


def arm_message(
    arm: ArmLog, start: int, events: Sequence[str], figures: list[Figure] | None
) -> str:
    """One arm's part of a batch; `start` is the index of the first of `events`."""
    head = {
        "id": arm.run_id,
        "from": start,
        "figures": figures,
        "state": {"phase": arm.phase.value, "note": arm.note},
    }
    return f'{json.dumps(head)[:-1]}, "events": [{", ".join(events)}]}}'


def batch(arms: Sequence[str], verdict_line: dict[str, Any] | None) -> str:
    body = ", ".join(arms)
    return f'{{"type": "batch", "verdict": {json.dumps(verdict_line)}, "arms": [{body}]}}'


def figures_of(arm: ArmLog, arms: Sequence[ArmLog]) -> list[Figure]:
    baseline, reason = baseline_to_time(arm, arms)
    trace = arm.trace()
    return readout(
        arm.metrics(),
        trace.fidelity if trace else None,
        baseline=baseline.metrics() if baseline else None,
        why_no_baseline=reason,
        is_baseline=arm.config.method is Method.BASELINE,
        finished=arm.phase is Phase.FINISHED,
        earlier=arm.earlier,
    )


def verdict_of(arms: Sequence[ArmLog]) -> dict[str, Any] | None:
    return verdict(
        [arm.config for arm in arms],
        comparisons(arms),
        has_baseline=finished_baseline(arms) is not None,
        may_part=any(repeats_plain(arm.config) is False for arm in arms),
    )
