"""Sentences in Korean and English from one bilingual grammar, to be translated either way.

A clause is built in both languages at once from the same choices (who, when, where, what, tense,
mood), and one or two clauses make a text. Korean is either polite (-요) or formal (-니다); the
instruction says which one is wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from specviz.training.texts import bilingual as words
from specviz.training.texts.clauses import (
    FUTURE,
    PAST,
    PRESENT,
    Actor,
    Clause,
    Tense,
    english_be,
    english_verb,
)
from specviz.training.texts.example import Example, article, sentence
from specviz.training.texts.korean import (
    BE,
    DO,
    NOT,
    WANT,
    by_means,
    copula,
    extended,
    objective,
    subject,
    together,
    topic,
)


def example(rng: Random) -> Example:
    """One text to translate, from Korean or into it."""
    formal = rng.random() < 0.4
    korean, english = _text(rng, formal)
    if rng.random() < 0.5:
        request = rng.choice(
            [
                "Translate into English: {}",
                "다음 문장을 영어로 번역해 주세요: {}",
                "Translate this Korean text into English.\n{}",
                "What does this mean in English? {}",
                "영어로 옮기세요.\n{}",
            ]
        )
        return Example(request.format(korean), english, english)
    style, style_ko = ("formal", "격식체") if formal else ("polite", "해요체")
    request = rng.choice(
        [
            f"Translate into {style} Korean: {{}}",
            f"다음 문장을 한국어 {style_ko}로 번역해 주세요: {{}}",
            f"Translate this text into Korean ({style} style).\n{{}}",
            f"How do I say this in {style} Korean? {{}}",
        ]
    )
    return Example(request.format(english), korean, english)


def _text(rng: Random, formal: bool) -> tuple[str, str]:
    kind = rng.random()
    if kind < 0.25:
        return _joined(rng, formal)
    maker: Callable[[Random, bool], tuple[str, str]] = rng.choices(SENTENCES, WEIGHTS)[0]
    korean, english = maker(rng, formal)
    if kind < 0.55:
        more_korean, more_english = rng.choices(SENTENCES, WEIGHTS)[0](rng, formal)
        return f"{korean} {more_korean}", f"{english} {more_english}"
    return korean, english


def _actor(rng: Random) -> Actor:
    if rng.random() < 0.3:
        korean, english, third = rng.choice(
            [("저", "I", False), ("우리", "we", False), ("그들", "they", False)]
        )
        return Actor(korean, english, third)
    korean, english = rng.choice(words.PEOPLE)
    return Actor(korean, english, True)


def _tense(rng: Random) -> Tense:
    return rng.choice([PAST, PRESENT, FUTURE])


@dataclass(frozen=True)
class Act:
    """What somebody does: Korean before the predicate, the verb, English after the verb."""

    korean: str
    verb: words.Verb
    english: str


def _act(rng: Random) -> Act:
    kind = rng.randrange(7)
    if kind <= 1:
        verb, objects = rng.choice(words.ACTIONS)
        korean, english = rng.choice(objects)
        return Act(objective(korean), verb, english)
    if kind == 2:
        adjective, thing = rng.choice(words.ADJECTIVE_MODIFIERS), rng.choice(words.THINGS)
        verb = rng.choice(words.THING_ACTIONS)
        return Act(
            f"{adjective[0]} {objective(thing[0])}", verb, article(f"{adjective[1]} {thing[1]}")
        )
    if kind == 3:
        place, vehicle = rng.choice(words.DESTINATIONS), rng.choice(words.VEHICLES)
        by = rng.random() < 0.5
        ride = f"{by_means(vehicle[0])} " if by else ""
        where = place[1] if place[1] == "home" else f"to {place[1]}"
        return Act(f"{ride}{place[0]}에", words.GO, where + (f" by {vehicle[1]}" if by else ""))
    if kind == 4:
        person, thing = rng.choice(words.PEOPLE), rng.choice(words.THINGS)
        verb = rng.choice(words.TRANSFERS)
        korean = f"{person[0]}에게 {objective(thing[0])}"
        return Act(korean, verb, f"{article(thing[1])} to {person[1]}")
    if kind == 5:
        person = rng.choice(words.PEOPLE)
        verb = rng.choice([words.MEET, words.HELP, words.INVITE])
        return Act(objective(person[0]), verb, person[1])
    return Act("", rng.choice(words.PLAIN_ACTIONS), "")


def _clause(
    rng: Random, *, tense: Tense, timed: bool = True, mark: Callable[[str], str] = topic
) -> Clause:
    """Somebody does something, perhaps somewhere and with somebody.

    `mark` is the subject's particle: 은/는 in a main clause, 이/가 in a subordinate one.
    """
    actor, act = _actor(rng), _act(rng)
    negative = rng.random() < 0.2
    korean, english = [mark(actor.korean)], [actor.english]
    if timed:
        time = rng.choice(tense.times)
        korean.append(time[0])
    if act.verb is not words.GO and rng.random() < 0.35:
        companion = rng.choice(words.PEOPLE[:16])
        korean.append(f"{together(companion[0])} 함께")
        after = f" with {companion[1]}"
    else:
        after = ""
    if act.verb is not words.GO and rng.random() < 0.4:
        place = rng.choice(words.PLACES)
        korean.append(f"{place[0]}에서")
        after += f" {_at(place[1])}"
    korean.append(act.korean)
    predicate = act.verb.korean
    if negative:
        predicate = extended(f"{predicate.stem}지", NOT)
    english += [english_verb(act.verb, actor, tense, negative), act.english + after]
    if timed:
        english.append(time[1])
    return Clause(_spaced(korean), predicate, tense, _spaced(english))


def _at(place: str) -> str:
    """The place with its English preposition."""
    if place == "home":
        return "at home"
    if place in words.PLACES_WITH_ON:
        return f"on {place}"
    return f"{'in' if place in words.PLACES_WITH_IN else 'at'} {place}"


def _spaced(parts: list[str]) -> str:
    return " ".join(" ".join(parts).split())


def _statement(rng: Random, formal: bool) -> tuple[str, str]:
    clause = _clause(rng, tense=_tense(rng))
    return clause.korean(formal) + ".", sentence(clause.english) + "."


def _description(rng: Random, formal: bool) -> tuple[str, str]:
    """Weather, feelings, qualities."""
    tense, kind = _tense(rng), rng.randrange(3)
    if kind == 0:
        actor, pool = Actor("날씨", "the weather", True), words.DESCRIPTIONS
    elif kind == 1:
        actor, pool = _actor(rng), words.FEELINGS
    else:
        thing, adjective = rng.choice(words.THINGS), rng.choice(words.ADJECTIVE_MODIFIERS)
        whole = (f"그 {adjective[0]} {thing[0]}", f"that {adjective[1]} {thing[1]}")
        actor, pool = Actor(*whole, True), words.QUALITIES
    predicate, adjective_en = rng.choice([w for w in pool if w[1] not in actor.english])
    clause = Clause(topic(actor.korean), predicate, tense, "")
    if rng.random() < 0.25:
        clause = Clause(clause.head, extended(f"{predicate.stem}지", NOT), tense, "")
        adjective_en = f"not {adjective_en}"
        be = "will not be" if tense is FUTURE else english_be(actor, tense)
        adjective_en = adjective_en.removeprefix("not ") if tense is FUTURE else adjective_en
    else:
        be = english_be(actor, tense)
    return clause.korean(formal) + ".", sentence(f"{actor.english} {be} {adjective_en}.")


def _auxiliary(rng: Random, formal: bool) -> tuple[str, str]:
    """Wishes, abilities, duties and what is going on."""
    actor, act = _actor(rng), _act(rng)
    base, _, _, ing = act.verb.english
    verb = act.verb.korean
    s = "s" if actor.third_person else ""
    kind = rng.randrange(4)
    if kind == 0 and not actor.third_person and actor.english != "they":
        predicate, english = extended(f"{verb.stem}고", WANT), f"want to {base}"
    elif kind == 1:
        predicate, english = extended(f"{verb.adnominal} 수", BE), f"can {base}"
    elif kind == 2:
        predicate = extended(f"{verb.infinitive}야", DO)
        english = f"ha{s or 've'} to {base}"
    else:
        predicate, english = extended(f"{verb.stem}고", BE), f"{english_be(actor, PRESENT)} {ing}"
    korean = _spaced([topic(actor.korean), act.korean, predicate.present(formal)])
    return korean + ".", sentence(_spaced([actor.english, english, act.english])) + "."


def _request(rng: Random, formal: bool) -> tuple[str, str]:
    act = _act(rng)
    ending = "주십시오" if formal else "주세요"
    verb = "" if act.verb in (words.GIVE, words.SHOW) else act.verb.korean.infinitive
    if act.verb is words.SHOW:
        verb = "보여"
    korean = _spaced([act.korean, verb, ending])
    return korean + ".", _spaced(["Please", act.verb.english[0], act.english]) + "."


def _question(rng: Random, formal: bool) -> tuple[str, str]:
    actor, act, tense = _actor(rng), _act(rng), _tense(rng)
    base = act.verb.english[0]
    present = "Does" if actor.third_person else "Do"
    helper = {"past": "Did", "present": present, "future": "Will"}[tense.name]
    clause = Clause(_spaced([topic(actor.korean), act.korean]), act.verb.korean, tense, "")
    korean = clause.korean(formal)
    korean = korean.removesuffix("다") + "까" if formal else korean
    return korean + "?", _spaced([helper, actor.english, base, act.english]) + "?"


def _identity(rng: Random, formal: bool) -> tuple[str, str]:
    which = rng.choice([("이것", "this"), ("저것", "that"), ("그것", "it")])
    adjective, thing = rng.choice(words.ADJECTIVE_MODIFIERS), rng.choice(words.THINGS)
    owner = rng.choice(words.PEOPLE)
    korean, english = f"{adjective[0]} {thing[0]}", article(f"{adjective[1]} {thing[1]}")
    if rng.random() < 0.5:
        korean = f"{owner[0]}의 {korean}"
        english = f"{owner[1]}'s {adjective[1]} {thing[1]}"
    return f"{topic(which[0])} {copula(korean, formal)}.", sentence(f"{which[1]} is {english}.")


def _existence(rng: Random, formal: bool) -> tuple[str, str]:
    """There are so many things at a place."""
    noun, counter, one, many = rng.choice(words.COUNTED)
    index = rng.randrange(len(words.NUMERALS))
    number_ko, number_en = words.NUMERALS[index]
    place, tense = rng.choice(words.PLACES), rng.choice([PAST, PRESENT])
    single = index == 0
    be = ("was" if single else "were") if tense is PAST else ("is" if single else "are")
    clause = Clause(f"{place[0]}에 {subject(noun)} {number_ko} {counter}", BE, tense, "")
    english = f"There {be} {number_en} {one if single else many} {_at(place[1])}."
    return clause.korean(formal) + ".", english


def _joined(rng: Random, formal: bool) -> tuple[str, str]:
    """Two clauses with a connective between them."""
    kind, tense = rng.randrange(4), _tense(rng)
    second = _clause(rng, tense=tense, timed=False)
    if kind == 3:
        first = _clause(rng, tense=PRESENT, timed=False, mark=subject)
        second = _clause(rng, tense=FUTURE, timed=False)
        korean = f"{first.head} {first.predicate.soft}면 {second.korean(formal)}."
        return korean, sentence(f"if {first.english}, {second.english}.")
    if kind == 2 and tense is FUTURE:
        tense = PRESENT
    first = _clause(rng, tense=tense, mark=subject if kind == 2 else topic)
    past = tense is PAST
    stem = first.predicate.past_stem if past else first.predicate.stem
    if kind == 0:
        return f"{first.head} {stem}고 {second.korean(formal)}.", _both(first, "and", second)
    if kind == 1:
        return f"{first.head} {stem}지만 {second.korean(formal)}.", _both(first, "but", second)
    because = f"{first.predicate.past_stem}기" if past else f"{first.predicate.stem}기"
    korean = f"{first.head} {because} 때문에 {second.korean(formal)}."
    return korean, _both(first, "so", second)


def _both(first: Clause, connective: str, second: Clause) -> str:
    return sentence(f"{first.english}, {connective} {second.english}.")


SENTENCES: list[Callable[[Random, bool], tuple[str, str]]] = [
    _statement,
    _description,
    _auxiliary,
    _request,
    _question,
    _identity,
    _existence,
]
WEIGHTS = [9, 4, 4, 2, 3, 2, 2]
