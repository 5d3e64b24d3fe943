"""What the two servers are, and whether one speculates and the other does not."""

from __future__ import annotations

from specviz.servers.client.probe import FoundServer
from specviz.verify.finding import Finding, Outcome

NAME, TITLE = "identity", "A baseline, and a server that speculates"


def identity(baseline: FoundServer, speculating: FoundServer) -> Finding:
    found = speculating.capabilities
    figures = {
        "baseline": baseline.software or baseline.dialect.name,
        "baseline_model": baseline.model,
        "speculating": speculating.software or speculating.dialect.name,
        "model": speculating.model,
        "method": found.method.value if found.method else None,
        "num_speculative_tokens": found.k,
    }
    if baseline.capabilities.speculates:
        sentence = f"The baseline at {baseline.url} speculates too: name a server that does not."
        return Finding(NAME, TITLE, Outcome.FAILS, sentence, figures)
    if found.speculates is False:
        sentence = f"The server at {speculating.url} drafts nothing: start it with speculation."
        return Finding(NAME, TITLE, Outcome.FAILS, sentence, figures)
    drafts = f"{figures['method'] or 'a method it does not report'}"
    k = f", K {found.k}" if found.k else ""
    sentence = (
        f"{figures['baseline']} decodes plainly; {figures['speculating']} drafts with {drafts}{k}."
    )
    if found.speculates is None:
        sentence = f"{sentence} Whether it speculates at all, it does not report."
        return Finding(NAME, TITLE, Outcome.NOT_MEASURED, sentence, figures)
    return Finding(NAME, TITLE, Outcome.HOLDS, sentence, figures)
