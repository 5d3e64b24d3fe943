"""`specviz command`: the command on standard output, what to know on standard error."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from specviz.cli import main

VLLM = ("command", "--framework", "vllm", "--model", "T")


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main([*arguments])
    return int(str(ended.value.code))


def test_the_command_can_be_piped(capsys: pytest.CaptureFixture[str]):
    given = ("--method", "ngram", "--k", "3", "--", "--max-model-len", "4096")
    assert run(*VLLM, "--version", "0.33", *given) == 0
    out, err = capsys.readouterr()
    assert shlex.split(out)[:3] == ["vllm", "serve", "T"]
    assert shlex.split(out)[-2:] == ["--max-model-len", "4096"]
    assert "! refused: Requests with min_p or logit_bias" in err
    assert "https://github.com/vllm-project/vllm/issues/42744" in err


def test_files_are_printed_or_written_but_never_over_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    given = ("command", "--framework", "tensorrt-llm", "--model", "T", "--method", "ngram")
    assert run(*given, "--k", "3") == 0
    assert "# config.yaml\n" in capsys.readouterr().out
    folder = str(tmp_path / "trt")
    assert run(*given, "--k", "3", "-o", folder) == 0
    assert f"--config {folder}/config.yaml" in " ".join(shlex.split(capsys.readouterr().out))
    assert "max_draft_len: 3" in (tmp_path / "trt/config.yaml").read_text(encoding="utf-8")
    assert run(*given, "--k", "3", "-o", folder) == 2
    assert "exists: name another folder" in capsys.readouterr().err


def test_what_cannot_be_is_one_sentence(capsys: pytest.CaptureFixture[str]):
    assert run(*VLLM, "--method", "medusa", "--draft", "D", "--version", "0.33") == 2
    assert "medusa is in vLLM up to 0.32" in capsys.readouterr().err
    assert run(*VLLM, "--method", "ngram", "--uses", "min_q") == 2
    assert "'min_q' is none of sampling, min_p" in capsys.readouterr().err
