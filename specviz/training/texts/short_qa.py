"""Short questions with an answer of one to three sentences.

The answers are computed, looked up in small tables, or taken from what every Python installation
says about itself (docstrings, Unicode names).
"""

from __future__ import annotations

import calendar
import unicodedata
from collections.abc import Callable
from random import Random

from specviz.training.texts.example import Example, article, join_words, sentence
from specviz.training.texts.facts import (
    ANIMALS,
    ANTONYMS,
    COUNTRIES,
    ELEMENTS,
    PLANETS,
    PLURALS,
    UNITS,
    VERBS,
)
from specviz.training.texts.lexicon import FOODS, MONTHS, NAMES, WEEKDAYS, WORDS
from specviz.training.texts.python_docs import documented

Maker = Callable[[Random], Example]


def example(rng: Random) -> Example:
    """One question, its answer, and its content key."""
    maker: Maker = rng.choices(MAKERS, WEIGHTS)[0]
    return maker(rng)


def _ask(rng: Random, questions: list[str], answers: list[str], content: str = "") -> Example:
    """One of the wordings; the content is the question itself where none is given."""
    question = rng.choice(questions)
    return Example(question, rng.choice(answers), content or question)


def _arithmetic(rng: Random) -> Example:
    a, b = rng.randrange(2, 500), rng.randrange(2, 500)
    sign, word = rng.choice([("+", "plus"), ("-", "minus"), ("*", "times")])
    if sign == "*":
        a, b = a % 30 + 2, b % 11 + 2
    if sign == "-" and a < b:
        a, b = b, a
    result = {"+": a + b, "-": a - b, "*": a * b}[sign]
    questions = [
        f"What is {a} {word} {b}?",
        f"Calculate {a} {sign} {b}.",
        f"How much is {a} {sign} {b}?",
        f"Please work out {a} {word} {b}.",
    ]
    return _ask(rng, questions, [f"{a} {sign} {b} = {result}."], f"arithmetic {a} {sign} {b}")


def _word_problem(rng: Random) -> Example:
    name, item = rng.choice(NAMES), rng.choice(FOODS)
    a, b = rng.randrange(5, 90), rng.randrange(2, 60)
    if rng.random() < 0.5:
        verb, sign, result = rng.choice(["buys", "finds", "picks"]), "+", a + b
        story = f"{name} has {a} {item} and {verb} {b} more."
    else:
        a, b = max(a, b) + 1, min(a, b)
        verb, sign, result = rng.choice(["eats", "sells", "gives away"]), "-", a - b
        story = f"{name} has {a} {item} and {verb} {b} of them."
    ask = rng.choice([f"How many {item} does {name} have now?", f"How many {item} are there now?"])
    return Example(f"{story} {ask}", f"{name} now has {a} {sign} {b} = {result} {item}.", story)


def _price(rng: Random) -> Example:
    name, item = rng.choice(NAMES), rng.choice(FOODS)
    count, each = rng.randrange(2, 13), rng.randrange(2, 20)
    story = rng.choice(
        [
            f"{name} buys {count} boxes of {item} at {each} dollars a box.",
            f"A box of {item} costs {each} dollars and {name} needs {count} boxes.",
        ]
    )
    ask = rng.choice(["How much does that cost?", "What is the total?", "What does it come to?"])
    answer = f"The {count} boxes cost {count} * {each} = {count * each} dollars."
    return Example(f"{story} {ask}", answer, story)


def _conversion(rng: Random) -> Example:
    quantity, large, small, factor = rng.choice(UNITS)
    n = rng.randrange(2, 100)
    if rng.random() < 0.3:
        questions = [f"How many {large} are {n * factor} {small}?"]
        answer = f"{n * factor} {small} are {n} {large}, because there are {factor} {small} in one."
        return _ask(rng, questions, [answer], f"{n * factor} {small}")
    questions = [
        f"How many {small} are {n} {large}?",
        f"Convert {n} {large} to {small}.",
        f"Express a {quantity} of {n} {large} in {small}.",
    ]
    answer = f"{n} {large} are {n} * {factor} = {n * factor} {small}."
    return _ask(rng, questions, [answer], f"{n} {large} {small}")


def _temperature(rng: Random) -> Example:
    celsius = rng.randrange(-8, 21) * 5
    fahrenheit = celsius * 9 // 5 + 32
    questions = [
        f"What is {celsius} degrees Celsius in Fahrenheit?",
        f"Convert {celsius} °C to °F.",
        f"The weather report says {celsius} °C. What is that in Fahrenheit?",
    ]
    answer = f"{celsius} °C is {fahrenheit} °F: multiply by 9/5 and add 32."
    return _ask(rng, questions, [answer])


def _leap_year(rng: Random) -> Example:
    year = rng.randrange(1600, 2400)
    leap = calendar.isleap(year)
    reason = "divisible by 4" if leap else "not divisible by 4"
    if year % 100 == 0:
        reason = "divisible by 400" if leap else "divisible by 100 but not by 400"
    days = 29 if leap else 28
    if rng.random() < 0.5:
        questions = [f"Is {year} a leap year?", f"Was {year} a leap year or not?"]
        answer = f"{'Yes' if leap else 'No'}, {year} is {reason}, so February has {days} days."
        return _ask(rng, questions, [answer])
    questions = [f"How many days did February have in {year}?", f"How long is February {year}?"]
    return _ask(rng, questions, [f"February {year} has {days} days, because {year} is {reason}."])


def _weekday(rng: Random) -> Example:
    start, days = rng.randrange(7), rng.randrange(1, 60)
    first, later = WEEKDAYS[start], WEEKDAYS[(start + days) % 7]
    questions = [
        f"If today is {first}, what day is it in {days} days?",
        f"It is {first}. Which weekday comes {days} days later?",
    ]
    rest = days % 7
    answer = f"{days} days are {days // 7} weeks and {rest} days, so it is {later}."
    return _ask(rng, questions, [answer])


def _month(rng: Random) -> Example:
    index, step = rng.randrange(12), rng.randrange(1, 12)
    after, before = MONTHS[(index + step) % 12], MONTHS[(index - step) % 12]
    month = MONTHS[index]
    if rng.random() < 0.5:
        questions = [f"Which month comes {step} months after {month}?"]
        return _ask(rng, questions, [f"{step} months after {month} comes {after}."])
    questions = [f"Which month comes {step} months before {month}?"]
    return _ask(rng, questions, [f"{step} months before {month} comes {before}."])


def _sort_words(rng: Random) -> Example:
    words = rng.sample(WORDS, rng.randrange(3, 7))
    listed = ", ".join(words)
    backwards = rng.random() < 0.3
    ordered = ", ".join(sorted(words, reverse=backwards))
    order = "reverse alphabetical" if backwards else "alphabetical"
    questions = [
        f"Put these words in {order} order: {listed}.",
        f"Sort in {order} order: {listed}.",
    ]
    return _ask(rng, questions, [f"In {order} order: {ordered}."], f"sort {listed}")


def _sort_numbers(rng: Random) -> Example:
    numbers = rng.sample(range(1, 200), rng.randrange(3, 7))
    listed = ", ".join(map(str, numbers))
    content = f"numbers {listed}"
    kind = rng.randrange(3)
    if kind == 0:
        ordered = ", ".join(map(str, sorted(numbers)))
        questions = [f"Sort these numbers from smallest to largest: {listed}.", f"Order {listed}."]
        return _ask(rng, questions, [f"From smallest to largest: {ordered}."], content)
    if kind == 1:
        questions = [f"Which is the largest of {listed}?", f"What is the maximum of {listed}?"]
        return _ask(rng, questions, [f"The largest of them is {max(numbers)}."], content)
    questions = [f"Which is the smallest of {listed}?", f"What is the minimum of {listed}?"]
    return _ask(rng, questions, [f"The smallest of them is {min(numbers)}."], content)


def _list_position(rng: Random) -> Example:
    words = rng.sample(WORDS, rng.randrange(4, 8))
    listed = join_words(words)
    names = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh"]
    place = rng.randrange(len(words))
    questions = [
        f"What is the {names[place]} word in this list: {listed}?",
        f"Here is a list: {listed}. Which word is {names[place]}?",
    ]
    return _ask(rng, questions, [f"The {names[place]} word is {words[place]}."], f"list {listed}")


def _country(rng: Random) -> Example:
    country = rng.choice(list(COUNTRIES))
    capital, continent, language = COUNTRIES[country]
    about_capital = f"The capital of {country} is {capital}."
    about_continent = f"{country} is in {continent}, and its capital is {capital}."
    questions = [
        (f"What is the capital of {country}?", about_capital),
        (f"Name the capital city of {country}.", about_capital),
        (f"Which city is the capital of {country}?", about_capital),
        (f"On which continent is {country}?", about_continent),
        (f"Where is {country}?", about_continent),
        (f"Which country has the capital {capital}?", f"{capital} is the capital of {country}."),
        (f"{capital} is the capital of which country?", f"{capital} is the capital of {country}."),
        (f"Which language is spoken most in {country}?", f"Most people there speak {language}."),
    ]
    question, answer = rng.choice(questions)
    return Example(question, answer, question)


def _two_capitals(rng: Random) -> Example:
    countries = rng.sample(list(COUNTRIES), rng.choice([2, 2, 3]))
    questions = [
        f"What are the capitals of {join_words(countries)}?",
        f"Name the capital cities of {join_words(countries)}.",
    ]
    parts = [f"{COUNTRIES[c][0]} is the capital of {c}" for c in countries]
    return _ask(rng, questions, [join_words(parts) + "."])


def _element(rng: Random) -> Example:
    number = rng.randrange(len(ELEMENTS))
    name, symbol = ELEMENTS[number]
    full = f"{sentence(name)} has the symbol {symbol} and the atomic number {number + 1}."
    questions = [
        f"What is the chemical symbol of {name}?",
        f"What is the atomic number of {name}?",
        f"Which element has the symbol {symbol}?",
        f"Which element has atomic number {number + 1}?",
        f"Tell me about the element {name}.",
    ]
    return _ask(rng, questions, [full])


def _animal(rng: Random) -> Example:
    animal = rng.choice(list(ANIMALS))
    kind, young, legs = ANIMALS[animal]
    about_kind = f"{sentence(article(animal))} is {article(kind)} with {legs} legs."
    questions = [
        (f"What is a young {animal} called?", f"A young {animal} is called {article(young)}."),
        (f"What kind of animal is {article(animal)}?", about_kind),
        (f"How many legs does {article(animal)} have?", about_kind),
        (f"Is {article(animal)} a mammal?", ("Yes. " if kind == "mammal" else "No. ") + about_kind),
    ]
    question, answer = rng.choice(questions)
    return Example(question, answer, question)


def _legs(rng: Random) -> Example:
    animals = rng.sample(list(ANIMALS), 2)
    counts = [rng.randrange(2, 10), rng.randrange(2, 10)]
    herd = " and ".join(f"{n} of the animal '{a}'" for n, a in zip(counts, animals, strict=True))
    legs = [n * ANIMALS[a][2] for n, a in zip(counts, animals, strict=True)]
    total = f"{legs[0]} + {legs[1]} = {sum(legs)}"
    questions = [f"How many legs do {herd} have together?", f"Count the legs of {herd}."]
    return _ask(rng, questions, [f"They have {total} legs."])


def _language(rng: Random) -> Example:
    kind = rng.randrange(4)
    if kind == 0:
        word, opposite = rng.choice(ANTONYMS)
        if rng.random() < 0.5:
            word, opposite = opposite, word
        questions = [f"What is the opposite of '{word}'?", f"Give me an antonym of '{word}'."]
        return _ask(rng, questions, [f"The opposite of '{word}' is '{opposite}'."])
    if kind == 1:
        one, many = rng.choice(PLURALS)
        questions = [f"What is the plural of '{one}'?", f"How do I write more than one '{one}'?"]
        return _ask(rng, questions, [f"The plural of '{one}' is '{many}'."])
    verb = rng.choice(list(VERBS))
    past, participle = VERBS[verb]
    questions = [
        f"What is the past tense of '{verb}'?",
        f"Give the forms of the verb '{verb}'.",
        f"How is '{verb}' conjugated?",
        f"What is the past participle of '{verb}'?",
    ]
    return _ask(rng, questions, [f"The forms are {verb}, {past}, {participle}."])


def _planet(rng: Random) -> Example:
    place = rng.randrange(8)
    planet = PLANETS[place]
    names = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"]
    questions = [
        f"Which planet is the {names[place]} from the Sun?",
        f"Where is {planet} in the solar system?",
        f"What is the position of {planet} counted from the Sun?",
    ]
    return _ask(rng, questions, [f"{planet} is the {names[place]} planet from the Sun."])


def _divisible(rng: Random) -> Example:
    a, b = rng.randrange(10, 300), rng.randrange(2, 10)
    quotient, rest = divmod(a, b)
    questions = [f"Is {a} divisible by {b}?", f"What is the remainder of {a} divided by {b}?"]
    start = "Yes" if rest == 0 else "No"
    question = rng.choice(questions)
    fact = f"{a} = {quotient} * {b} + {rest}, so the remainder is {rest}."
    return Example(question, f"{start}, {fact}" if question[0] == "I" else fact, f"{a} mod {b}")


def _python_doc(rng: Random) -> Example:
    name, doc = rng.choice(documented())
    questions = [
        f"What does `{name}` do in Python?",
        f"Explain Python's `{name}` in one sentence.",
        f"What is `{name}` for?",
        f"I saw `{name}` in some Python code. What does it do?",
    ]
    return _ask(rng, questions, [doc if doc.endswith(".") else doc + "."])


def _unicode(rng: Random) -> Example:
    start, stop = rng.choice([(0x41, 0x7B), (0xC0, 0x100), (0x391, 0x3CA), (0x2190, 0x21B0)])
    code = rng.randrange(start, stop)
    name = unicodedata.name(chr(code), "")
    if not name:
        return _arithmetic(rng)
    questions = [
        f"What is the Unicode name of '{chr(code)}'?",
        f"Which character is U+{code:04X}?",
        f"What is the code point of '{chr(code)}'?",
    ]
    return _ask(rng, questions, [f"'{chr(code)}' is U+{code:04X}, {name}."])


MAKERS: list[Maker] = [
    _arithmetic, _word_problem, _price, _conversion, _temperature, _leap_year, _weekday, _month,
    _sort_words, _sort_numbers, _list_position, _country, _two_capitals, _element, _animal, _legs,
    _language, _planet, _divisible, _python_doc, _unicode,
]  # fmt: skip
WEIGHTS = [8, 10, 8, 8, 2, 4, 4, 3, 7, 7, 7, 8, 9, 4, 3, 4, 4, 1, 6, 8, 2]
