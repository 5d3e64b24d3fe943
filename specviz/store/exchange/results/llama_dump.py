"""llama.cpp's draft dump: one line of JSON per verification step of its MTP draft.

Written where `LLAMA_SPEC_DUMP` names a file, by the fork turbo-tan/llama.cpp-tq3 (pull request 83,
September 2026). `p` is the draft's probability of its token and `top` are the draft's candidates:
nothing in the file is the target's. It has no prompt, no token of the target's own, no step without
a draft, and it names the server's slot (`seq`) instead of the request, so it is a result with steps
and not a run: an answer cannot be put together from it. Other forks write other lines under the
same name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from specviz.store.exchange.results.draft_steps import DraftStep, columns_of, totals_of_steps
from specviz.store.exchange.results.measured import (
    JsonFormat,
    Measured,
    Reading,
    as_text,
    share,
    small,
)

TOOL = "llama.cpp draft dump"
STEP = {"step", "n_draft", "n_accepted", "pos"}
NOTE = (
    "The dump names slots of the server, not requests, and leaves out the target's own tokens and "
    "steps without a draft. The draft's other candidates (top) are not kept."
)


def _recognises(documents: Sequence[Any]) -> bool:
    return bool(documents) and isinstance(documents[0], dict) and set(documents[0]) >= STEP


def _read(documents: Sequence[Any]) -> Reading:
    by_slot: dict[str | None, list[DraftStep]] = defaultdict(list)
    dropped = 0
    for line in documents:
        by_slot[as_text(line.get("seq"))].append(_step(line))
        dropped += small(line.get("pmin_drop", 0))
    requests = [
        {"sequence": None if slot is None else f"slot {slot}", **columns_of(steps)}
        for slot, steps in by_slot.items()
    ]
    row = {
        "name": TOOL,
        "server": "llama.cpp",
        **totals_of_steps(step for steps in by_slot.values() for step in steps),
    }
    document = {"steps": len(documents), "slots": len(by_slot), "pmin_drop": dropped}
    return [Measured(row, document, tuple(requests))], (NOTE,)


def _step(line: Mapping[str, Any]) -> DraftStep:
    accepted, positions = small(line["n_accepted"]), line["pos"]
    if not isinstance(positions, list):
        raise TypeError("pos is not a list")
    for place, position in enumerate(positions):
        if position["i"] != place or position["acc"] is not (place < accepted):
            raise ValueError(f"position {place} of step {str(line['step'])[:20]!r} is out of order")
    return DraftStep(
        step_index=small(line["step"]),
        num_draft_tokens=small(line["n_draft"]),
        num_accepted_tokens=accepted,
        draft_token_ids=[small(position["tok"]) for position in positions],
        draft_probs=[share(position.get("p")) for position in positions],
    )


LLAMA_DUMP = JsonFormat(TOOL, _recognises, _read)
