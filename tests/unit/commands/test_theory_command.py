"""`specviz theory`: JSON for programs, a table for people, wrong options named."""

from __future__ import annotations

import json
from typing import Any

import pytest
import typer

from specviz.commands.theory import theory
from specviz.errors import UsageError

app = typer.Typer()
app.command()(theory)


def run(*arguments: str) -> None:
    app(args=list(arguments), standalone_mode=False)


def asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    run(*arguments, "--json")
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert list(found) == ["formula", "positions", "roofline", "rejection", "k"]
    return found


def test_the_formula(capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, "--alpha", "0.6", "--k", "8", "--cost", "0.1")
    formula = found.pop("formula")
    assert formula["mean_acceptance_length"] == pytest.approx(2.47480576)
    assert formula["step_cost"] == pytest.approx(1.8)
    assert formula["speedup"] == pytest.approx(2.47480576 / 1.8)
    assert formula["best_k"] == 3
    assert formula["best_speedup"] == pytest.approx((1 + 0.6 + 0.36 + 0.216) / 1.3)
    assert 0.4 < formula["break_even_alpha"] < 0.5
    assert set(found.values()) == {None}


def test_a_draft_that_never_pays(capsys: pytest.CaptureFixture[str]) -> None:
    formula = asked(capsys, "--alpha", "1", "--cost", "1.5")["formula"]
    assert (formula["break_even_alpha"], formula["best_k"]) == (None, 0)


def test_acceptance_by_position(capsys: pytest.CaptureFixture[str]) -> None:
    positions = asked(capsys, "--rates", "0.8,0.6,0.5", "--cost", "0.1")["positions"]
    assert positions["k"] == 3
    assert positions["mean_acceptance_length"] == pytest.approx(2.9)
    assert positions["speedup"] == pytest.approx(2.9 / 1.3)


def test_the_roofline_of_the_tutorial(capsys: pytest.CaptureFixture[str]) -> None:
    size = ("--parameters", "70e9", "--bytes", "2", "--bandwidth", "2000")
    found = asked(capsys, *size)["roofline"]
    assert found["output_throughput"] == pytest.approx(14.2857, abs=1e-4)
    assert (found["weights_bytes"], found["step_ms"]) == (140e9, 70.0)
    depends = ("compute_ms", "compute_utilisation", "critical_batch", "speedup")
    assert {found[name] for name in depends} == {None}

    reported = asked(capsys, *size, "--peak", "312", "--alpha", "0.8")["roofline"]
    assert reported["critical_batch"] == pytest.approx(156)
    assert reported["critical_batch_verifying"] == pytest.approx(26)
    assert reported["speedup"] == pytest.approx(3.68928 / 1.25)
    assert 26 < reported["last_gaining_batch"] < 156

    doubled = asked(capsys, *size, "--peak", "312", "--gpus", "2")["roofline"]
    assert doubled["step_ms"] == 35.0
    assert doubled["speedup"] is None


def test_a_gpu_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    size = ("--parameters", "70e9", "--gpu", "H100 80GB SXM5")
    bf16, fp8, typed, odd = (
        asked(capsys, *size, *more)["roofline"]
        for more in (
            (),
            ("--bytes", "1"),
            ("--bandwidth", "1000", "--peak", "5"),
            ("--bytes", "0.5"),
        )
    )
    assert (bf16["bandwidth_gb_s"], bf16["peak_tflops"]) == (3350, 989.4)
    assert (fp8["bandwidth_gb_s"], fp8["peak_tflops"]) == (3350, 1978.9)
    assert (typed["bandwidth_gb_s"], typed["peak_tflops"]) == (1000, 5)
    assert odd["peak_tflops"] is None


def test_rejection_sampling(capsys: pytest.CaptureFixture[str]) -> None:
    probs = ("--target-probs", "5,3,2", "--draft-probs", "0.2,0.3,0.5")
    rejection = asked(capsys, *probs)["rejection"]
    assert rejection["target_probs"] == pytest.approx([0.5, 0.3, 0.2])
    assert rejection["acceptance"] == pytest.approx(0.7)
    assert rejection["total_variation"] == pytest.approx(0.3)
    assert rejection["residual"] == pytest.approx([1, 0, 0])
    same = asked(capsys, "--target-probs", "1,1", "--draft-probs", "1,1")["rejection"]
    assert same["residual"] is None


def test_people_get_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    run("--alpha", "0.8", "--rates", "0.8,0.6", "--parameters", "70e9", "--bandwidth", "2000")
    text = capsys.readouterr().out
    for words in ("formula", "positions", "roofline", "plain decoding, tok/s", "14.29", "3.689"):
        assert words in text
    assert "rejection" not in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Give at least one of"),
        (["--alpha", "1.5"], "alpha, .* not 1.5"),
        (["--alpha", "0.5", "--k", "99"], "K is from 0"),
        (["--rates", "0.5,many"], "--rates '0.5,many' is not a list"),
        (["--rates", "0.5,1.5"], "shares from 0 to 1"),
        (["--rates", "0.5,nan"], "shares from 0 to 1"),
        (["--rates", "0.5,0.6"], "cannot rise"),
        (["--target-probs", "1,2"], "Give both"),
        (["--target-probs", "1,2", "--draft-probs", "1,2,3"], "the same tokens"),
        (["--target-probs", "1,2", "--draft-probs", "1,-2"], "--draft-probs cannot"),
        (["--parameters", "70e9"], "memory bandwidth: give"),
        (["--bandwidth", "2000"], "give --parameters"),
        (["--parameters", "70e9", "--gpu", "A1000"], "no GPU 'A1000'"),
        (["--parameters", "70e9", "--bandwidth", "2000", "--batch", "0"], "The batch is from 1"),
    ],
)
def test_wrong_options_are_named(arguments: list[str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        run(*arguments)
