"""The parts of a bilingual clause, and the English of its verb."""

from __future__ import annotations

from dataclasses import dataclass

from specviz.training.texts import bilingual as words
from specviz.training.texts.korean import Predicate


@dataclass(frozen=True)
class Tense:
    """When something happens, with an adverb that fits."""

    name: str
    times: list[tuple[str, str]]


PAST = Tense("past", words.TIMES_PAST)
PRESENT = Tense("present", words.TIMES_PRESENT)
FUTURE = Tense("future", words.TIMES_FUTURE)


@dataclass(frozen=True)
class Actor:
    """A grammatical subject: Korean noun, English noun phrase, and its English agreement."""

    korean: str
    english: str
    third_person: bool


@dataclass(frozen=True)
class Clause:
    """A clause without its ending: Korean up to the predicate, the predicate, and English."""

    head: str
    predicate: Predicate
    tense: Tense
    english: str

    def korean(self, formal: bool) -> str:
        ending = {"past": self.predicate.past, "present": self.predicate.present}.get(
            self.tense.name, self.predicate.future
        )
        return f"{self.head} {ending(formal)}"


def english_verb(verb: words.Verb, actor: Actor, tense: Tense, negative: bool) -> str:
    base, third, past, _ = verb.english
    if tense is FUTURE:
        return f"will not {base}" if negative else f"will {base}"
    if tense is PAST:
        return f"did not {base}" if negative else past
    if negative:
        return f"{'does' if actor.third_person else 'do'} not {base}"
    return third if actor.third_person else base


def english_be(actor: Actor, tense: Tense) -> str:
    if tense is FUTURE:
        return "will be"
    if tense is PAST:
        return "was" if actor.third_person or actor.english == "I" else "were"
    return "is" if actor.third_person else ("am" if actor.english == "I" else "are")
