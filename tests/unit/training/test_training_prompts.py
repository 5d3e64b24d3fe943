"""Which prompts are trained on and which are held out."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from specviz.errors import UsageError
from specviz.training.prompts import HELD_OUT_OF, Split, read_prompts


def keys(split: Split) -> tuple[set[str], set[str]]:
    return {p.text for p in split.trained}, {p.text for p in split.held_out}


def questions(count: int, first: int = 0) -> list[str]:
    return [f"What is {number} plus one?" for number in range(first, first + count)]


def test_a_prompt_is_held_out_in_every_file_or_in_none(tmp_path: Path) -> None:
    text, lines, both = (tmp_path / name for name in ("some.txt", "some.jsonl", "more.txt"))
    text.write_text("\n".join(questions(400)), encoding="utf-8")
    entries = [{"id": str(at), "prompt": one} for at, one in enumerate(reversed(questions(400)))]
    lines.write_text("\n".join(map(json.dumps, entries)), encoding="utf-8")
    both.write_text("\n".join(questions(400, 200)), encoding="utf-8")
    trained, held_out = keys(read_prompts([text]))
    assert len(trained) + len(held_out) == 400 and not trained & held_out
    assert 400 / HELD_OUT_OF / 2 < len(held_out) < 400 / HELD_OUT_OF * 2
    assert keys(read_prompts([lines])) == (trained, held_out)
    assert read_prompts([text]) == read_prompts([text, lines]), "each prompt once"
    wider, held_out_of_both = keys(read_prompts([both, text]))
    assert held_out <= held_out_of_both and trained <= wider


def test_the_order_is_not_the_files(tmp_path: Path) -> None:
    file = tmp_path / "some.txt"
    file.write_text("\n".join(questions(200)), encoding="utf-8")
    found = [prompt.text for prompt in read_prompts([file]).trained]
    assert found != sorted(found, key=questions(200).index)


def test_prompts_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "\n".join(questions(200)).encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines)))
    split = read_prompts([Path("-")])
    assert len(split.trained) + len(split.held_out) == 200


def test_skipped_entries_are_told(tmp_path: Path) -> None:
    file = tmp_path / "some.jsonl"
    lines = [json.dumps({"prompt": one}) for one in [*questions(200), "TODO"]]
    file.write_text("\n".join(lines), encoding="utf-8")
    notes: list[str] = []
    split = read_prompts([file], notes.append)
    assert len(split.trained) + len(split.held_out) == 200
    assert notes and "1 of 201 entries are skipped" in notes[0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Why?\nWhere?\n", r"^2 prompts are too few .*, one in 20: give some hundreds"),
        ("", "has no prompts: fill it"),
        ('{"prompt": 3}\n', '"prompt" must be text'),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "some.txt"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=says):
        read_prompts([file])
