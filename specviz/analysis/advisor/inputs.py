"""The fields of a deployment: names, ranges and units, once for page, URL and command."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from specviz.errors import UsageError
from specviz.prompts.shipped import CATEGORIES

Answer = bool | float | int | str


class Kind(StrEnum):
    YES_NO = "yes or no"
    NUMBER = "a number"
    WHOLE = "a whole number"
    CHOICE = "one of"


class Slo(StrEnum):
    """What to optimise for."""

    TPOT = "tpot"
    THROUGHPUT = "throughput"
    COST = "cost"


@dataclass(frozen=True, slots=True)
class Input:
    """One field. `low` and `high` are the smallest and largest value, in `unit`; `question` asks
    for it alone."""

    name: str
    label: str
    kind: Kind
    unit: str = ""
    low: float = 0.0
    high: float = math.inf
    choices: tuple[str, ...] = ()
    help: str = ""
    question: str = ""

    def check(self, value: Answer) -> None:
        """Raise UsageError for a value out of range."""
        if self.kind is Kind.CHOICE and value not in self.choices:
            raise UsageError(f"{self.name} is one of {', '.join(self.choices)}, not {value!r}.")
        if self.kind in (Kind.NUMBER, Kind.WHOLE) and not self.low <= float(value) <= self.high:
            raise UsageError(f"{self.name} is {self._range}, not {value:g}.")

    def parse(self, text: str) -> Answer:
        """The value of a text as a URL has it. Raises UsageError."""
        value: Answer
        if self.kind is Kind.YES_NO:
            if text not in ("yes", "no"):
                raise UsageError(f"{self.name} is yes or no, not {text!r}.")
            value = text == "yes"
        elif self.kind is Kind.CHOICE:
            value = text
        else:
            value = self._number(text)
        self.check(value)
        return value

    def format(self, value: Answer) -> str:
        """The text that `parse` reads back."""
        if self.kind is Kind.YES_NO:
            return "yes" if value else "no"
        return value if isinstance(value, str) else repr(value).removesuffix(".0")

    def _number(self, text: str) -> float | int:
        try:
            return int(text) if self.kind is Kind.WHOLE else float(text)
        except ValueError:
            raise UsageError(f"{self.name} is {self._range}, not {text!r}.") from None

    @property
    def _range(self) -> str:
        kind = self.kind.value + (f" ({self.unit})" if self.unit else "")
        if math.isinf(self.high):
            return f"{kind} from {self.low:g} up"
        return f"{kind} from {self.low:g} to {self.high:g}"


_MOST = 1e9  # above every real value; keeps infinity and its printing out

INPUTS: dict[str, Input] = {
    one.name: one
    for one in (
        Input(
            "temperature", "Temperature", Kind.NUMBER, high=2.0,
            help="Of the requests; 0 is greedy.",
            question="At which temperature do your requests sample?",
        ),
        Input(
            "concurrency", "Concurrency", Kind.WHOLE, "requests at once", low=1, high=_MOST,
            help="Requests that the server answers at the same time.",
            question="How many requests does the server answer at once?",
        ),
        Input(
            "output_tokens", "Mean answer length", Kind.NUMBER, "tokens", high=_MOST,
            help="Output tokens per request, on average.",
            question="How long is an answer, on average?",
        ),
        Input(
            "gpu_utilization", "GPU utilisation while generating", Kind.NUMBER, "0-1", high=1.0,
            help="Share of the time that the GPU is at work.",
            question="How busy is the GPU while it generates, without speculation?",
        ),
        Input(
            "memory_pressure", "Memory pressure", Kind.YES_NO,
            help="Requests wait or are preempted because the KV cache is full.",
            question="Do requests wait because the KV cache is full?",
        ),
        Input(
            "draft_fits", "Draft fits in memory", Kind.YES_NO,
            help="Weights and KV cache of the draft, next to the target; see the draft check.",
            question="Does a draft model fit into GPU memory, next to the target?",
        ),
        Input(
            "target_swapped", "Target model swapped often", Kind.YES_NO,
            help="Trained heads must be trained again for every new target.",
            question="Is the target model replaced often?",
        ),
        Input(
            "spare_memory_gb", "Spare GPU memory", Kind.NUMBER, "GB", high=_MOST,
            question="How much GPU memory is to spare?",
        ),
        Input(
            "light_training", "Light training infrastructure", Kind.YES_NO,
            help="A GPU and some hours for training heads.",
            question="Can you train small heads: a GPU for some hours?",
        ),
        Input("slo", "Aim", Kind.CHOICE, choices=tuple(Slo)),
        Input("slo_tpot_ms", "TPOT P95 at most", Kind.NUMBER, "ms", low=0.01, high=_MOST),
        Input("text", "Kind of text", Kind.CHOICE, choices=CATEGORIES),
        Input(
            "acceptance", "Acceptance rate", Kind.NUMBER, "0-1", high=1.0,
            help="Accepted / drafted tokens, as you know it from your own server.",
            question="Which share of the drafted tokens does your server accept?",
        ),
        Input(
            "speedup", "Speed-up", Kind.NUMBER, "×", low=0.01, high=1000.0,
            help="Over plain decoding at this load, as you measured it yourself.",
            question="How much faster than plain decoding is it, as you measured it?",
        ),
    )
}  # fmt: skip


def parse_answers(query: Mapping[str, str]) -> tuple[dict[str, Answer], list[str]]:
    """Answers of a query string, and a sentence for each invalid value, which is ignored."""
    answers: dict[str, Answer] = {}
    problems = []
    for name, one in INPUTS.items():
        if name not in query:
            continue
        try:
            answers[name] = one.parse(query[name])
        except UsageError as error:
            problems.append(f"Ignored in the address: {error}")
    return answers, problems


def format_answers(answers: Mapping[str, Answer]) -> dict[str, str]:
    """The query string that `parse_answers` reads back."""
    return {name: INPUTS[name].format(value) for name, value in answers.items()}
