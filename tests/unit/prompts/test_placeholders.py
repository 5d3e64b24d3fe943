"""Whole prompts that are no prompts, and real ones that look a little like them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.prompts.placeholders import is_placeholder


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        " \t\n\u3000",
        "...",
        "?",
        "----- -----",
        "{question}",
        "{}",
        " { user prompt } ",
        "${prompt}",
        "%(text)s",
        "{{question}}",
        "{{ item.prompt | upper }}",
        "<prompt>",
        "<your prompt here>",
        "<|user|>",
        "[INSERT PROMPT HERE]",
        "[your question]",
        "[Insert a 500-word article about economics]",
        "Lorem ipsum",
        "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor.",
        "TODO",
        "todo!",
        "TODO: add a prompt",
        "TODO - write prompt later",
        "TBD",
        "N/A",
        "placeholder",
        "[Placeholder]",
        "Placeholder text.",
        "placeholder_prompt",
        "Sample prompt 3",
        "Question #12",
        "Your prompt here",
        "Prompt goes here...",
        "Enter your question here",
        "test test test test",
        "Hello, hello! HELLO",
        "aaaaaaaaaa",
        "x x x x",
        "안녕 안녕 안녕",
        "FULL BENCHMARK DATA SHOULD BE FETCHED FROM THE SOURCE USING SPECDEC_BENCH",
        "Full benchmark data should be fetched from the source.",
    ],
)
def test_placeholders_are_found(prompt: str) -> None:
    assert is_placeholder(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        'Translate {"a": 1} into YAML',
        '{"a": 1}',
        "{'name': 'Ada', 'age': 36}",
        "{a: 1, b: 2}",
        "What is a placeholder in HTML?",
        "What does TODO mean in code?",
        "TODO: implement quicksort in Python.",
        "Fill in {question} in this template: Hello {question}!",
        "Explain the Jinja expression {{ user.name }}.",
        "def f(x):\n    return {x}",
        "<b>Translate this</b> into German.",
        "<div><p>Is this HTML valid?</p></div>",
        "[1, 2, 3]",
        "[1, 2, 3] What is the sum of this list?",
        "Where does the text lorem ipsum come from?",
        "Lorem ipsum dolor sit amet: translate this into English.",
        "Order 3, 148, 108.",
        "Knock, knock.",
        "Hello",
        "2 + 2 = ?",
        "What is 11111 + 11111?",
        "Write a question about whales.",
        "Here is my question: why is the sky blue?",
        "The text above is too long. Shorten it.",
        "Can you test this test with another test?",
        "Who said that full benchmark data should be fetched from the source?",
        "지훈은 뛸 거예요?",
        "🎬🦁👑",
        "Was ist das?",
        "(hello there)",
        "buffalo buffalo Buffalo buffalo in Buffalo",
    ],
)
def test_real_prompts_are_not(prompt: str) -> None:
    assert not is_placeholder(prompt)


@given(st.text(max_size=40))
def test_space_around_a_prompt_does_not_matter(prompt: str) -> None:
    assert is_placeholder(f" \n{prompt}\t ") == is_placeholder(prompt)


@given(st.from_regex(r"[a-z]{2,9}", fullmatch=True), st.integers(3, 50))
def test_a_repeated_word_is_a_placeholder(word: str, times: int) -> None:
    assert is_placeholder(" ".join([word] * times))
    assert not is_placeholder(f"What does {word} {word} mean?")
