"""The report: JSON that keeps to its schema, and an HTML file that shows text as text."""

from __future__ import annotations

import json
from pathlib import Path

from jsonschema import Draft202012Validator

from specviz.verify.document import document, line, page
from specviz.verify.finding import Finding, Outcome

SCHEMA = Path(__file__).parents[3] / "docs" / "schemas" / "verify.schema.json"

FINDINGS = [
    Finding(
        "counters",
        "Steps add up",
        Outcome.HOLDS,
        "They do.",
        {"num_drafts": 3, "p": None},
        {"num_drafts": 3},
    ),
    Finding("greedy", "Equal", Outcome.FAILS, "<script>alert(1)</script> parts.", {"ratio": 0.5}),
    Finding("verdicts", "Verdicts", Outcome.NOT_REPORTED, "It does not report them."),
]


def test_the_document_keeps_to_its_schema() -> None:
    found = document(FINDINGS)
    Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(found)
    assert (found["exit_code"], found["holds"]) == (1, False)
    assert [one["holds"] for one in found["checks"]] == [True, False, None]
    assert found["checks"][0]["expected"] == {"num_drafts": 3}
    assert json.loads(json.dumps(found)) == found


def test_the_page_shows_every_line_and_runs_nothing() -> None:
    html = page(document(FINDINGS))
    assert "Something does not hold" in html
    assert all(finding.title in html for finding in FINDINGS)
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "default-src 'none'" in html


def test_a_line_begins_with_its_outcome() -> None:
    assert [line(one).split()[0] for one in FINDINGS] == ["ok", "FAILS", "–"]
