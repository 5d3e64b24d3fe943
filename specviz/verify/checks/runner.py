"""Which software runs, in which version, and by which of vLLM's model runners."""

from __future__ import annotations

from specviz.servers.client.probe import FoundServer
from specviz.verify.finding import Finding, Outcome

NAME, TITLE = "runner", "The software, its version and its model runner"


def runner(baseline: FoundServer, speculating: FoundServer) -> Finding:
    """Everything below is about these two, so the baseline is named where it is another one."""
    found, plain = speculating.capabilities, baseline.capabilities
    figures = {
        "kind": speculating.dialect.name,
        "version": found.version,
        "runner": found.runner,
        "baseline_kind": baseline.dialect.name,
        "baseline_version": plain.version,
        "baseline_runner": plain.runner,
    }
    sentences = [f"{_name(speculating)}."]
    if _name(baseline) != _name(speculating):
        sentences.append(f"The baseline is another one: {_name(baseline)}.")
    sentences += found.hidden
    if speculating.dialect.trace is not None and found.runner is None:
        sentences.append("Which model runner it has, it says only with specviz's plugin.")
        return Finding(NAME, TITLE, Outcome.NOT_MEASURED, " ".join(sentences), figures)
    return Finding(NAME, TITLE, Outcome.HOLDS, " ".join(sentences), figures)


def _name(server: FoundServer) -> str:
    name = server.software or f"{server.dialect.name} of a version that it does not report"
    runner = server.capabilities.runner
    return f"{name} with its {runner.upper()} model runner" if runner else name
