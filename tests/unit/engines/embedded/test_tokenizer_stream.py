"""Text comes token by token and adds up to the whole, whatever the tokens split."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.config import Prompt
from specviz.engines.embedded.tokenizer import ChatTokenizer, TextStream
from specviz.errors import UsageError
from tests.support.demo_models import DEMO_TARGET

UNFINISHED = "\ufffd"


@pytest.fixture(scope="module")
def tokenizer() -> ChatTokenizer:
    return ChatTokenizer(DEMO_TARGET)


def ids_of(tokenizer: ChatTokenizer, text: str) -> list[int]:
    return list(tokenizer.backend.encode(text, add_special_tokens=False).ids)


def whole_text(tokenizer: ChatTokenizer, token_ids: list[int]) -> str:
    return str(tokenizer.backend.decode(token_ids, skip_special_tokens=True))


def streamed(tokenizer: ChatTokenizer, token_ids: list[int]) -> list[str]:
    stream = TextStream(tokenizer)
    return [stream.push(token_id) for token_id in token_ids]


HANGUL = st.text(st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3), max_size=20)
ANYTHING = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=UNFINISHED), max_size=30
)


@given(st.one_of(ANYTHING, HANGUL, st.lists(st.one_of(ANYTHING, HANGUL)).map(" ".join)))
def test_pieces_add_up_to_the_text(tokenizer: ChatTokenizer, text: str) -> None:
    token_ids = ids_of(tokenizer, text)
    pieces = streamed(tokenizer, token_ids)
    assert "".join(pieces) == whole_text(tokenizer, token_ids)
    assert not any(UNFINISHED in piece for piece in pieces)


@given(st.lists(st.integers(2, 4095), max_size=40))
def test_random_tokens_add_up_but_for_an_unfinished_end(
    tokenizer: ChatTokenizer, token_ids: list[int]
) -> None:
    """A random model says anything, broken characters included."""
    whole = whole_text(tokenizer, token_ids)
    shown = "".join(streamed(tokenizer, token_ids))
    assert whole.startswith(shown) or whole.rstrip(UNFINISHED) == shown.rstrip(UNFINISHED)


def test_korean_comes_with_the_token_that_completes_it(tokenizer: ChatTokenizer) -> None:
    text = "뷁"  # a syllable so rare that it is spelled in bytes
    token_ids = ids_of(tokenizer, text)
    assert len(token_ids) > 1
    assert streamed(tokenizer, token_ids) == [""] * (len(token_ids) - 1) + [text]
    assert UNFINISHED in tokenizer.text(token_ids[0])


def test_special_tokens_are_not_text(tokenizer: ChatTokenizer) -> None:
    end = tokenizer.backend.token_to_id("<|end|>")
    assert "".join(streamed(tokenizer, [*ids_of(tokenizer, "Hi"), end])) == "Hi"


def test_chat_template_frames_the_message(tokenizer: ChatTokenizer) -> None:
    token_ids = tokenizer.encode_chat(Prompt("Hello").messages)
    raw = tokenizer.backend.decode(token_ids, skip_special_tokens=False)
    assert raw == "<|user|>Hello<|end|><|assistant|>"


def test_without_a_template_the_text_stands_alone(tokenizer: ChatTokenizer, tmp_path: Path) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_text((DEMO_TARGET / name).read_text(encoding="utf-8"))
    plain = ChatTokenizer(tmp_path)
    assert plain.encode_chat(Prompt("Hello").messages) == ids_of(tokenizer, "Hello")


def test_missing_tokenizer_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"put the model's tokenizer.json there"):
        ChatTokenizer(tmp_path)
