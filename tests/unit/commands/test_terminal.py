"""No server's words reach the terminal as control sequences: any command, text or JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from specviz.cli import main
from specviz.terminal import escaped
from tests.support.servers.echoing_server import echoing
from tests.support.servers.hostile_server import Says, stream
from tests.support.servers.kind_pages import page
from tests.support.servers.scripted_server import chunk

EVIL = "\x1b]0;PWNED\x07\x1b[31mRED\x1b[2J\x9b31m\x08\x00\rOVER\u202eRTL\u2028\x1b]8;;http://e/\x07"
UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2028]")
PAGES: dict[str, Says] = {
    "/v1/models": json.dumps(
        {"data": [{"id": f"mod{EVIL}", "owned_by": f"own{EVIL}", "max_model_len": 64}]}
    ),
    "/version": page({"version": f"0.32.0{EVIL}"}),
    "/metrics": "vllm:num_requests_running 0.0\n",
}
ANSWER = stream(chunk(f"a{EVIL}"), chunk(EVIL, finish="stop"), "[DONE]")
DIED = stream(chunk("a"), page({"error": {"message": f"died {EVIL}"}}))
ENDED = stream(chunk("a", finish=f"stop{EVIL}"), "[DONE]")
REFUSED = page({"error": {"message": f"no {EVIL}", "code": 400}}).encode()


@pytest.fixture(autouse=True, params=[False, True], ids=["pipe", "colours"])
def colours(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    if request.param:
        monkeypatch.setenv("FORCE_COLOR", "1")


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """All that a command writes, on both streams."""
    with pytest.raises(SystemExit):
        main([*arguments])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return out + err


def plain(text: str) -> str:
    """Without rich's own styles, where colours are forced."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.mark.parametrize(
    ("answer", "status"),
    [(ANSWER, 200), (DIED, 200), (ENDED, 200), (REFUSED, 400), (REFUSED, 500)],
    ids=["answer", "died", "ended", "refused", "failed"],
)
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, answer: bytes, status: int, as_json: bool
) -> None:
    with echoing(PAGES, answer, status) as (url, _):
        db = str(tmp_path / "runs.duckdb")
        arguments = ["run", "--prompt", "x", "--server", url, "--db", db, "--no-trace"]
        text = printed(capsys, *arguments, *["--json"] * as_json)
    assert "PWNED" in text or (answer, as_json) == (ENDED, False)
    assert not UNSEEN.search(plain(text))
    assert "\x1b[31m" not in text and "\x1b[2J" not in text


@pytest.mark.parametrize("words", [["servers", "check"], ["servers", "check", "--json"]])
def test_servers(capsys: pytest.CaptureFixture[str], tmp_path: Path, words: list[str]) -> None:
    db = ("--db", str(tmp_path / "runs.duckdb"))
    with echoing(PAGES, ANSWER) as (url, _):
        printed(capsys, "servers", "add", "evil", url, *db)
        text = printed(capsys, *words, *db)
    assert "PWNED" in text
    assert not UNSEEN.search(plain(text))


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_verify(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    with echoing(PAGES, REFUSED, 400) as (url, _):
        text = printed(capsys, "verify", "--server", url, "--baseline", url, *words)
    assert not UNSEEN.search(plain(text))
    assert "\x1b[31m" not in text


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_query(capsys: pytest.CaptureFixture[str], tmp_path: Path, words: list[str]) -> None:
    db = ("--db", str(tmp_path / "runs.duckdb"))
    with echoing(PAGES, ANSWER) as (url, _):
        printed(capsys, "run", "--prompt", "x", "--server", url, *db)
    text = printed(capsys, "query", "SELECT model, server_version FROM runs", *db, *words)
    assert "PWNED" in text
    assert not UNSEEN.search(plain(text))


@pytest.mark.parametrize("text", [EVIL, "\ud800", "a\u200bb", "\ufeff", "x\ry"])
def test_json_with_escapes_says_the_same(text: str) -> None:
    written = escaped(json.dumps(text, ensure_ascii=False))
    assert json.loads(written) == text
    assert written.isprintable()


def test_a_line_a_tab_and_an_emoji_stay(colours: None) -> None:
    kept = "first\tcolumn\nsecond 🙂 한국어\n"
    assert escaped(kept) == kept


def test_a_styled_help_keeps_its_styles(capsys: pytest.CaptureFixture[str]) -> None:
    assert r"\u001b" not in printed(capsys, "--help")
