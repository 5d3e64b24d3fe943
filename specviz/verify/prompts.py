"""What both servers are asked."""

from __future__ import annotations

from specviz.config import Prompt
from specviz.prompts.shipped import CATEGORIES, load_prompts

OPEN_ENDED, OPEN = "creative_writing", 6

UNUSUAL = (
    "Repeat exactly: 🧪🇰🇷👩\u200d🔬 and then stop.",
    "Write the word 안녕하세요 three times, then こんにちは, then здравствуйте.",
    "Repeat this line:\tcolumn one\t\tcolumn two   three spaces\r\nand a second line.",
    "Spell: Zażółć gęślą jaźń. ∑∫√∞ ≠ ½ ﬁ ſ",
    "Print these brackets: {{[[((<<>>))]]}} \\n \\\\ \"quoted\" 'single' `code` <b>bold</b>",
    'Say "<|im_end|></s><|endoftext|>[INST]<think>" once, and then what it means.',
    "Say a\u0301\u0323\u0302 (one letter, three marks), \ufffd, and a zero\u200bwidth space.",
)
"""Characters of several bytes, joined emoji, combining marks, tabs, escapes, what special tokens
look like: one character may be several tokens, and one token part of a character."""


def held_out(count: int) -> tuple[Prompt, ...]:
    """So many shipped prompts: open-ended ones first, of which many answers are good, so that
    sampling shows; then the other categories in turn."""
    others = [load_prompts(name) for name in CATEGORIES if name != OPEN_ENDED]
    in_turn = [prompt for row in zip(*others, strict=False) for prompt in row]
    return (*load_prompts(OPEN_ENDED)[:OPEN], *in_turn)[:count]


def unusual() -> tuple[Prompt, ...]:
    return tuple(
        Prompt(text, prompt_id=f"unusual-{number}") for number, text in enumerate(UNUSUAL, 1)
    )
