"""Stories and poems out of a grammar with many branches: the least predictable category.

The prompt fixes who, where and what for; everything else is drawn, so that even a model that knows
the grammar must choose, and a draft often chooses differently.
"""

from __future__ import annotations

from random import Random

from specviz.training.texts.example import Example, article, sentence
from specviz.training.texts.lexicon import NAMES
from specviz.training.texts.story_words import (
    CHARACTERS,
    ENDINGS,
    GOALS,
    LINES,
    OPENINGS,
    RHYMES,
    SETTINGS,
    SLOTS,
    TRAITS,
    TROUBLES,
    TURNS,
    WISHES,
)


def example(rng: Random) -> Example:
    """One request for a story, a poem or a letter, and the text."""
    kind = rng.random()
    if kind < 0.55:
        return _story(rng)
    if kind < 0.85:
        return _poem(rng)
    return _letter(rng)


def _slots(rng: Random) -> dict[str, str]:
    return {slot: rng.choice(values) for slot, values in SLOTS.items()}


def _story(rng: Random) -> Example:
    hero, trait = rng.choice(CHARACTERS).replace("_", " "), rng.choice(TRAITS)
    place, goal, name = rng.choice(SETTINGS), rng.choice(GOALS), rng.choice(NAMES)
    who = article(f"{trait} {hero}")
    fixed = {
        "hero": hero, "trait": trait, "place": place, "goal": goal, "name": name, "a_hero": who,
    }  # fmt: skip
    count = rng.choices([1, 2, 3], [3, 4, 2])[0]
    patterns = [rng.choice(OPENINGS), rng.choice(WISHES)]
    patterns += rng.sample(TROUBLES, count) + rng.sample(TURNS, count) + [rng.choice(ENDINGS)]
    lines = [_fill(rng, pattern, fixed) for pattern in patterns]
    length = {1: "very short", 2: "short", 3: "longer"}[count]
    prompt = rng.choice(
        [
            f"Write a {length} story about {who} named {name} in {place} who wants to {goal}.",
            f"Tell me a {length} story. Hero: {name}, {who}. Place: {place}. Wish: {goal}.",
            f"Make up a {length} tale set in {place}, in which {name}, {who}, tries to {goal}.",
        ]
    )
    return Example(prompt, " ".join(lines), f"{who} {name} {place} {goal}")


def _fill(rng: Random, pattern: str, fixed: dict[str, str]) -> str:
    """Fresh words for every sentence, so that nothing but the fixed part repeats."""
    return sentence(pattern.format(**_slots(rng), **fixed))


def _poem(rng: Random) -> Example:
    topic = f"{rng.choice(SLOTS['weather'])} {rng.choice(SLOTS['nature'])}"
    other = f"{rng.choice(SLOTS['feeling'])} {rng.choice(SLOTS['friend'])}"
    verses = rng.choice([2, 3, 4])
    lines = [f"The {topic}, the {other}"]
    for group in rng.sample(RHYMES, verses):
        first, second = rng.sample(group, 2)
        for word, stop in ((first, ","), (second, ".")):
            pattern = rng.choice(LINES).replace("{rhyme}", word)
            lines.append(sentence(pattern.format(**_slots(rng))) + stop)
    prompt = rng.choice(
        [
            f"Write a poem of {verses} couplets about the {topic} and a {other}.",
            f"Compose {verses} rhyming couplets. Theme: the {topic}, the {other}.",
            f"I would like a poem about a {other} under the {topic}, {verses} couplets.",
        ]
    )
    return Example(prompt, "\n".join(lines), f"poem {topic} {other} {verses}")


def _letter(rng: Random) -> Example:
    sender, reader = rng.sample(NAMES, 2)
    hero, place = rng.choice(CHARACTERS).replace("_", " "), rng.choice(SETTINGS)
    goal = rng.choice(GOALS)
    fixed = {"name": "I", "place": place}
    remarks = [
        "The {weather} {season} has come to {place}.",
        "A {friend} gave me a {thing} and a {thing2}.",
        "At {daytime} the {nature} is {feeling}.",
        "Do you remember the {thing2} and the {sound}?",
        "I {motion} by the {nature2} for {number} days.",
        "My {thing} is {feeling} without you.",
        "The {friend} says: {saying}.",
        "Please send a {thing} before {season}.",
    ]
    body = [_fill(rng, remark, fixed) for remark in rng.sample(remarks, rng.randrange(3, 6))]
    prompt = rng.choice(
        [
            f"Write a letter from {sender}, {article(hero)} in {place}, to {reader}. {sender} "
            f"hopes to {goal}.",
            f"Imagine {sender} ({hero}) writes to {reader} from {place} about the plan to {goal}.",
        ]
    )
    text = [f"Dear {reader},", " ".join([*body, f"Soon I will {goal}."]), f"Yours, {sender}"]
    return Example(prompt, "\n".join(text), f"letter {sender} {reader} {hero} {place} {goal}")
