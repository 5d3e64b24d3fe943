"""Reports with many facts, and a summary that keeps the ones that matter, in other words.

Each maker draws the facts first and states them twice: at length with side remarks in a shuffled
order, and shortly. What belongs in the summary depends on the kind of report.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from specviz.training.texts.example import Example, article, join_words, sentence
from specviz.training.texts.lexicon import (
    CITIES,
    COMPANIES,
    FOODS,
    GOODS,
    HOBBIES,
    JOBS,
    MONTHS,
    NAMES,
    SURNAMES,
    WEEKDAYS,
    WORDS,
)


@dataclass(frozen=True)
class Report:
    """A text and its summary."""

    kind: str
    text: str
    summary: str


REMARKS = [
    "Nobody was surprised.",
    "The weather was {weather}.",
    "A photographer from {city} took pictures.",
    "{name} did not want to comment.",
    "Similar things had happened in {month}.",
    "The coffee machine was broken again.",
    "Some visitors had travelled from {city}.",
    "The meeting room smelled of {food}.",
    "{name} arrived {minutes} minutes late.",
    "There were {minutes} questions afterwards.",
    "Music came from a {good} in the corner.",
    "{name} and {other} talked mostly about {hobby}.",
    "A {job} from {city} listened carefully.",
    "The next day was a {day}.",
    "Somebody had left a {good} at the door.",
    "Neighbours offered {food} to everyone.",
]


def example(rng: Random) -> Example:
    """One report with the instruction to shorten it."""
    maker: Callable[[Random], Report] = rng.choice(MAKERS)
    report = maker(rng)
    request = rng.choice(
        [
            f"Summarize this {report.kind}.",
            f"Summarize the following {report.kind} in two sentences.",
            f"What are the main points of this {report.kind}?",
            f"Give me a short summary of the {report.kind} below.",
            f"Please shorten this {report.kind} to what matters.",
        ]
    )
    if rng.random() < 0.25:
        return Example(f"{report.text}\n\n{request}", report.summary, report.text)
    return Example(f"{request}\n\n{report.text}", report.summary, report.text)


def _remark(rng: Random, template: str) -> str:
    name, other = rng.sample(NAMES, 2)
    return template.format(
        weather=rng.choice(["mild", "stormy", "cold", "hot", "rainy", "calm", "foggy", "clear"]),
        city=rng.choice(CITIES),
        name=name,
        other=other,
        month=rng.choice(MONTHS),
        food=rng.choice(FOODS),
        good=rng.choice(GOODS),
        hobby=rng.choice(HOBBIES),
        job=rng.choice(JOBS),
        day=rng.choice(WEEKDAYS),
        minutes=rng.randrange(3, 50),
    )


def _tell(rng: Random, opening: str, facts: list[str]) -> str:
    """The opening, then the facts and three to eight side remarks in any order."""
    asides = rng.sample(REMARKS, rng.randrange(3, 9))
    body = facts + [_remark(rng, aside) for aside in asides]
    rng.shuffle(body)
    return " ".join([opening, *body])


def _incident(rng: Random) -> Report:
    service, company = f"{rng.choice(WORDS)} service", rng.choice(COMPANIES)
    start, minutes = rng.randrange(0, 22), rng.randrange(5, 300)
    users, day = rng.randrange(2, 900) * 10, rng.choice(WEEKDAYS)
    cause, fix = rng.choice(
        [
            ("a full disk", "deleted old logs"),
            ("an expired certificate", "renewed the certificate"),
            ("a faulty network switch", "replaced the switch"),
            ("a wrong configuration", "restored the old configuration"),
            ("a memory leak", "restarted the servers"),
            ("a power failure", "started the backup generator"),
            ("a slow database query", "added an index"),
            ("a failed update", "rolled the update back"),
        ]
    )
    name, surname = rng.choice(NAMES), rng.choice(SURNAMES)
    clock = f"{start:02}:{rng.randrange(60):02}"
    opening = rng.choice(
        [
            f"On {day} at {clock} the {service} of {company} stopped answering.",
            f"The {service} at {company} went down on {day} at {clock}.",
        ]
    )
    facts = [
        rng.choice([f"About {users} users were affected.", f"{users} users saw errors."]),
        rng.choice(
            [f"The reason turned out to be {cause}.", f"Engineers traced it back to {cause}."]
        ),
        f"{name} {surname} {fix} and the service recovered after {minutes} minutes.",
    ]
    summary = (
        f"The {service} of {company} was down for {minutes} minutes on {day} because of {cause}, "
        f"which hit {users} users. {name} {surname} {fix}."
    )
    return Report("incident report", _tell(rng, opening, facts), summary)


def _meeting(rng: Random) -> Report:
    people = rng.sample(NAMES, rng.randrange(3, 5))
    topic = f"the {rng.choice(WORDS)} project"
    amount, weeks = rng.randrange(2, 90) * 1000, rng.randrange(2, 12)
    day, month = rng.randrange(1, 29), rng.choice(MONTHS)
    tasks = rng.sample(
        [
            "write the tests",
            "call the customer",
            "prepare the contract",
            "order the hardware",
            "update the web page",
            "hire a designer",
            "check the numbers",
            "book the rooms",
        ],
        2,
    )
    opening = f"{join_words(people)} met on {day} {month} to talk about {topic}."
    delay = rng.random() < 0.5
    decision = (
        f"the start is postponed by {weeks} weeks" if delay else f"the work starts in {weeks} weeks"
    )
    facts = [
        f"{people[0]} reported that {amount} dollars are left in the budget.",
        f"After some discussion they agreed that {decision}.",
        f"{people[1]} will {tasks[0]} and {people[2]} will {tasks[1]}.",
    ]
    summary = (
        f"At the meeting about {topic} it was decided that {decision}; the budget still holds "
        f"{amount} dollars. Next, {people[1]} has to {tasks[0]} and {people[2]} to {tasks[1]}."
    )
    return Report("meeting", _tell(rng, opening, facts), summary)


def _match(rng: Random) -> Report:
    home, guest = rng.sample(CITIES, 2)
    goals = sorted(rng.sample(range(0, 7), 2))
    scorer, keeper = f"{rng.choice(NAMES)} {rng.choice(SURNAMES)}", rng.choice(NAMES)
    minute, crowd = rng.randrange(46, 91), rng.randrange(10, 800) * 100
    home_won = rng.random() < 0.5
    winner, loser = (home, guest) if home_won else (guest, home)
    day = rng.choice(WEEKDAYS)
    opening = rng.choice(
        [
            f"{home} played against {guest} on {day} evening.",
            f"On {day} the team of {guest} was a guest in {home}.",
        ]
    )
    facts = [
        f"{crowd} people watched the game.",
        f"The decisive goal came from {scorer} in minute {minute}.",
        f"In the end {winner} won {goals[1]} to {goals[0]}.",
        f"The goalkeeper {keeper} of {loser} was hurt in the first half.",
    ]
    where = "at home" if home_won else f"in {home}"
    summary = (
        f"{winner} beat {loser} {goals[1]}:{goals[0]} {where} before {crowd} spectators. "
        f"{scorer} scored the decisive goal in minute {minute}."
    )
    return Report("match report", _tell(rng, opening, facts), summary)


def _business(rng: Random) -> Report:
    company, product = rng.choice(COMPANIES), rng.choice(GOODS)
    percent, millions = rng.randrange(2, 60), rng.randrange(3, 900)
    rose = rng.random() < 0.6
    boss, year = f"{rng.choice(NAMES)} {rng.choice(SURNAMES)}", rng.randrange(2015, 2030)
    city, jobs = rng.choice(CITIES), rng.randrange(2, 60) * 10
    verb, noun = ("rose", "growth") if rose else ("fell", "decline")
    plan = f"open a factory in {city}" if rose else f"close its factory in {city}"
    change = "new jobs" if rose else "lost jobs"
    opening = rng.choice(
        [
            f"{company} presented its results for {year} this morning.",
            f"The {product} maker {company} has published the figures for {year}.",
        ]
    )
    facts = [
        f"Sales {verb} by {percent} percent to {millions} million dollars.",
        f"The director {boss} explained the {noun} with the demand for its {product}.",
        f"The company plans to {plan}, which means {jobs} {change}.",
    ]
    summary = (
        f"In {year} the sales of {company} {verb} {percent} percent to {millions} million dollars, "
        f"mainly because of its {product}. It will {plan} ({jobs} {change})."
    )
    return Report("article", _tell(rng, opening, facts), summary)


def _study(rng: Random) -> Report:
    city, people = rng.choice(CITIES), rng.randrange(20, 3000)
    hobby, food = rng.choice(HOBBIES), rng.choice(FOODS)
    subject = rng.choice([hobby, f"eating {food}"])
    effect, unit = rng.choice(
        [
            ("slept longer", "minutes"),
            ("remembered more words", "words"),
            ("walked farther", "metres"),
            ("read faster", "pages"),
            ("missed less work", "hours"),
        ]
    )
    size, months = rng.randrange(3, 60), rng.randrange(2, 25)
    name = f"{rng.choice(NAMES)} {rng.choice(SURNAMES)}"
    opening = f"Researchers at the university of {city} wanted to know what {subject} does to us."
    facts = [
        f"They followed {people} people for {months} months.",
        f"Those who took up {subject} {effect}, by {size} {unit} on average.",
        f"{name}, who led the study, warns that the reason is not known.",
    ]
    summary = (
        f"A study in {city} with {people} people found that people who took up {subject} {effect} "
        f"(by {size} {unit}). According to {name} the reason is unknown."
    )
    return Report("article", _tell(rng, opening, facts), summary)


def _review(rng: Random) -> Report:
    product, company = rng.choice(GOODS), rng.choice(COMPANIES)
    price, stars = rng.randrange(10, 400), rng.randrange(1, 6)
    good = rng.sample(["light", "quiet", "easy to clean", "well made", "beautiful", "fast"], 2)
    bad = rng.choice(["the manual is confusing", "the lid broke", "delivery was slow"])
    months = rng.randrange(2, 30)
    verdict = "recommends it" if stars > 3 else "does not recommend it"
    name = rng.choice(NAMES)
    opening = f"I bought the {product} from {company} {months} months ago for {price} dollars."
    facts = [
        f"It is {good[0]} and {good[1]}.",
        f"Sadly, {bad}.",
        f"I give it {stars} of 5 stars and {'recommend' if stars > 3 else 'do not recommend'} it.",
    ]
    summary = (
        f"{name} gives the {price} dollar {product} from {company} {stars} of 5 stars and "
        f"{verdict}. It is {good[0]} and {good[1]}, but {bad}."
    )
    text = _tell(rng, opening, facts) + f" ({name})"
    return Report("review", text, summary)


def _town(rng: Random) -> Report:
    city, thing = rng.choice(CITIES), rng.choice(WORDS)
    what = rng.choice(["library", "swimming pool", "museum", "school", "tram line", "park"])
    cost, year = rng.randrange(2, 300), rng.randrange(2025, 2036)
    yes, no = sorted(rng.sample(range(5, 60), 2), reverse=True)
    name, job = f"{rng.choice(NAMES)} {rng.choice(SURNAMES)}", rng.choice(JOBS)
    accepted = rng.random() < 0.6
    result = "approved" if accepted else "rejected"
    if not accepted:
        yes, no = no, yes
    opening = f"The council of {city} debated a new {what} in {sentence(thing)} Street."
    facts = [
        f"It would cost {cost} million dollars and open in {year}.",
        f"{name}, {article(job)}, collected signatures against it.",
        f"The plan was {result} with {yes} votes in favour and {no} against.",
    ]
    summary = (
        f"The council of {city} {result} a new {what} in {sentence(thing)} Street ({yes} to {no}). "
        f"It would cost {cost} million dollars and open in {year}; {name} opposed it."
    )
    return Report("news story", _tell(rng, opening, facts), summary)


def _journey(rng: Random) -> Report:
    places = rng.sample(CITIES, 3)
    name, days = rng.choice(NAMES), [rng.randrange(2, 9) for _ in range(2)]
    means = rng.sample(["train", "bus", "ship", "plane", "bicycle"], 2)
    lost, money = rng.choice(GOODS), rng.randrange(3, 90) * 20
    opening = f"{name} started in {places[0]} in {rng.choice(MONTHS)}."
    facts = [
        f"The first stop was {places[1]}, reached by {means[0]}, where {name} stayed "
        f"{days[0]} days.",
        f"Then a {means[1]} went on to {places[2]} for another {days[1]} days.",
        f"On the way {name} lost a {lost}.",
        f"Altogether the trip cost {money} dollars.",
    ]
    summary = (
        f"{name} travelled from {places[0]} by {means[0]} to {places[1]} and by {means[1]} to "
        f"{places[2]}, {sum(days)} days in all. The trip cost {money} dollars, and a {lost} was "
        "lost."
    )
    return Report("travel diary", _tell(rng, opening, facts), summary)


MAKERS: list[Callable[[Random], Report]] = [
    _incident,
    _meeting,
    _match,
    _business,
    _study,
    _review,
    _town,
    _journey,
]
