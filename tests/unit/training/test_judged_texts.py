"""Rules for texts: the reference passes, and what differs from it in a fact does not."""

from __future__ import annotations

import json
import re
from random import Random

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from specviz.training.corpus import CATEGORIES, Document
from specviz.training.judging.judge import verdicts
from specviz.training.judging.names import names_missing, needed_names
from specviz.training.judging.structure import wrong_structure
from specviz.training.judging.summary import wrong_summary
from specviz.training.judging.verdict import ENDS, NAMES, RIGHT, Answer
from specviz.training.judging.wording import wrong_answer, wrong_translation
from specviz.training.texts import short_qa, translation
from tests.support.training.judged import SEEDS, document

TEXTS = [category for category in CATEGORIES if category != "code_generation"]
RIGHT_RULES = {
    "short_qa": wrong_answer,
    "translation": wrong_translation,
    "structured_output": wrong_structure,
    "summarization": wrong_summary,
}
DIGIT = re.compile(r"\d")


def rules_failed(found: Document, text: str, *, ended: bool = True) -> set[str]:
    return {v.rule for v in verdicts(Answer(found, text, ended)) if not v.passed}


@pytest.mark.slow
@pytest.mark.parametrize("category", TEXTS)
@given(seed=SEEDS)
def test_the_reference_passes_every_rule(category: str, seed: int) -> None:
    found = document(category, seed)
    assert not rules_failed(found, found.answer)
    assert not rules_failed(found, f"{found.answer}\n")


@pytest.mark.parametrize("category", TEXTS)
def test_an_answer_without_end_fails(category: str) -> None:
    found = document(category, 1)
    (rule,) = rules_failed(found, found.answer, ended=False)
    assert rule == (ENDS if category == "creative_writing" else RIGHT)
    assert verdicts(Answer(found, found.answer, ended=False))[-1].why_not.startswith("It does not")


@pytest.mark.slow
@pytest.mark.parametrize("category", sorted(RIGHT_RULES.keys() - {"translation"}))
@given(seed=SEEDS, data=st.data())
def test_one_digit_changed_fails(category: str, seed: int, data: st.DataObject) -> None:
    found = document(category, seed)
    digits = [match.start() for match in DIGIT.finditer(found.answer)]
    assume(digits)
    at = data.draw(st.sampled_from(digits))
    other = data.draw(st.sampled_from([d for d in "123456789" if d != found.answer[at]]))
    assert RIGHT in rules_failed(found, found.answer[:at] + other + found.answer[at + 1 :])


@pytest.mark.slow
@pytest.mark.parametrize("category", sorted(RIGHT_RULES.keys() - {"translation"}))
@given(seed=SEEDS, data=st.data())
def test_a_name_that_is_not_copied_fails_both_rules(
    category: str, seed: int, data: st.DataObject
) -> None:
    found = document(category, seed)
    needed = needed_names(found)
    assume(needed)
    name = data.draw(st.sampled_from(sorted(needed)))
    either = "|".join(sorted(map(re.escape, needed[name]), key=len, reverse=True))
    text = re.sub(rf"(?<![\w.:])(?:{either})(?![\w:]|\.\d)", "Zzyzx", found.answer)
    assume(text != found.answer)  # inside of another word
    failed = rules_failed(found, text)
    assert RIGHT in failed
    assert NAMES in failed or name in {word.casefold() for word in re.findall(r"\w+", text)}


@given(SEEDS)
def test_a_letter_of_a_translation_changed_fails(seed: int) -> None:
    found = document("translation", seed)
    letters = [at for at, one in enumerate(found.answer) if one.isalpha()]
    at = Random(seed).choice(letters)
    assert wrong_translation(found, found.answer[:at] + "ж쀍"[seed % 2] + found.answer[at + 1 :])


@pytest.mark.slow
def test_no_text_has_two_translations_and_no_question_two_answers() -> None:
    """Which is why the rules for them know one wording."""
    rng, known = Random(7), {}
    for _ in range(5_000):
        formal = rng.random() < 0.4
        korean, english = translation._text(rng, formal)
        assert known.setdefault(("ko", korean), english) == english
        assert known.setdefault(("en", formal, english), korean) == korean
        question = short_qa.example(rng)
        assert known.setdefault(("qa", question.prompt), question.answer) == question.answer


QUESTION = Document("short_qa", "Hana has 66 olives and eats 55.", "66 - 55 = 11 olives.", "")


@pytest.mark.parametrize(
    ("text", "why_not"),
    [
        ("66 - 55 = 11 olives", None),
        ("66-55 = 11  olives.", None),
        ("66 - 55 = 14 olives.", "It says '14' where '11' is right."),
        ("66 + 55 = 11 olives.", "It says '+' where '-' is right."),
        ("66 - 55 = -11 olives.", "It says '-' where '11' is right."),
        ("66 - 55 = 11", "It ends before 'olives'."),
        ("66 - 55 = 11 olives. 11 olives.", "It goes on with '11'."),
    ],
)
def test_short_answers(text: str, why_not: str | None) -> None:
    assert wrong_answer(QUESTION, text) == why_not


@pytest.mark.parametrize(
    ("text", "why_not"),
    [
        ("Will Jihun run?", None),
        ("Will Jihun run.", "It says '.' where '?' is right."),
        ("Will Jihun run", "It ends before '?'."),
        ("Will Jihun  run?\n", None),
    ],
)
def test_translations(text: str, why_not: str | None) -> None:
    assert wrong_translation(Document("translation", "", "Will Jihun run?", ""), text) == why_not


@given(SEEDS)
def test_layout_and_order_of_keys_do_not_count(seed: int) -> None:
    found = document("structured_output", seed)
    if found.answer.startswith("{"):
        turned = dict(reversed(json.loads(found.answer).items()))
        assert wrong_structure(found, json.dumps(turned, indent=seed % 5)) is None
    else:
        turned = dict(reversed(yaml.safe_load(found.answer).items()))
        assert wrong_structure(found, yaml.safe_dump(turned, default_flow_style=True)) is None


JSON = Document("structured_output", "", '{"host": "a-1", "tls": true, "tags": ["x", "y"]}', "")
YAML = Document("structured_output", "", 'version: "3.4"\nsince: Monday\nowner: null', "")


@pytest.mark.parametrize(
    ("found", "text", "why_not"),
    [
        (
            JSON,
            '{"host": "a-2", "tls": true, "tags": ["x", "y"]}',
            "host is 'a-2' instead of 'a-1'",
        ),
        (JSON, '{"host": "a-1", "tls": 1, "tags": ["x", "y"]}', "tls is 1 instead of True"),
        (JSON, '{"host": "a-1", "tls": true, "tags": ["y", "x"]}', "tags 1 is 'y' instead of 'x'"),
        (JSON, '{"host": "a-1", "tls": true, "tags": ["x"]}', "tags has 1 entries instead of 2"),
        (JSON, '{"host": "a-1", "tls": true, "tags": "x"}', "tags is 'x' instead of a list"),
        (JSON, '{"host": "a-1", "tls": true}', "it has no tags"),
        (JSON, '{"host": "a-1", "tls": true, "tags": ["x", "y"], "a": 1}', "it has 'a', which"),
        (JSON, '{"host": "a", "host": "a-1"}', "It is not JSON: a key comes twice"),
        (JSON, '{"host": "a-1"', "It is not JSON: "),
        (JSON, "host: a-1\ntls: true\ntags: [x, y]", "It is not JSON: "),
        (JSON, "[" * 100_000, "It is not JSON: "),
        (JSON, "9" * 5000, "It is not JSON: "),
        (JSON, "", "It is not JSON: "),
        (YAML, "version: 3.4\nsince: Monday\nowner: null", "version is 3.4 instead of '3.4'"),
        (YAML, 'version: "3.4"\nsince: Monday\nowner: "null"', "owner is 'null' instead of None"),
        (YAML, 'version: "3.4"\nversion: "3.4"', "It is not YAML: a key comes twice"),
        (YAML, "a: &b [x]\nc: *b", "It is not YAML: it has an alias"),
        (YAML, 'version: "3.4', "It is not YAML: "),
        (YAML, "{a: b}: c", "It is not YAML: "),
        (YAML, "since: 2026-13-45", "It is not YAML: "),
        (YAML, "", "it is None instead of an object"),
    ],
)
def test_structures_that_are_wrong(found: Document, text: str, why_not: str) -> None:
    assert (wrong_structure(found, text) or "").startswith(why_not)


REPORT = Document(
    "summarization",
    "Summarize.\n\nSeoul was a guest in Osaka. In the end Osaka won 2 to 1. Nadia Kim scored in "
    "minute 64. I do not recommend it. Dora watched. The weather was mild for 3 days.",
    "Osaka beat Seoul 2:1. Nadia Kim scored in minute 64 and does not recommend it.",
    "",
)


@pytest.mark.parametrize(
    ("text", "why_not"),
    [
        ("Nadia Kim scored in minute 64 and does not recommend it. Osaka won against Seoul, 2:1.",
         None),
        ("Osaka beat Seoul 2:1. The weather was mild. Nadia Kim scored in minute 64 and does not "
         "recommend it.", None),
        ("Seoul beat Osaka 2:1. Nadia Kim scored in minute 64 and does not recommend it.",
         "It does not say 'osaka seoul 2:1' in this order"),
        ("Osaka beat Seoul 1:2. Nadia Kim scored in minute 64 and does not recommend it.",
         "It does not say '2:1'"),
        ("Osaka beat Seoul 2:1. Nadia Kim scored in minute 64 and recommends it.",
         "It says 'not' 0 times instead of 1"),
        ("Osaka beat Seoul 2:1. Dora Kim scored in minute 64 and does not recommend it.",
         "It does not say 'nadia'"),
        ("Osaka beat Seoul 2:1. Nadia Kim scored in minute 64 and does not recommend it to Hugo.",
         "It says 'Hugo', which the report does not"),
        ("Osaka beat Seoul 2:1. Nadia Kim scored in minute 64 and does not recommend 5 of it.",
         "It says '5', which the report does not"),
        ("Osaka beat Seoul 2:1.", "It does not say 'nadia'"),
        ("", "It does not say 'osaka'"),
    ],
)  # fmt: skip
def test_summaries(text: str, why_not: str | None) -> None:
    found = wrong_summary(REPORT, text)
    assert found is None if why_not is None else found is not None and found.startswith(why_not)


def names(category: str, prompt: str, answer: str, content: str = "") -> list[str]:
    return sorted(needed_names(Document(category, prompt, answer, content)))


def test_names_are_what_prompt_and_reference_share_without_function_words() -> None:
    assert names("short_qa", "How many olives has Hana of the 66?", "Hana has 11 olives.") == [
        "hana",
        "olives",
    ]
    assert names("translation", "Into English: 지훈은 영어를 배워요.", "He learns English.") == []


def test_a_name_may_begin_a_sentence() -> None:
    found = Document("short_qa", "Which symbol has oxygen?", "Oxygen has O.", "")
    assert names_missing(found, "O stands for oxygen.") is None
    assert names_missing(found, "OXYGEN") == "It does not have 'oxygen'."


def test_any_entry_of_a_list_to_choose_from_is_copied() -> None:
    found = Document("short_qa", "Which is first: owl, ant and bee?", "It is ant.", "")
    assert names_missing(found, "It is bee.") is None
    assert names_missing(found, "It is cow.") == "It does not have 'ant'."
    both = Document("short_qa", "Sort owl, bee and ant.", "ant, bee, owl", "")
    assert names_missing(both, "ant, bee, bee") == "It does not have 'owl'."


def test_a_letter_needs_no_place_and_a_story_what_it_is_about() -> None:
    content = "letter Mina Ben sailor an empty desert find a lost key"
    letter = (
        "Dear Ben,\nA letter came to an empty desert. Soon I will find a lost key.\nYours, Mina"
    )
    prompt = (
        "Write a letter from Mina, a sailor in an empty desert, to Ben. Mina hopes to find a lost "
        "key."
    )
    assert names("creative_writing", prompt, letter, content) == [
        *("ben", "find", "key", "lost", "mina")
    ]
