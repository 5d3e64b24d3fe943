"""`specviz doctor --draft` and `specviz convert` at a shell."""

from __future__ import annotations

from pathlib import Path

import pytest

from specviz.cli import main
from tests.support.demo_models import MODELS


def code_of(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return int(ended.value.code or 0)


def test_a_draft_that_fits_ends_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of("doctor", "--draft", str(MODELS / "demo-eagle3")) == 0
    out = capsys.readouterr().out
    assert "The head drafts 2,944 of 4,096 tokens." in out
    assert "refused" not in out


def test_a_draft_that_does_not_ends_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    target = str(MODELS / "demo-draft")  # narrower than the one of the head
    assert code_of("doctor", "--draft", str(MODELS / "demo-eagle3"), "--target", target) == 1
    assert "refused" in capsys.readouterr().out


def test_a_target_alone_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of("doctor", "--target", "x") == 2
    assert "--target goes with --draft" in capsys.readouterr().err


def test_a_head_is_converted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head, out = str(MODELS / "demo-eagle3"), str(tmp_path / "head")
    assert code_of("convert", head, "--to", "speculators", "-o", out) == 0
    assert code_of("doctor", "--draft", out) == 0
    assert code_of("convert", head, "--to", "speculators", "-o", out) == 2
    assert code_of("convert", head, "--to", "onnx", "-o", out) == 2
    assert "write --to speculators or specforge" in capsys.readouterr().err
