"""What servers really said, as the bytes of their answers: the material of the mutations.

The tokens, drafts and probabilities are those of the recorded traces in `data/traces`, written as
vLLM writes them: chunks, counts, the plugin's records.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from specviz.paths import PROJECT_ROOT
from specviz.trace import Step, Trace, fold
from specviz.wire import event_from_dict

MAX_TOKENS = 24
STEPS = 6


@dataclass(frozen=True)
class Recording:
    """One server and one answer. `lines` are the data of the events, `records` lines of the trace,
    `pages` bodies by path; a path that is missing is a 404."""

    lines: tuple[bytes, ...]
    records: tuple[bytes, ...] = ()
    pages: dict[str, bytes] = field(default_factory=dict)


def _dumps(value: Any) -> bytes:
    return json.dumps(value).encode()


def _trace(name: str) -> Trace:
    file = json.loads((PROJECT_ROOT / "data" / "traces" / f"{name}.json").read_text())
    trace = fold([event_from_dict(event) for event in file["requests"][0]["events"]])
    return replace(trace, steps=trace.steps[:STEPS])


def _chunk(text: str, ids: list[int] | None, finish: str | None, **more: Any) -> bytes:
    choice: dict[str, Any] = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    if ids is not None:
        choice["token_ids"] = ids
    body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "demo"}
    return _dumps({**body, "choices": [choice], **more})


def _record(step: Step) -> bytes:
    accepted = step.num_accepted
    judged = step.drafted[: accepted + 1]
    return _dumps(
        {
            "step": step.index,
            "t_ms": step.elapsed_ms,
            "drafted": [token.token_id for token in step.drafted],
            "draft_probs": [token.draft_prob for token in step.drafted],
            "target_probs": [token.target_prob for token in step.drafted],
            "accept_probs": [token.accept_prob for token in step.drafted],
            "u": [token.u for token in step.drafted],
            "top": [[[top.token_id, top.prob] for top in token.target_top] for token in judged],
            "emitted": [token.token_id for token in step.emitted],
            "num_accepted": accepted,
            "draft_ms": step.draft_ms,
            "verify_ms": step.verify_ms,
            "wall_ms": step.wall_ms,
        }
    )


def _metrics(drafts: int) -> bytes:
    lines = ["# TYPE vllm:num_requests_running gauge", "vllm:num_requests_running 1.0"]
    for name in ("drafts", "draft_tokens", "accepted_tokens"):
        full = f"vllm:spec_decode_num_{name}"
        lines += [f"# TYPE {full} counter", f'{full}_total{{engine="0"}} {drafts}.0']
    per_pos = "vllm:spec_decode_num_accepted_tokens_per_pos"
    lines += [f"# TYPE {per_pos} counter", f'{per_pos}_total{{position="0"}} {drafts}.0']
    return "\n".join([*lines, ""]).encode()


def _recording(name: str, *, plugin: bool, counts: bool, ids: bool) -> Recording:
    trace = _trace(name)
    lines = [_chunk("", None, None, prompt_token_ids=[1, 2, 3])]
    for step in trace.steps:
        text = "".join(token.text for token in step.emitted)
        emitted = [token.token_id or 0 for token in step.emitted]
        finish = "stop" if step is trace.steps[-1] else None
        lines.append(_chunk(text, emitted if ids else None, finish))
    drafts = [step for step in trace.steps if step.drafted]
    tokens = len(trace.emitted)
    usage: dict[str, Any] = {
        "choices": [],
        "usage": {"prompt_tokens": 3, "completion_tokens": tokens, "total_tokens": tokens + 3},
    }
    if counts:
        usage["metrics"] = {
            "speculative_decoding": {
                "num_spec_steps": len(drafts),
                "num_spec_tokens": 5,
                "per_step_accepted": [step.num_accepted for step in drafts],
                "per_step_drafted": [len(step.drafted) for step in drafts],
            }
        }
    lines += [_dumps(usage), b"[DONE]"]
    pages = {"/v1/models": _dumps({"data": [{"id": "demo", "max_model_len": 64}]})}
    if ids:
        pages |= {"/version": _dumps({"version": "0.32.0"}), "/metrics": _metrics(3)}
        pages["/detokenize"] = _dumps({"prompt": "word "})
    if plugin:
        handshake = {"tracing": True, "method": name, "num_speculative_tokens": 5}
        pages["/specviz/handshake"] = _dumps(handshake)
    records = tuple(_record(step) for step in trace.steps) if plugin else ()
    return Recording(tuple(lines), records, pages)


@cache
def recordings() -> tuple[Recording, ...]:
    """Traced, counted, inferred, and a server that streams text only."""
    return (
        _recording("draft_model", plugin=True, counts=True, ids=True),
        _recording("ngram", plugin=True, counts=False, ids=True),
        _recording("draft_model", plugin=False, counts=True, ids=True),
        _recording("draft_model", plugin=False, counts=False, ids=True),
        _recording("draft_model", plugin=False, counts=False, ids=False),
    )
