"""What each tool reports as acceptance: under which name, by which definition, counted where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from specviz.analysis.acceptance import definitions as d


@dataclass(frozen=True, slots=True)
class ReportedFigure:
    """`path` leads to it in the tool's document; `factor` makes a share of a percentage."""

    name: str
    definition: d.Definition
    path: tuple[str, ...]
    factor: float = 1.0


@dataclass(frozen=True, slots=True)
class Tool:
    """`counted`: whose steps its figures are about. `source`: where that was read.

    The first of `figures` for a word is what the tool calls so without a further word.
    """

    name: str
    counted: str
    source: str
    figures: tuple[ReportedFigure, ...] = ()


_PERCENT = 0.01

SPECVIZ = Tool(
    "specviz",
    "its own requests that finished, warm-ups left out; per request where the server reports it, "
    "else what its counters gained",
    "docs/architecture.md",
)
TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            "vllm bench serve",
            "what the server's counters gained meanwhile: warm-ups are left out, requests of "
            "anybody else are not",
            "vllm/benchmarks/serve.py, vLLM 0.32 and 0.33",
            (
                ReportedFigure(
                    "Acceptance rate", d.RATE, ("spec_decode_acceptance_rate",), _PERCENT
                ),
                ReportedFigure("Acceptance length", d.LENGTH, ("spec_decode_acceptance_length",)),
            ),
        ),
        Tool(
            "aiperf",
            "its own requests, as the server counted each; warm-ups and requests with several "
            "answers are left out",
            "aiperf/metrics/types/spec_decode_metrics.py, AIPerf 0.13",
            (
                ReportedFigure(
                    "Draft Acceptance Rate", d.RATE_OF_REQUESTS,
                    ("spec_decode_draft_acceptance_rate", "avg"), _PERCENT,
                ),
                ReportedFigure(
                    "Overall Draft Acceptance Rate", d.RATE,
                    ("spec_decode_overall_draft_acceptance_rate", "avg"), _PERCENT,
                ),
                ReportedFigure(
                    "Accepted per Verified", d.VERIFIED_OF_REQUESTS,
                    ("spec_decode_accepted_per_verified", "avg"),
                ),
                ReportedFigure(
                    "Acceptance Length", d.LENGTH_OF_REQUESTS,
                    ("spec_decode_acceptance_length", "avg"),
                ),
                ReportedFigure(
                    "Token-Weighted Acceptance Length", d.LENGTH,
                    ("spec_decode_token_weighted_acceptance_length", "avg"),
                ),
            ),
        ),
        Tool(
            "specforge benchmark",
            "its own requests, as SGLang counted each; warm-ups are left out",
            "specforge/benchmarks/sglang.py, SpecForge 0.2; vLLM issue 42508",
            (
                ReportedFigure(
                    "Average acceptance length", d.TOKENS_OF_REQUESTS,
                    ("average_acceptance_length",),
                ),
            ),
        ),
        Tool(
            "llama.cpp draft dump",
            "every step with a draft while the file was written, of whatever request; tokens that "
            "the p_min gate dropped before verification are not drafted",
            "turbo-tan/llama.cpp-tq3, pull request 83",
        ),
        Tool(
            "specspecs",
            "the steps that the decoding loop logged",
            "specspecs/hooks.py, specspecs 0.1",
        ),
        Tool(
            "sglang.bench_serving",
            "every verification step of the server since it started, of whatever request",
            "sglang/bench_serving.py and srt/managers/scheduler.py, SGLang 0.5",
            (ReportedFigure("Accept length", d.LENGTH, ("accept_length",)),),
        ),
        Tool("guidellm", "it reports no acceptance", "GuideLLM's report schemas 1 and 2"),
    )
}  # fmt: skip
"""By the name in the column `tool`."""


@dataclass(frozen=True, slots=True)
class Reported:
    """A figure as a tool wrote it: the tool's name for it, the definition, the value."""

    name: str
    definition: d.Definition
    value: float


def reported(tool: str, document: Mapping[str, Any]) -> list[Reported]:
    """The acceptance figures in a tool's document; none that is missing or no number."""
    known = TOOLS.get(tool)
    found = []
    for figure in known.figures if known else ():
        value = _at(document, figure.path)
        if isinstance(value, int | float) and not isinstance(value, bool):
            found.append(Reported(figure.name, figure.definition, value * figure.factor))
    return found


def _at(document: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        document = document.get(name) if isinstance(document, Mapping) else None
    return document
