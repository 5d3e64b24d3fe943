"""`specviz verify` as a shell runs it, on llama.cpp servers that it starts: the cheapest form."""

from __future__ import annotations

import html
import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration


def test_the_command_writes_the_same_lines_as_json_and_as_html(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    words = ["verify", "--kind", "llama.cpp", "--method", "ngram", "--prompts", "1"]
    words += ["--answers", "2", "--json", "--html", str(page)]
    done = subprocess.run([sys.executable, "-m", "specviz", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    written = json.loads(done.stdout)
    assert written["exit_code"] == 0
    assert {one["outcome"] for one in written["checks"]} == {"holds", "not reported"}
    (sampling,) = (one for one in written["checks"] if one["name"] == "sampling")
    assert {"p_value", "answers_each", "noticed_share"} <= set(sampling["found"])
    text = page.read_text(encoding="utf-8")
    assert all(html.escape(one["title"]) in text for one in written["checks"])
