"""`specviz train` from the command line: its report, its document, and what it refuses."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from specviz.cli import main
from specviz.commands import train as command
from specviz.training import measure as measuring
from specviz.training import train as training
from tests.support.children import environment
from tests.support.training.targets import save_target, texts

LONG_S = 300.0
SCHEMA = Path(__file__).parents[3] / "docs" / "schemas" / "train.schema.json"


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Arguments that train for a moment."""
    monkeypatch.setattr(measuring, "PROMPTS", 6)
    monkeypatch.setattr(measuring, "ANSWER_TOKENS", 12)
    monkeypatch.setattr(training, "LONGEST_ANSWER", 12)
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("\n".join(texts(240)), encoding="utf-8")
    target = save_target(tmp_path / "target")
    arguments = ("--target", target, "--prompts", prompts, "--out", tmp_path / "out")
    return ["train", *map(str, arguments), "--tokens", "200", "--minutes", "0.01"]


def called(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


def test_the_report_and_its_document(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = called([*given, "--method", "eagle3", "--json"], capsys)
    document: dict[str, Any] = json.loads(out)
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(document)
    assert code == 0 and document["steps"] >= 1 and document["after"]["prompts"] == 6
    assert "answers: " in err and "measuring the trained draft" in err
    code, out, _ = called([*given, "--method", "eagle3"], capsys)  # done: only measured again
    lines = out.splitlines()
    assert code == 0 and lines[0].startswith("eagle3 for ")
    assert [line.split("  ")[0] for line in lines[3:-1]] == [
        "tokens per step",
        *(f"accepted at {place}" for place in range(1, 6)),
    ]
    assert all(folder in lines[-1] for folder in document["folders"])


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (("--method", "ngram"), "'ngram' is not trained here: use eagle3, eagle, medusa, draft_m"),
        (("--method", "eagle", "--device", "tpu"), "There is no device 'tpu': use cpu or cuda."),
        (("--method", "eagle", "--target", "nowhere"), "nowhere is not a model folder"),
        (("--method", "eagle", "--prompts", "nowhere.txt"), "nowhere.txt cannot be read"),
    ],
)
def test_what_cannot_be_trained(
    given: list[str],
    changes: tuple[str, ...],
    says: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, err = called([*given, *changes], capsys)
    assert code == 2 and out == "" and says in err and "Traceback" not in err


@pytest.mark.slow  # the sentence and the kept file are seen cheaply in test_ending and test_answers
@pytest.mark.parametrize("until", ["answers.jsonl", "eagle3"])
def test_ctrl_c_keeps_what_is_there(given: list[str], tmp_path: Path, until: str) -> None:
    """While the target answers, and while the draft is trained."""
    tokens = "1000000" if until == "answers.jsonl" else "200"
    command = [*given, "--method", "eagle3", "--tokens", tokens, "--minutes", "600"]
    program = "from specviz.training import fit; fit.CHECKPOINT_SECONDS = 0.0; "
    program += "from specviz.__main__ import main; main()"
    started = subprocess.Popen(
        [sys.executable, "-c", f"import sys; sys.argv = ['specviz', *{command!r}]; {program}"],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    file = tmp_path / "out" / until
    deadline = time.monotonic() + LONG_S
    while not file.exists() and started.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=LONG_S)
    assert started.returncode == 130 and out == ""
    assert err.splitlines()[-1] == (
        "Stopped: answers and checkpoints are kept, and the same command goes on from them."
    )
    assert "Traceback" not in err and file.exists()


def test_the_methods_are_those_that_are_trained() -> None:
    assert command.TRAINED == training.METHODS
