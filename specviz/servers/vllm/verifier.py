"""How vLLM accepts draft tokens: `rejection_sample_method`.

Source: `config/speculative.py` of 0.32 and 0.33.
"""

from __future__ import annotations

from specviz.servers.capabilities import ACCEPTS_AT_A_RATE, Verifier

RULE = "rejection_sample_method"

VERIFIERS = {
    "standard": Verifier("standard", True, "Rejection sampling, token by token."),
    "block": Verifier("block", True, "Rejection sampling of the whole draft at once."),
    "synthetic": Verifier("synthetic", False, ACCEPTS_AT_A_RATE),
    "fly": Verifier("fly", False, "Accepts more where the target is undecided."),
}


def verifier(method: str) -> Verifier:
    """The rule that vLLM calls so."""
    unknown = Verifier(method, None, "A rule that specviz does not know.")
    return VERIFIERS.get(method, unknown)
