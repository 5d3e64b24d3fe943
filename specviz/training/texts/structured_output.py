"""A description in prose, and the same facts as JSON or YAML.

A record is built first; prose and structure are two views of it, so every answer is right. The
keys asked for vary, so the answer cannot be produced without reading the instruction.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from specviz.training.texts.example import Example, article, join_words
from specviz.training.texts.lexicon import (
    CITIES,
    COLOURS,
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

Value = str | int | float | bool | None | list["Value"] | dict[str, "Value"]


@dataclass(frozen=True)
class Record:
    """A thing described: its kind, the prose about it, and its fields in the order of the prose."""

    kind: str
    prose: str
    fields: dict[str, Value]


def example(rng: Random) -> Example:
    """One description to be turned into JSON or YAML."""
    maker: Callable[[Random], Record] = rng.choice(MAKERS)
    record = maker(rng)
    keys = list(record.fields)
    if rng.random() < 0.35:
        keys = rng.sample(keys, rng.randrange(2, len(keys) + 1))
    chosen = {key: record.fields[key] for key in keys}
    style = rng.choices(["JSON", "compact JSON", "YAML"], [5, 2, 3])[0]
    return Example(_instruction(rng, record, style, keys), _render(chosen, style), record.prose)


def _instruction(rng: Random, record: Record, style: str, keys: list[str]) -> str:
    listed = ", ".join(keys)
    request = rng.choice(
        [
            f"Write this {record.kind} as {style} with the keys {listed}.",
            f"Extract {listed} from the text as {style}.",
            f"Turn the following {record.kind} into {style}. Keys: {listed}.",
            f"Give me {style} ({listed}) for this {record.kind}.",
        ]
    )
    if rng.random() < 0.4:
        return f"{record.prose}\n{request}"
    return f"{request}\n{record.prose}"


def _render(value: Value, style: str) -> str:
    if style == "YAML":
        return "\n".join(_yaml_lines(value, ""))
    if style == "compact JSON":
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False, indent=2)


def _yaml_lines(value: Value, indent: str) -> list[str]:
    """Block-style YAML of a mapping or a list."""
    lines: list[str] = []
    if isinstance(value, dict):
        for key, inner in value.items():
            lines += _yaml_entry(f"{indent}{key}:", inner, indent + "  ")
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, dict):
                block = _yaml_lines(inner, indent + "  ")
                lines += [f"{indent}- {block[0].lstrip()}", *block[1:]]
            else:
                lines.append(f"{indent}- {_yaml_scalar(inner)}")
    return lines


def _yaml_entry(head: str, value: Value, indent: str) -> list[str]:
    if isinstance(value, dict | list):
        return [head, *_yaml_lines(value, indent)]
    return [f"{head} {_yaml_scalar(value)}"]


def _yaml_scalar(value: Value) -> str:
    """Strings are quoted where YAML would read something else."""
    if isinstance(value, str):
        plain = all(c.isalpha() or c in " " for c in value)
        return value if plain else json.dumps(value, ensure_ascii=False)
    return json.dumps(value)


def _person(rng: Random) -> Record:
    name, surname = rng.choice(NAMES), rng.choice(SURNAMES)
    age, job, city = rng.randrange(18, 80), rng.choice(JOBS), rng.choice(CITIES)
    hobbies = rng.sample(HOBBIES, rng.randrange(1, 4))
    mail = f"{name.lower()}.{surname.lower()}@{rng.choice(COMPANIES).lower()}.com"
    prose = rng.choice(
        [
            f"{name} {surname} is {age} years old, lives in {city} and works as {article(job)}. "
            f"{name} enjoys {join_words(hobbies)}. Mail: {mail}.",
            f"Our new colleague is {name} {surname} from {city}, {article(job)} of {age} who likes "
            f"{join_words(hobbies)}. Write to {mail}.",
            f"Meet {name} {surname} ({age}), {job} in {city}. Hobbies: {', '.join(hobbies)}. "
            f"Contact: {mail}.",
        ]
    )
    fields: dict[str, Value] = {
        "name": f"{name} {surname}",
        "age": age,
        "city": city,
        "job": job,
        "hobbies": list(hobbies),
        "email": mail,
    }
    return Record("person", prose, fields)


def _order(rng: Random) -> Record:
    number, name = rng.randrange(1000, 99999), f"{rng.choice(NAMES)} {rng.choice(SURNAMES)}"
    goods = rng.sample(GOODS, rng.randrange(1, 4))
    items = [(rng.randrange(1, 9), rng.choice(COLOURS), good) for good in goods]
    price = [rng.randrange(5, 200) for _ in items]
    listed = join_words(
        [
            f"{n} {colour} {good}{'s' if n > 1 else ''} at {p} dollars each"
            for (n, colour, good), p in zip(items, price, strict=True)
        ]
    )
    express = rng.random() < 0.5
    shipping = "express" if express else "standard"
    prose = rng.choice(
        [
            f"Order {number}: {name} wants {listed}, with {shipping} shipping.",
            f"{name} placed order {number} for {listed}. Shipping is {shipping}.",
            f"In order {number} we send {listed} to {name} by {shipping} delivery.",
        ]
    )
    lines: list[Value] = [
        {"product": good, "colour": colour, "quantity": n, "price": p}
        for (n, colour, good), p in zip(items, price, strict=True)
    ]
    fields: dict[str, Value] = {
        "order_id": number,
        "customer": name,
        "items": lines,
        "express": express,
    }
    return Record("order", prose, fields)


def _event(rng: Random) -> Record:
    topic, city = rng.choice(HOBBIES), rng.choice(CITIES)
    day, month, year = rng.randrange(1, 29), rng.randrange(12), rng.randrange(2022, 2030)
    hour, minute = rng.randrange(8, 21), rng.choice([0, 15, 30, 45])
    guests = rng.sample(NAMES, rng.randrange(2, 5))
    start = f"{hour:02}:{minute:02}"
    price = rng.choice([0, 5, 10, 12, 15, 20, 25, 30])
    cost = f"Tickets cost {price} dollars." if price else "Entry is free."
    prose = rng.choice(
        [
            f"The {topic} evening in {city} takes place on {day} {MONTHS[month]} {year} at {start}."
            f" Speakers are {join_words(guests)}. {cost}",
            f"On {day} {MONTHS[month]} {year}, {join_words(guests)} host a {topic} evening in "
            f"{city}. It starts at {start}. {cost}",
        ]
    )
    fields: dict[str, Value] = {
        "title": f"{topic} evening",
        "city": city,
        "date": f"{year}-{month + 1:02}-{day:02}",
        "time": start,
        "speakers": list(guests),
        "price": price,
        "free": price == 0,
    }
    return Record("event", prose, fields)


def _server(rng: Random) -> Record:
    host, port = f"{rng.choice(WORDS)}-{rng.randrange(1, 40):02}", rng.randrange(1024, 65536)
    cores, memory = rng.choice([2, 4, 8, 16, 32, 64]), rng.choice([4, 8, 16, 32, 64, 128, 256])
    tags = rng.sample(WORDS, rng.randrange(1, 4))
    secure, region = rng.random() < 0.5, rng.choice(CITIES).lower()
    safe = "TLS is on" if secure else "TLS is off"
    prose = rng.choice(
        [
            f"The server {host} listens on port {port}, has {cores} cores and {memory} GB of "
            f"memory, and stands in {region}. {safe}. Tags: {', '.join(tags)}.",
            f"Host {host} runs in {region} on port {port} with {memory} GB of memory and {cores} "
            f"cores; {safe}. It is tagged {join_words(tags)}.",
        ]
    )
    fields: dict[str, Value] = {
        "host": host,
        "port": port,
        "resources": {"cores": cores, "memory_gb": memory},
        "region": region,
        "tls": secure,
        "tags": list(tags),
    }
    return Record("server", prose, fields)


def _recipe(rng: Random) -> Record:
    foods = rng.sample(FOODS, rng.randrange(2, 5))
    grams = [rng.randrange(2, 40) * 25 for _ in foods]
    minutes, serves = rng.randrange(2, 19) * 5, rng.randrange(1, 9)
    dish = f"{rng.choice(CITIES)} {rng.choice(['salad', 'soup', 'stew', 'pie', 'curry', 'jam'])}"
    listed = join_words([f"{g} g of {f}" for g, f in zip(grams, foods, strict=True)])
    prose = rng.choice(
        [
            f"For a {dish} that serves {serves} you need {listed}. It takes {minutes} minutes.",
            f"The {dish} is ready in {minutes} minutes and serves {serves}. Take {listed}.",
        ]
    )
    parts: list[Value] = [{"name": f, "grams": g} for g, f in zip(grams, foods, strict=True)]
    fields: dict[str, Value] = {
        "dish": dish,
        "serves": serves,
        "minutes": minutes,
        "ingredients": parts,
    }
    return Record("recipe", prose, fields)


def _ticket(rng: Random) -> Record:
    number, product = rng.randrange(100, 9999), f"{rng.choice(WORDS)} {rng.choice(GOODS)}"
    version = f"{rng.randrange(1, 10)}.{rng.randrange(0, 20)}"
    severity = rng.choice(["low", "medium", "high", "critical"])
    owner = rng.choice([*rng.sample(NAMES, 3), None])
    fault = rng.choice(["crashes at start", "is slow", "loses data", "shows a blank page"])
    who = f"It is assigned to {owner}." if owner else "Nobody is assigned yet."
    day = rng.choice(WEEKDAYS)
    prose = rng.choice(
        [
            f"Ticket {number} says that version {version} of the {product} {fault} since {day}. "
            f"The severity is {severity}. {who}",
            f"Since {day} the {product} (version {version}) {fault}; this is ticket {number} with "
            f"{severity} severity. {who}",
        ]
    )
    fields: dict[str, Value] = {
        "ticket": number,
        "product": product,
        "version": version,
        "problem": fault,
        "since": day,
        "severity": severity,
        "assignee": owner,
    }
    return Record("ticket", prose, fields)


def _team(rng: Random) -> Record:
    company, city = rng.choice(COMPANIES), rng.choice(CITIES)
    people = rng.sample(NAMES, rng.randrange(2, 5))
    jobs = [rng.choice(JOBS) for _ in people]
    founded, staff = rng.randrange(1950, 2025), rng.randrange(5, 5000)
    listed = join_words([f"{p} ({j})" for p, j in zip(people, jobs, strict=True)])
    prose = rng.choice(
        [
            f"{company} was founded in {founded} in {city} and has {staff} employees. "
            f"The board: {listed}.",
            f"With {staff} employees, {company} of {city} goes back to {founded}. "
            f"On its board sit {listed}.",
        ]
    )
    board: list[Value] = [{"name": p, "role": j} for p, j in zip(people, jobs, strict=True)]
    fields: dict[str, Value] = {
        "company": company,
        "city": city,
        "founded": founded,
        "employees": staff,
        "board": board,
    }
    return Record("company", prose, fields)


MAKERS: list[Callable[[Random], Record]] = [
    _person,
    _order,
    _event,
    _server,
    _recipe,
    _ticket,
    _team,
]
