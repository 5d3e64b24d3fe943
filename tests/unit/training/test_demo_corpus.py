"""The corpus: deterministic, varied, and without any held-out prompt."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from functools import cache
from hashlib import sha256
from random import Random

import pytest

from specviz.paths import MODELS, PROMPTS
from specviz.training import corpus, record
from specviz.training.corpus import CATEGORIES, HELD_OUT_IN, Document, held_out, training_document
from specviz.training.held_out import PROMPTS_PER_CATEGORY, evaluation_documents, prompt_lines

SAMPLE = 4_000
FINGERPRINT = "1566269499565cc4d7654159e5a0c9304219d6311945b43033bb637172855fee"


def _seed() -> int:
    """The seed the shipped models were trained with."""
    return int(record.read(MODELS)["seed"])


@cache
def _sample() -> list[Document]:
    """The beginning of the stream that the shipped models were trained on."""
    seed = _seed()
    return [training_document(seed, index) for index in range(SAMPLE)]


@cache
def _shipped_prompts() -> dict[str, list[str]]:
    return {
        category: [
            json.loads(line)["prompt"]
            for line in (PROMPTS / f"{category}.jsonl").read_text(encoding="utf-8").splitlines()
        ]
        for category in CATEGORIES
    }


@pytest.mark.slow
def test_stream_is_the_one_the_models_were_trained_on() -> None:
    reported = [(d.category, d.prompt, d.answer) for d in _sample()[:2000]]
    assert sha256(repr(reported).encode()).hexdigest() == FINGERPRINT


def test_document_depends_on_seed_and_index_alone() -> None:
    assert training_document(3, 17) == training_document(3, 17)
    assert training_document(3, 17) != training_document(4, 17)


def test_no_document_of_the_stream_is_held_out() -> None:
    assert not [d for d in _sample() if held_out(d.content)]


@pytest.mark.slow
def test_hold_out_test_would_notice_a_missing_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "held_out", lambda content: False)
    unfiltered = [training_document(_seed(), index) for index in range(3000)]
    assert [d for d in unfiltered if held_out(d.content)]


@pytest.mark.slow
def test_no_shipped_prompt_is_in_the_training_text() -> None:
    """By construction for the whole stream: each prompt's content is held out, and a document is
    only emitted if its content is not. By search for the beginning of the stream."""
    prompts = _shipped_prompts()
    for category in CATEGORIES:
        documents = evaluation_documents(category)
        assert [d.prompt for d in documents] == prompts[category]
        assert all(held_out(d.content) for d in documents)
    trained = {d.prompt for d in _sample()}
    assert not trained & {prompt for many in prompts.values() for prompt in many}


def test_content_follows_from_the_prompt() -> None:
    """Else one prompt could be held out under one content and trained under another."""
    contents: defaultdict[str, set[str]] = defaultdict(set)
    for document in _sample():
        contents[document.prompt].add(document.content)
    assert not {prompt: found for prompt, found in contents.items() if len(found) > 1}


def test_about_one_content_in_97_is_held_out() -> None:
    share = sum(held_out(str(number)) for number in range(50_000)) / 50_000
    assert share == pytest.approx(1 / HELD_OUT_IN, rel=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("category", CATEGORIES)
def test_prompt_file_is_what_the_code_writes(category: str) -> None:
    text = (PROMPTS / f"{category}.jsonl").read_text(encoding="utf-8")
    assert text.splitlines() == prompt_lines(category)
    assert len(text.splitlines()) == PROMPTS_PER_CATEGORY


def test_prompts_rarely_repeat() -> None:
    """Where facts are few (capitals, docstrings) they must repeat; nowhere else."""
    by_category: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for document in _sample():
        by_category[document.category][document.prompt] += 1
    for category, prompts in by_category.items():
        new = len(prompts) / prompts.total()
        assert new > (0.6 if category == "short_qa" else 0.8), (category, new)


def test_every_category_is_in_the_stream() -> None:
    assert {d.category for d in _sample()[:500]} == set(CATEGORIES)


@pytest.mark.parametrize("category", CATEGORIES)
def test_texts_are_whole(category: str) -> None:
    """No placeholder, stray space or special token is left in a text."""
    rng = Random(5)
    for _ in range(400):
        example = corpus.MAKERS[category](rng)
        for text in (example.prompt, example.answer):
            assert text == text.strip() != ""
            assert "<|" not in text
            if category != "code_generation":
                spaced = any("  " in line for line in text.splitlines())
                assert not spaced or category == "structured_output"
