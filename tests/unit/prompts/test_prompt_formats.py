"""What an entry of each form says, and entries that are not of their form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from specviz.config import Message
from specviz.prompts.files import read_conversations, read_prompt_file
from specviz.prompts.formats import FORMATS, Conversation
from tests.support.prompt_examples import (
    BATCH,
    EXAMPLES,
    OPENAI,
    SHAREGPT,
    SPEC_BENCH,
    SPECVIZ,
    TEXT,
    refusal,
    written,
)


def test_specviz(tmp_path: Path) -> None:
    assert read_conversations(written(tmp_path, SPECVIZ)) == (
        Conversation("short_qa-001", ("Name a river.",), "short_qa", 96),
        Conversation("line-2", ('Translate {"a": 1} into YAML',)),
    )


def test_spec_bench_asks_every_turn(tmp_path: Path) -> None:
    first, second = read_conversations(written(tmp_path, SPEC_BENCH))
    assert first.item_id == "81" and first.category == "writing"
    assert first.turns[1].startswith("Rewrite it") and len(first.turns) == 2
    assert second == Conversation("241", ("Übersetze: Guten Tag",), "translation")


def test_sharegpt_asks_what_the_human_said(tmp_path: Path) -> None:
    assert read_conversations(written(tmp_path, SHAREGPT)) == (
        Conversation(
            "QWJhYvA_0", ("Summarize the main ideas of this book.", "And in one sentence?")
        ),
        Conversation(
            "i6IyJda_0", ("How do I sort a list?",), earlier=(Message("system", "Be brief."),)
        ),
    )


def test_openai_messages_asks_the_last_user_message(tmp_path: Path) -> None:
    earlier = (
        Message("system", "Be kind."),
        Message("user", "Hi there"),
        Message("assistant", "Hello!"),
    )
    (found,) = read_conversations(written(tmp_path, OPENAI))
    assert found == Conversation("line-1", ("Tell a joke.",), earlier=earlier)


@pytest.mark.parametrize("key", ["max_tokens", "max_completion_tokens"])
def test_openai_batch_file(tmp_path: Path, key: str) -> None:
    (found,) = read_conversations(written(tmp_path, BATCH.replace("max_tokens", key)))
    assert found == Conversation("request-1", ("Hello world!",), max_tokens=1000)


def test_text_is_a_prompt_per_line(tmp_path: Path) -> None:
    found = read_conversations(written(tmp_path, TEXT))
    assert found == (
        Conversation("line-1", ("Why is the sky blue?",)),
        Conversation("line-3", ("What is a placeholder in HTML?",)),
        Conversation("line-4", ("Ein Satz mit Ümläut.",)),
    )


def test_every_form_has_an_example() -> None:
    assert tuple(EXAMPLES) == FORMATS


@pytest.mark.parametrize("form", ["specviz", "spec-bench", "sharegpt", "openai"])
def test_an_array_reads_as_its_lines_do(tmp_path: Path, form: str) -> None:
    entries = read_conversations(written(tmp_path, EXAMPLES[form]))
    text = EXAMPLES[form]
    values = json.loads(text) if text.startswith("[") else list(map(json.loads, filled(text)))
    lines = "\n".join(map(json.dumps, values))
    for other in (lines, json.dumps(values), json.dumps(values, indent=1)):
        found = read_conversations(written(tmp_path, other))
        assert [(c.turns, c.earlier, c.category, c.max_tokens) for c in found] == [
            (c.turns, c.earlier, c.category, c.max_tokens) for c in entries
        ]


def filled(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


HUMAN = {"from": "human", "value": "Hi"}
USER = {"role": "user", "content": "Hi"}


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"prompt": 5}, '"prompt" must be text, it is int'),
        ({"prompt": "Hi", "max_tokens": 0}, '"max_tokens" must be a number from 1, not 0'),
        ({"prompt": "Hi", "max_tokens": "9"}, "must be a number from 1, not '9'"),
        ({"prompt": "Hi", "max_tokens": 9.5}, "must be a whole number, not 9.5"),
        ({"prompt": "Hi", "max_tokens": True}, "must be a number from 1, not True"),
        ({"prompt": "Hi", "category": 3}, '"category" must be text'),
        ({"prompt": "Hi \ud800"}, '"prompt" has half of a surrogate pair'),
        ({"turns": []}, '"turns" must be a list of at least one prompt'),
        ({"turns": "Hi"}, '"turns" must be a list of at least one prompt'),
        ({"turns": ["Hi", None]}, '"turns" must be text, it is missing'),
        ({"conversations": "Hi"}, '"conversations" must be a list of messages'),
        ({"conversations": []}, "no message is from human"),
        ({"conversations": [{"from": "gpt", "value": "Hi"}]}, "no message is from human"),
        ({"conversations": [{"from": "human"}]}, '"value" must be text, it is missing'),
        ({"conversations": [HUMAN, {"from": "tool", "value": "5"}]}, "a message from 'tool'"),
        (
            {"conversations": [HUMAN, {"from": "system", "value": "Hm"}]},
            "a message from 'system' after the first turn",
        ),
        ({"conversations": [{"from": ["gpt"], "value": "Hi"}]}, "cannot be used: only human"),
        ({"messages": []}, "no message has the role user"),
        ({"messages": [{"role": "system", "content": "Hm"}]}, "no message has the role user"),
        ({"messages": [{"role": "critic", "content": "5"}, USER]}, "of the role 'critic'"),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{"id": "1"}]}, USER]},
            "a tool call names no function",
        ),
        ({"messages": [{"role": "assistant", "content": None}, USER]}, '"content" must be text'),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]},
            "a part of the type 'image_url': only text",
        ),
        ({"messages": [{"role": "user", "content": ["Hi"]}]}, "a part of the type None"),
        ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, '"text" must be text'),
        ({"custom_id": "a", "body": {"prompt": "Hi"}}, '"messages" must be a list of messages'),
        ({"custom_id": "a", "body": "Hi"}, '"body" must be an object'),
    ],
)
def test_an_entry_that_is_not_of_its_form(
    tmp_path: Path, entry: dict[str, object], says: str
) -> None:
    message = refusal(written(tmp_path, f"\n{json.dumps(entry)}\n"))
    assert message.startswith(", line 2: ") and says in message


def test_an_entry_of_another_form_than_the_first(tmp_path: Path) -> None:
    found = read_prompt_file(written(tmp_path, SPECVIZ + BATCH))
    assert [one.item_id for one in found.conversations] == ["short_qa-001", "line-2"]
    assert found.skipped is not None
    assert '1 of 3 entries are skipped: "prompt" must be text, it is missing' in found.skipped


def test_sharegpt_as_it_is_downloaded(tmp_path: Path) -> None:
    """ShareGPT_V3_unfiltered_cleaned_split.json has entries without messages, entries that only
    continue another one's, repeated first questions, and none of a human (SpecForge 482, 777)."""
    gpt = {"from": "gpt", "value": "Go on."}
    entries = [
        {"id": "a_0", "conversations": []},
        {"id": "b_0", "conversations": [gpt]},
        {"id": "c_0", "conversations": [HUMAN, gpt]},
        {"id": "d_0", "conversations": [HUMAN, gpt]},
        {"id": "e_0", "conversations": None},
        {"id": "f_0", "conversations": [gpt, {"from": "human", "value": "And then?"}]},
    ]
    found = read_prompt_file(written(tmp_path, json.dumps(entries), "sharegpt.json"))
    assert [one.item_id for one in found.conversations] == ["c_0", "f_0"]
    assert found.skipped is not None
    assert "4 of 6 entries are skipped: no message is from human (entry 1 (line 1) and" in (
        found.skipped
    )


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "Hi there"},
        {"role": "user", "value": "Hi there"},
        {"from": "human", "content": "Hi there"},
    ],
)
def test_conversations_of_roles(tmp_path: Path, message: dict[str, str]) -> None:
    """SGLang's `custom` data set (pull request 15057), SpecForge and Speculators."""
    entry = {"id": "1", "conversations": [message, {"role": "assistant", "content": None}]}
    (found,) = read_conversations(written(tmp_path, json.dumps(entry)))
    assert found == Conversation("1", ("Hi there",))


def test_a_system_message_beside_the_conversation(tmp_path: Path) -> None:
    """AngelSlim pull request 345."""
    entry = {"system": "Be brief.", "conversations": [HUMAN]}
    (found,) = read_conversations(written(tmp_path, json.dumps(entry)))
    assert found.earlier == (Message("system", "Be brief."),)


def test_conversations_without_an_object_around_them(tmp_path: Path) -> None:
    """Unsloth issue 321: a list of lists of messages."""
    entries = [[HUMAN, {"from": "gpt", "value": "Ho"}], [{"from": "human", "value": "Bye"}]]
    found = read_conversations(written(tmp_path, json.dumps(entries)))
    assert [one.turns for one in found] == [("Hi",), ("Bye",)]


def test_developer_and_tool_messages(tmp_path: Path) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    messages = [
        {"role": "developer", "content": [{"type": "input_text", "text": "Be brief."}]},
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "sunny"},
        {"role": "user", "content": "So?"},
        {"role": "assistant", "content": None},  # an answer is not used
    ]
    (found,) = read_conversations(written(tmp_path, json.dumps({"messages": messages})))
    assert found.turns == ("So?",)
    assert found.earlier == (
        Message("system", "Be brief."),
        Message("user", "Weather?"),
        Message("assistant", '<tool_call>\n{"name": "weather", "arguments": {}}\n</tool_call>'),
        Message("tool", "sunny"),
    )


def test_a_longest_answer_that_pandas_wrote(tmp_path: Path) -> None:
    (found,) = read_conversations(written(tmp_path, '{"prompt": "Hi", "max_tokens": 64.0}'))
    assert found.max_tokens == 64
