"""The definitions of acceptance that tools use, in words and symbols.

Per step: d draft tokens were verified and a of them accepted; n steps verified a draft. A request r
has o output tokens. Sums are over all steps of all requests, means over requests.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Word(StrEnum):
    """What people call the figure. The same word stands for different definitions."""

    RATE = "acceptance rate"
    LENGTH = "acceptance length"


@dataclass(frozen=True, slots=True)
class Definition:
    """One figure: its name here, its formula, and what the formula means."""

    key: str
    word: Word
    name: str
    symbols: str
    words: str


RATE = Definition(
    "rate", Word.RATE, "over all steps", "Σa / Σd",
    "accepted draft tokens / draft tokens; the target's own token of a step is in neither",
)  # fmt: skip
RATE_OF_REQUESTS = Definition(
    "rate_of_requests", Word.RATE, "mean of requests", "mean(Σaᵣ / Σdᵣ)",
    "the rate of each request, averaged: a request of 3 steps counts as much as one of 300",
)  # fmt: skip
VERIFIED_OF_REQUESTS = Definition(
    "verified_of_requests", Word.RATE, "with the target's token, mean of requests",
    "mean((Σaᵣ + nᵣ) / (Σdᵣ + nᵣ))",
    "counts the target's own token of every step as drafted and accepted, so it is always higher",
)  # fmt: skip
LENGTH = Definition(
    "length", Word.LENGTH, "over all steps", "1 + Σa / n",
    "tokens per drafting step, the target's own token (recovered or bonus) included",
)  # fmt: skip
LENGTH_OF_REQUESTS = Definition(
    "length_of_requests", Word.LENGTH, "mean of requests", "mean(1 + Σaᵣ / nᵣ)",
    "the length of each request, averaged: short answers weigh as much as long ones",
)  # fmt: skip
ACCEPTED = Definition(
    "accepted", Word.LENGTH, "without the target's token", "Σa / n",
    "accepted draft tokens per drafting step: 1 less than the length with the target's token",
)  # fmt: skip
TOKENS = Definition(
    "tokens", Word.LENGTH, "output tokens per step", "Σo / n",
    "also counts the first token, which the prompt's pass writes, and tokens of steps without a "
    "draft; leaves out what max_tokens or a stop cut off",
)  # fmt: skip
TOKENS_OF_REQUESTS = Definition(
    "tokens_of_requests", Word.LENGTH, "output tokens per step, mean of requests",
    "mean(oᵣ / nᵣ)",
    "output tokens per step of each request, averaged",
)  # fmt: skip
TOKENS_PER_CHUNK = Definition(
    "tokens_per_chunk", Word.LENGTH, "tokens per chunk, an estimate",
    "(Σo − requests) / (chunks − requests)",
    "what a client sees without the server's counts: a chunk is a step only if none were merged or "
    "split, and a step without a draft counts too",
)  # fmt: skip

DEFINITIONS = (
    RATE, RATE_OF_REQUESTS, VERIFIED_OF_REQUESTS, LENGTH, LENGTH_OF_REQUESTS, ACCEPTED, TOKENS,
    TOKENS_OF_REQUESTS, TOKENS_PER_CHUNK,
)  # fmt: skip
"""In the order of a table; the first of a word is the one to compare by."""

UNCONDITIONAL = (
    "Unconditional, Aᵢ / n: accepted at position i / all drafting steps. It never rises with i. "
    "vLLM, llama.cpp and specviz call this acceptance by position."
)
CONDITIONAL = (
    "Conditional, Aᵢ / Aᵢ₋₁: accepted at position i / steps whose drafts were accepted up to "
    "there. It is at least as high as the unconditional rate, and equal at position 1."
)

OTHER_REASONS = (
    "K: in SGLang `--speculative-num-draft-tokens` counts the token that the draft starts from, so "
    "4 there is K 3 elsewhere.",
    "Other prompts, chat templates or thinking modes: compare on the same prompts.",
    "Temperature, and how drafts are sampled and judged: greedy or sampled drafts, thresholds "
    "below 1, relaxed acceptance.",
    "Longer answers: acceptance changes along an answer, and repetition raises it.",
    "Rates fall with K although the draft is as good: tokens after a rejection count as drafted.",
    "Other versions of the draft, or of its dtype.",
)
"""What no definition explains, and few files record."""
