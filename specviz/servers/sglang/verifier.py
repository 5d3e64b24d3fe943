"""How SGLang accepts draft tokens (`speculative/eagle_utils.py`, `speculative/dflash_utils.py`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specviz.servers import checked
from specviz.servers.capabilities import Verifier

THRESHOLDS = ("speculative_accept_threshold_single", "speculative_accept_threshold_acc")

UNSEEN = (
    "On CUDA; elsewhere SGLang may verify sampled requests greedily. It does not report "
    "SGLANG_SIMULATE_ACC_LEN, which accepts without asking the target."
)


def verifier(info: Mapping[str, Any]) -> Verifier:
    """The rule that a speculating server's arguments choose. Raises MalformedReply."""
    name = _name(info)
    single, acc = (checked.number(info.get(one, 1.0), one, 0.0, 1.0) for one in THRESHOLDS)
    if min(single, acc) < 1:
        note = f"Thresholds below 1 (single {single:g}, acc {acc:g}) accept more than the target."
        return Verifier(name, False, note)
    if info.get("speculative_algorithm") == "DFLASH":
        note = "Without its sampling kernel DFlash verifies sampled requests greedily."
        return Verifier(name, None, note)
    return Verifier(name, True, UNSEEN)


def _name(info: Mapping[str, Any]) -> str:
    if info.get("speculative_use_rejection_sampling") is not True:
        return "target-only sampling"
    blockwise = info.get("speculative_use_block_verification") is True
    return "block verification" if blockwise else "rejection sampling"
