"""How sizes, token texts and arms are written."""

from __future__ import annotations

import pytest

from specviz.analysis.arm_names import arm_names
from specviz.analysis.text import shortened, size_text, token_name, unit_of, visible_text
from specviz.config import EngineKind, RunConfig
from specviz.methods import Method

EMBEDDED, VLLM = EngineKind.EMBEDDED, EngineKind.VLLM


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.00 KiB"),
        (1536, "1.50 KiB"),
        (13_000_000, "12.4 MiB"),
        (5 << 40, "5.00 TiB"),
        (2048 << 40, "2,048 TiB"),
    ],
)
def test_sizes(count: int, text: str) -> None:
    assert size_text(count) == text


def test_the_unit_of_an_axis_fits_its_largest_value() -> None:
    assert unit_of(3 << 20) == ("MiB", 1 << 20)
    assert unit_of(0) == ("B", 1)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (" a\tb\n", "␣a⇥b⏎"),
        ("\x1b[0m\x7f\x85", "␛[0m␡␦"),
        ("\u202eabc", "‹U+202E›abc"),
        ("👩\u200d💻", "👩\u200d💻"),
        ("❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥"),
        ("a\u200db", "a‹U+200D›b"),
        ("한", "한"),
    ],
)
def test_visible_text(text: str, shown: str) -> None:
    assert visible_text(text) == shown


def test_token_names() -> None:
    assert (token_name(None), token_name(""), token_name("\n")) == ("?", "·", "⏎")
    assert (shortened("abcdef", 4), shortened("abcd", 4)) == ("abc…", "abcd")


def test_titles_tell_how_a_method_drafts_and_what_it_gives_up() -> None:
    options = {"shape": "tree", "acceptance": "exact", "dtype": "float32"}
    assert RunConfig(EMBEDDED, Method.EAGLE3, 5, options=options).title == "eagle3 · K 5 · tree"
    typical = RunConfig(EMBEDDED, Method.MEDUSA, 5, options={"acceptance": "typical"})
    assert typical.title == "medusa · K 5 · typical, not lossless"
    assert not typical.is_lossless
    assert RunConfig(EMBEDDED, Method.SWIFT, 4, options={"shape": "auto"}).title == "swift · K 4"


def test_arms_with_one_title_are_told_apart() -> None:
    same = RunConfig(EMBEDDED, Method.NGRAM, 5)
    assert arm_names([same, RunConfig(VLLM, Method.NGRAM, 5)]) == [
        "ngram · K 5 · embedded",
        "ngram · K 5 · vllm",
    ]
    exact = RunConfig(EMBEDDED, Method.NGRAM, 5, options={"dtype": "float32"})
    assert arm_names([same, exact]) == ["ngram · K 5", "ngram · K 5 · float32"]
    assert arm_names([same, same]) == ["ngram · K 5 (1)", "ngram · K 5 (2)"]
    assert arm_names([same, RunConfig(EMBEDDED, Method.BASELINE)]) == ["ngram · K 5", "baseline"]
