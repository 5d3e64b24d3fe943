"""Drafts of tiny targets: trained, stopped and gone on with, and opened by the embedded engine."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch

from specviz.checkpoints.check import check_pair
from specviz.checkpoints.finding import Verdict
from specviz.errors import UsageError
from specviz.methods import Method
from specviz.training import draft as draft_model
from specviz.training import fit as fitting
from specviz.training import losses as losses_of
from specviz.training import measure as measuring
from specviz.training import train as training
from specviz.training.frozen import load_frozen
from specviz.training.train import METHODS, Order, Report, train
from tests.support.training.targets import save_predictable, save_target, texts


def silent(text: str) -> None:
    pass


@pytest.fixture(autouse=True)
def short_measurements(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "PROMPTS", 8)
    monkeypatch.setattr(measuring, "ANSWER_TOKENS", 24)
    monkeypatch.setattr(measuring, "K", 3)
    monkeypatch.setattr(losses_of, "DRAFT_STEPS", 2)
    monkeypatch.setattr(draft_model, "LAYERS", 2)  # of the target's four
    monkeypatch.setattr(training, "DRAFT_VOCABULARY", 40)
    monkeypatch.setattr(training, "LONGEST_ANSWER", 24)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random target and a predictable one, and prompts."""
    root = tmp_path_factory.mktemp("training")
    save_target(root / "target")
    save_predictable(root / "predictable")
    (root / "prompts.txt").write_text("\n".join(texts(240)), encoding="utf-8")
    return root


def order(root: Path, method: Method, out: Path, **changes: Any) -> Order:
    made = Order(
        root / "target", method, (root / "prompts.txt",), out, tokens=400, minutes=60.0, steps=2
    )
    return dataclasses.replace(made, **changes)


def assert_fits(report: Report, target: Path) -> None:
    for folder in report.folders:
        found = check_pair(Path(folder), target, method=report.method)
        assert not [one for one in found if one.verdict is Verdict.REFUSED], found


def test_a_trained_head_is_accepted_more_often(root: Path, tmp_path: Path) -> None:
    target = root / "predictable"
    report = train(
        order(root, Method.EAGLE3, tmp_path, target=target, tokens=3000, steps=120), silent
    )
    before, after = report.before.length, report.after.length
    assert after.value > before.value + 0.5, (before, after)
    rates = [one.value for one in report.after.by_position]
    assert len(rates) == 3 and rates == sorted(rates, reverse=True)
    assert after.value == pytest.approx(1 + sum(rates))
    assert report.steps == 120
    assert json.loads((tmp_path / "eagle3.json").read_text())["steps"] == 120
    assert_fits(report, target)
    prompts = training.read_prompts([root / "prompts.txt"]).held_out
    for folder in report.folders:  # in Speculators' format it drafts the same
        assert measuring.measure(target, Path(folder), Method.EAGLE3, prompts, "cpu") == (
            report.after
        )


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(one, marks=pytest.mark.slow if at == 0 else [])
        for at, one in enumerate(METHODS)
    ],
)
def test_the_loss_falls_and_the_draft_is_opened(root: Path, tmp_path: Path, method: Method) -> None:
    losses: list[float] = []

    def note(text: str) -> None:
        losses.extend(float(found) for found in re.findall(r"loss ([\d.]+)", text))

    report = train(order(root, method, tmp_path, steps=40), note)
    assert report.steps == 40 and report.after.steps > 0
    assert len(losses) == 4 and losses[-1] < 0.99 * losses[0], losses  # means over all so far
    assert_fits(report, root / "target")


@pytest.mark.parametrize(
    ("kind", "method"),
    [
        ("qwen3", Method.EAGLE3),
        ("qwen2", Method.DRAFT_MODEL),
        *(
            pytest.param(kind, method, marks=pytest.mark.slow)
            for kind in ("qwen2", "qwen3", "llama3 rope", "yarn rope", "llama untied")
            for method in METHODS
        ),
    ],
)
def test_other_architectures(kind: str, method: Method, root: Path, tmp_path: Path) -> None:
    target = save_target(tmp_path / "target", kind)
    report = train(order(root, method, tmp_path / "out", target=target), silent)
    assert report.after.steps > 0
    assert_fits(report, target)


def test_more_answers_do_not_change_what_is_drafted(root: Path, tmp_path: Path) -> None:
    first = order(root, Method.EAGLE3, tmp_path, tokens=300)
    train(first, silent)
    drafted = (tmp_path / "vocabulary.json").read_bytes()
    report = train(dataclasses.replace(first, tokens=1000, steps=4), silent)
    assert report.answer_tokens >= 1000 and report.steps == 4
    assert (tmp_path / "vocabulary.json").read_bytes() == drafted


def test_a_work_folder_has_one_target_and_seed(root: Path, tmp_path: Path) -> None:
    first = order(root, Method.MEDUSA, tmp_path, tokens=300, steps=1)
    train(first, silent)
    with pytest.raises(UsageError, match="another target or seed: name another folder with --out"):
        train(dataclasses.replace(first, seed=21), silent)


def test_weights_are_trained_in_float32(root: Path) -> None:
    frozen = load_frozen(root / "target", torch.device("cpu"))
    made = draft_model.Draft(frozen, torch.arange(8), root / "target")
    assert {one.dtype for one in made.model.parameters()} == {torch.float32}


class Killed(BaseException):
    pass


def test_a_killed_training_goes_on_to_the_same_weights(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = fitting._save

    def save_and_kill(path: Path, model: Any, optimizers: Any, done: fitting.Progress) -> None:
        real(path, model, optimizers, done)
        if path.parent.name == "killed" and done.step == 3:
            raise Killed

    monkeypatch.setattr(fitting, "CHECKPOINT_SECONDS", -1.0)
    monkeypatch.setattr(fitting, "_save", save_and_kill)
    train(order(root, Method.EAGLE3, tmp_path / "whole", steps=6), silent)
    killed = order(root, Method.EAGLE3, tmp_path / "killed", steps=6)
    with pytest.raises(Killed):
        train(killed, silent)
    monkeypatch.setattr(fitting, "_save", real)
    assert train(killed, silent).steps == 6
    whole, resumed = (
        torch.load(tmp_path / name / "eagle3.checkpoint", weights_only=True)["model"]
        for name in ("whole", "killed")
    )
    for name, weight in whole.items():
        torch.testing.assert_close(resumed[name], weight, msg=name)
