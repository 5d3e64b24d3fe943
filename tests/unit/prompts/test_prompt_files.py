"""Prompt files: how the form is recognised, and what is refused at which line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.errors import UsageError
from specviz.prompts.files import read_conversations, read_prompt_file
from specviz.prompts.formats import FORMATS
from tests.support.prompt_examples import BATCH, EXAMPLES, OPENAI, SPECVIZ, refusal, written

USER = {"role": "user", "content": "Hi"}


def turns(*prompts: str) -> str:
    return "".join(json.dumps({"turns": [prompt]}) + "\n" for prompt in prompts)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("lead", ["", "\ufeff", "\n\n"])
def test_a_form_is_recognised(tmp_path: Path, form: str, lead: str) -> None:
    path = written(tmp_path, lead + EXAMPLES[form])
    assert read_conversations(path) == read_conversations(path, form)


PROMPTS = st.lists(
    st.text(st.characters(codec="utf-8"), max_size=20).map("Say this: {}.".format),
    min_size=1,
    max_size=8,
    unique_by=str.strip,
)


@given(prompts=PROMPTS, ascii_only=st.booleans(), crlf=st.booleans(), bom=st.booleans())
def test_what_was_written_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    prompts: list[str],
    ascii_only: bool,
    crlf: bool,
    bom: bool,
) -> None:
    """Also with U+2028 and other characters at which only Python ends a line."""
    entries = [json.dumps({"prompt": prompt}, ensure_ascii=ascii_only) for prompt in prompts]
    text = "\ufeff" * bom + ("\r\n" if crlf else "\n").join(entries)
    found = read_conversations(written(tmp_path_factory.mktemp("round"), text))
    assert [conversation.turns for conversation in found] == [(prompt,) for prompt in prompts]
    assert [c.item_id for c in found] == [f"line-{n}" for n in range(1, len(prompts) + 1)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "has no prompts"),
        (" \n\n", "has no prompts"),
        ("[]", "has no prompts"),
        ('\n{"prompt": "Hi"\n', ", line 2: this is not JSON"),
        ("{\n" + "[" * 100_000, "line 1: this is not JSON"),
        ("[" * 100_000, "this is not JSON (it is nested too deeply)"),
        ('["Hi"]', ", entry 1 (line 1): this is not a JSON object"),
        ('[\n{"prompt": "Hi"},\n\n{"prompt": "Ho"\n', "entry 2 (line 4): this is not JSON"),
        ('[{"prompt": "Hi"}\n', ", entry 1 (line 1): no comma or ] follows"),
        ('[{"prompt": "Hi"},\n]', ", entry 2 (line 2): this is not JSON"),
        ('[{"prompt": "Hi"}\n]\n{"prompt": "Ho"}', ", line 3: something follows the array"),
        ('{"text": "Hi", "n": 1}', ", line 1: no format has the keys 'text', 'n': say which"),
        ("{question}\n", "say which format it has: specviz, spec-bench, sharegpt, openai or text."),
        ("Hi\0there", "is a table or not a text"),
    ],
)
def test_what_is_no_prompt_file(tmp_path: Path, text: str, says: str) -> None:
    assert says in refusal(written(tmp_path, text))


def test_a_table_is_not_taken_for_text(tmp_path: Path) -> None:
    path = written(tmp_path, "id,prompt\n1,Hi\n", "prompts.CSV")
    assert "is a table" in refusal(path)
    assert len(read_conversations(path, "text")) == 2


def test_text_that_begins_like_json_is_read_when_it_is_said_to_be_text(tmp_path: Path) -> None:
    path = written(tmp_path, "[1, 2, 3]: what is the sum?\n")
    assert "if it is meant so, say which format" in refusal(path)
    assert read_conversations(path, "text")[0].turns == ("[1, 2, 3]: what is the sum?",)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert "cannot be read (No such file" in refusal(tmp_path / "none.jsonl")
    assert "cannot be read (Is a directory)" in refusal(tmp_path)
    path = tmp_path / "latin.txt"
    path.write_bytes("Hello\n\nGrüße\n".encode("latin-1"))
    assert refusal(path).startswith(", line 3: this is not UTF-8")
    path.write_bytes("Hello".encode("utf-16"))
    assert "this is not UTF-8" in refusal(path)


def test_an_unknown_format(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no prompt format 'csv': use specviz, spec-bench,"):
        read_conversations(written(tmp_path, SPECVIZ), "csv")


def skipped(path: Path) -> str:
    note = read_prompt_file(path).skipped
    assert note is not None and note.startswith(f"{path}: ") and note.endswith(".")
    return note.removeprefix(f"{path}: ")


def test_placeholders_are_skipped_with_their_lines(tmp_path: Path) -> None:
    path = written(tmp_path, turns("{question}", "What is a placeholder in HTML?", "TODO", " "))
    assert skipped(path) == (
        "3 of 4 entries are skipped: a placeholder is not a prompt (line 1, line 3 and line 4)."
    )
    assert [one.turns for one in read_conversations(path)] == [("What is a placeholder in HTML?",)]


def test_a_placeholder_in_a_later_turn_or_earlier_message(tmp_path: Path) -> None:
    path = written(tmp_path, '{"turns": ["Name a river.", "{follow_up}"]}\n')
    assert refusal(path) == ", line 1: a placeholder is not a prompt."
    path = written(tmp_path, OPENAI.replace("Hi there", "<prompt>"))
    assert refusal(path) == ", line 1: a placeholder is not a prompt."


def test_a_file_without_any_prompt_says_why(tmp_path: Path) -> None:
    path = written(tmp_path, turns(*["{question}"] * 52))
    assert refusal(path) == (
        ": none of 52 entries can be asked: a placeholder is not a prompt (line 1, line 2, line 3 "
        "and 49 more)."
    )


def test_a_repeated_prompt_is_asked_once(tmp_path: Path) -> None:
    path = written(tmp_path, "\n" + turns("Hi there", "Hello", " Hi there\n", "Hello"))
    assert skipped(path) == (
        "2 of 4 entries are skipped: the same prompt is there already (line 4 and line 5)."
    )
    assert [one.turns for one in read_conversations(path)] == [("Hi there",), ("Hello",)]


BAD = [
    ("not JSON", "this is not JSON (Expecting value): JSONL has one whole object per line"),
    ("[1]", "this is not a JSON object: write one {...} per prompt"),
    ("[" * 100_000, "(it is nested too deeply)"),
    ('{"turns": []}', '"turns" must be a list of at least one prompt'),
    ('{"prompt": "Hi"}', '"turns" must be a list of at least one prompt'),
    ('{"turns": ["Hi \\ud800"]}', "half of a surrogate pair"),
]


@pytest.mark.parametrize(("line", "says"), BAD)
def test_a_bad_line_is_skipped(tmp_path: Path, line: str, says: str) -> None:
    path = written(tmp_path, f"{turns('Name a river.', 'Name a lake.')}{line}\n")
    assert len(read_conversations(path)) == 2
    assert says in skipped(path) and skipped(path).startswith("1 of 3 entries are skipped")


@pytest.mark.parametrize("line", ["{not JSON", '{"comment": "of 2026"}'])
def test_a_form_is_recognised_by_the_first_line_that_has_one(tmp_path: Path, line: str) -> None:
    path = written(tmp_path, f"{line}\n{turns('Name a river.')}")
    assert len(read_conversations(path)) == 1
    assert skipped(path).startswith("1 of 2 entries are skipped")


def test_many_reasons_are_counted(tmp_path: Path) -> None:
    lines = "\n".join(line for line, _ in BAD)
    note = skipped(written(tmp_path, f"{turns('Name a river.')}{lines}\n"))
    assert note.startswith("6 of 7 entries are skipped: ")
    assert '"turns" must be a list of at least one prompt (line 5 and line 6); ' in note
    assert note.endswith("; 2 for other reasons.")


def test_a_whole_file_says_nothing(tmp_path: Path) -> None:
    assert read_prompt_file(written(tmp_path, SPECVIZ)).skipped is None


def test_the_same_question_after_another_conversation_is_another_prompt(tmp_path: Path) -> None:
    first = {"messages": [{"role": "system", "content": "Be brief."}, USER]}
    assert len(read_conversations(written(tmp_path, f"{json.dumps(first)}\n{BATCH}"))) == 2
    second = {"messages": [{"role": "system", "content": "Be kind."}, USER]}
    lines = "\n".join(map(json.dumps, [first, second, {"messages": [USER]}]))
    assert len(read_conversations(written(tmp_path, lines))) == 3


def test_a_repeated_id_gets_its_line(tmp_path: Path) -> None:
    """Some public files give every entry the same id."""
    path = written(tmp_path, '{"id": 0, "prompt": "Hi"}\n{"id": 0, "prompt": "Ho"}\n')
    assert [one.item_id for one in read_conversations(path)] == ["0", "0 (line-2)"]
    assert read_prompt_file(path).skipped is None
