"""By which rule the server accepts drafts, and whether it keeps the target's distribution."""

from __future__ import annotations

from specviz.servers.client.probe import FoundServer
from specviz.verify.finding import Finding, Outcome

NAME, TITLE = "verifier", "The rule by which drafts are accepted is lossless"


def verifier(speculating: FoundServer) -> Finding:
    """What the server says of itself; what its answers say is on the lines below."""
    rule, name = speculating.capabilities.verifier, speculating.dialect.name
    if rule is None:
        if speculating.dialect.trace is not None:
            sentence = f"{name} says by which rule it accepts drafts only with specviz's plugin."
            return Finding(NAME, TITLE, Outcome.NOT_MEASURED, sentence)
        sentence = f"{name} does not report its rule."
        return Finding(NAME, TITLE, Outcome.NOT_REPORTED, sentence)
    outcome = {True: Outcome.HOLDS, False: Outcome.FAILS, None: Outcome.NOT_MEASURED}
    sentence = f"{rule.name}, {rule.verdict}: {rule.note}"
    figures = {"verifier": rule.name, "verdict": rule.verdict}
    expected = {"verdict": "lossless"}
    return Finding(NAME, TITLE, outcome[rule.is_lossless], sentence, figures, expected)
