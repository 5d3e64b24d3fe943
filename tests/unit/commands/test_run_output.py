"""What `specviz run` prints of an answer: rejected drafts where they can be struck through."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from specviz import palette
from specviz.commands import single_run
from specviz.config import Run
from specviz.paths import DATA
from specviz.store import recording_from_dict
from specviz.trace import Channel, EmittedToken, Origin, Step, Trace, Verdict, fold

STRUCK = "\x1b[9;"


@pytest.fixture(scope="module")
def recorded() -> tuple[Run, Trace]:
    text = (DATA / "traces" / "ngram.json").read_text(encoding="utf-8")
    run, (request,) = recording_from_dict(json.loads(text))
    return run, fold(request.events)


def printed(recorded: tuple[Run, Trace], capsys: pytest.CaptureFixture[str]) -> str:
    single_run._print(*recorded)
    return capsys.readouterr().out


def test_a_file_has_the_answer_and_nothing_that_was_rejected(
    recorded: tuple[Run, Trace], capsys: pytest.CaptureFixture[str]
) -> None:
    _, trace = recorded
    judged = [token.verdict for step in trace.steps for token in step.drafted]
    assert Verdict.REJECTED in judged
    assert printed(recorded, capsys).startswith(f"{trace.text}\n\nngram · K 5")


def test_thinking_stands_under_a_heading_of_its_own(
    recorded: tuple[Run, Trace], capsys: pytest.CaptureFixture[str]
) -> None:
    run, trace = recorded
    said = [("<think>", Channel.MARKUP), ("Hm.", Channel.REASONING), ("Yes", Channel.ANSWER)]
    steps = tuple(
        Step(n, 40.0 * (n + 1), (), (EmittedToken(n, n, text, Origin.TARGET, channel),))
        for n, (text, channel) in enumerate(said)
    )
    thought = replace(trace, steps=steps, ttft_ms=40.0, e2el_ms=120.0)
    out = printed((run, thought), capsys)
    assert out.startswith("<think>\n[thinking]\nHm.\n[answer]\nYes\n\n")
    assert "TTFT ms 40.0 · first answer token ms 120" in out
    document = single_run.document(run, thought)
    assert (document["text"], document["side_text"]) == ("Yes", "<think>Hm.")
    assert document["steps"][1]["emitted"][0]["channel"] == "reasoning"


def test_a_terminal_has_rejected_tokens_struck_through(
    recorded: tuple[Run, Trace],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.delenv("NO_COLOR", raising=False)
    _, trace = recorded
    rejected = [
        token for step in trace.steps for token in step.drafted
        if token.verdict is Verdict.REJECTED and token.text
    ]  # fmt: skip
    red, green, blue = (int(palette.REJECTED[at : at + 2], 16) for at in (1, 3, 5))
    assert printed(recorded, capsys).count(f"{STRUCK}38;2;{red};{green};{blue}m") == len(rejected)
