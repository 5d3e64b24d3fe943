"""The report as JSON and as an HTML file to attach to an issue."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from specviz import __version__
from specviz.machine import hardware_summary
from specviz.report.markup import pairs, table, text
from specviz.report.scripts import page_style
from specviz.verify.finding import Figure, Finding, Outcome, exit_code

SENTENCES = (
    ".findings .wide :is(th, td) { text-align: left; white-space: normal; vertical-align: top; }"
    ".findings .wide td:nth-child(2) { white-space: nowrap; }"
)
"""Cells of the other reports are figures: aligned to the right, on one line."""

HEADLINES = {
    0: "All of it holds",
    1: "Something does not hold",
    2: "Something could not be measured",
}


def document(findings: Sequence[Finding]) -> dict[str, Any]:
    """What `specviz verify --json` prints; its keys are a public format."""
    code = exit_code(findings)
    return {
        "specviz_version": __version__,
        "verified_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "hardware": hardware_summary(),
        "exit_code": code,
        "holds": code == 0,
        "checks": [finding.to_dict() for finding in findings],
    }


def page(found: dict[str, Any]) -> str:
    """The same as one HTML file, with no script and nothing from anywhere else."""
    style = page_style() + SENTENCES
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    title = f"specviz verify: {HEADLINES[found['exit_code']]}"
    lines = [(one["title"], one["outcome"], one["detail"]) for one in found["checks"]]
    figures = [
        f"<section><h3>{text(one['title'])}</h3>{_figures(one['found'], one['expected'])}</section>"
        for one in found["checks"]
        if one["found"]
    ]
    return "".join(
        [
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
            '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
            f"style-src 'sha256-{digest}'\">",
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{text(title)}</title><style>{style}</style></head><body>",
            f'<h1>{text(title)}</h1><p class="muted">specviz {text(found["specviz_version"])}, '
            f"{text(found['verified_at'])}, {text(found['hardware'])}</p>",
            '<section class="findings">',
            table(("Check", "Outcome", "What was seen"), lines),
            "</section>",
            "<h2>Figures</h2>",
            *figures,
            "</body></html>\n",
        ]
    )


def _figures(found: Mapping[str, Figure], expected: Mapping[str, Figure]) -> str:
    if not expected:
        return pairs(found.items())
    rows = [(name, value, expected.get(name, "")) for name, value in found.items()]
    return table(("Figure", "Found", "Expected"), rows)


MARKS = {
    Outcome.HOLDS: "ok",
    Outcome.FAILS: "FAILS",
    Outcome.NOT_MEASURED: "?",
    Outcome.NOT_REPORTED: "–",
}


def line(finding: Finding) -> str:
    """One line of the terminal."""
    return f"{MARKS[finding.outcome]:>5}  {finding.title}: {finding.detail}"
