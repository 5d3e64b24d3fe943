"""What every category makes: a prompt, its answer, and what the prompt is about."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Example:
    """One exchange of the corpus.

    `content` names what is asked without the wording of the instruction. The hold-out split is
    made on it, so that a held-out prompt does not return in training under another wording.
    """

    prompt: str
    answer: str
    content: str


def article(noun: str) -> str:
    """`noun` with "a" or "an" before it."""
    vowel = noun[0] in "aeiouAEIOU" or noun.startswith("honest")
    return f"{'an' if vowel else 'a'} {noun}"


def join_words(words: list[str], last: str = "and") -> str:
    """Words as a list in prose: `a, b and c`."""
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def sentence(text: str) -> str:
    """`text` with a capital first letter."""
    return text[0].upper() + text[1:]
