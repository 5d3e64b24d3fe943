"""The checks of a draft model, on figures made up by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specviz.analysis.advisor.draft import (
    Check,
    Load,
    ModelFacts,
    Pair,
    TokenizerComparison,
    Verdict,
    check_pair,
    draft_bytes,
    facts_of,
)
from specviz.analysis.advisor.evidence import TYPED

TARGET = ModelFacts("big", "llama", "LlamaForCausalLM", 70_000, 140_000, 320, 4096)
DRAFT = ModelFacts("small", "llama", "LlamaForCausalLM", 3_500, 7_000, 64, 4096)
SAME = TokenizerComparison(True, "tokenizer.json is byte-identical (10 bytes)")
LOAD = Load(context=1000, concurrency=4, spare_gb=1.0)


def checks(
    pair: Pair = Pair(TARGET, DRAFT, SAME),  # noqa: B008 (frozen)
    load: Load = LOAD,
    acceptance: float | None = None,
    text: str | None = None,
) -> dict[str, Check]:
    found = check_pair(pair, load, acceptance, TYPED if acceptance is not None else None, text)
    return {check.name.split(" at ")[0].split(" 1/")[0]: check for check in found}


def test_a_good_pair_passes_every_check() -> None:
    found = checks(acceptance=0.7, text="code_generation")
    assert {check.verdict for check in found.values()} == {Verdict.PASS}
    assert found["K"].finding == "7–10 (strong draft), 5–7 (code generation)"


@pytest.mark.parametrize(
    ("parameters", "verdict"),
    [
        (7_000, Verdict.PASS),
        (7_001, Verdict.FAIL),
        (1_400, Verdict.PASS),
        (1_399, Verdict.FAIL),
        (None, Verdict.UNKNOWN),
    ],
)
def test_the_size_is_from_a_fiftieth_to_a_tenth(parameters: int | None, verdict: Verdict) -> None:
    pair = Pair(TARGET, replace(DRAFT, parameters=parameters), SAME)
    assert checks(pair)["Size"].verdict is verdict


def test_memory_is_weights_and_the_kv_cache_of_every_request() -> None:
    needed = 7_000 + 64 * 1000 * 4
    assert draft_bytes(DRAFT, LOAD) == needed
    exactly = replace(LOAD, spare_gb=needed / 1e9)
    assert checks(load=exactly)["Fits in memory"].verdict is Verdict.PASS
    less = checks(load=replace(LOAD, spare_gb=(needed - 1) / 1e9))["Fits in memory"]
    assert less.verdict is Verdict.FAIL
    assert "smaller draft" in less.advice
    asked = checks(load=replace(LOAD, spare_gb=None))["Fits in memory"]
    assert asked.verdict is Verdict.UNKNOWN
    assert "how much GPU memory" in asked.advice


def test_what_fits_is_answered_in_the_tree() -> None:
    pair = Pair(TARGET, DRAFT, SAME)

    def answers(load: Load) -> dict[str, object]:
        return dict(facts_of([*checks(load=load).values()], pair).answers)

    assert answers(LOAD) == {"draft_fits": True}
    assert answers(replace(LOAD, spare_gb=1e-6)) == {"draft_fits": False}
    assert answers(replace(LOAD, spare_gb=None)) == {}


@pytest.mark.parametrize(
    ("acceptance", "verdict", "word"),
    [
        (0.6, Verdict.PASS, "60.0 %"),
        (0.599, Verdict.FAIL, "below the aim"),
        (0.5, Verdict.FAIL, "below the aim"),
        (0.499, Verdict.FAIL, "harmful"),
        (None, Verdict.UNKNOWN, "no stored benchmark"),
    ],
)
def test_acceptance_is_aimed_at_60_and_harmful_below_50_percent(
    acceptance: float | None, verdict: Verdict, word: str
) -> None:
    found = checks(acceptance=acceptance)["Acceptance"]
    assert found.verdict is verdict
    assert word in found.finding
    assert bool(found.advice) is (verdict is not Verdict.PASS)


def test_k_follows_from_strength_and_text() -> None:
    assert checks(acceptance=0.55)["K"].finding == "3–5 (weak draft)"
    assert checks(text="creative_writing")["K"].finding == "3–4 (creative text)"
    assert checks()["K"].verdict is Verdict.UNKNOWN


def test_another_family_and_another_tokenizer_fail_with_what_to_do() -> None:
    other = TokenizerComparison(False, "token 'a': target id 1, draft id 2")
    found = checks(Pair(TARGET, replace(DRAFT, family="qwen2"), other))
    assert found["Same family"].verdict is Verdict.FAIL
    assert found["Same family"].finding == "target llama, draft qwen2"
    assert found["Same tokenizer"].verdict is Verdict.FAIL
    assert found["Same tokenizer"].advice


def test_a_model_that_is_only_named_leaves_everything_unknown_with_the_reason() -> None:
    named = ModelFacts("org/model", problem="org/model is not a folder on this machine")
    pair = Pair(TARGET, named, TokenizerComparison(None, "no tokenizer.json in org/model"))
    found = checks(pair)
    for name in ("Same tokenizer", "Same family", "Size", "Fits in memory"):
        assert found[name].verdict is Verdict.UNKNOWN
        assert "org/model" in found[name].finding
        assert found[name].advice
