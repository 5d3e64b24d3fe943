"""The requests of one pass of traffic, the same for every arm."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from specviz.bench.load.traffic import Phase, Traffic
from specviz.errors import UsageError
from specviz.prompts.sets import Conversation


@dataclass(frozen=True, slots=True)
class Place:
    """One request: its phase, temperature and prompt. `at_s`: when it is due, in seconds since its
    phase began; None: as soon as a stream is free."""

    phase: int
    temperature: float
    prompt_index: int
    at_s: float | None = None


@dataclass(frozen=True, slots=True)
class _Wanted:
    phase: int
    temperature: float
    at_s: float | None
    category: str | None = None


def places(
    traffic: Traffic, conversations: Sequence[Conversation], seed: int, repetition: int
) -> tuple[Place, ...]:
    """The requests in the order in which they are sent.

    A pass asks no prompt twice, and the next one begins where it stopped, so that passes differ in
    their prompts as well. Raises UsageError where the prompts do not suffice.
    """
    rng = Random(f"{seed}/{traffic.name}/{repetition}")
    wanted = list(_recorded(traffic, rng) if traffic.arrivals else _in_phases(traffic, rng))
    prompts = _prompts(traffic, wanted, conversations, repetition)
    return tuple(
        Place(one.phase, one.temperature, prompt, one.at_s)
        for one, prompt in zip(wanted, prompts, strict=True)
    )


def _in_phases(traffic: Traffic, rng: Random) -> Iterator[_Wanted]:
    for number, phase in enumerate(traffic.phases):
        temperatures = _mixed(traffic.temperatures, phase.count, rng)
        for temperature, at_s in zip(temperatures, _times(phase, rng), strict=True):
            yield _Wanted(number, temperature, at_s)


def _recorded(traffic: Traffic, rng: Random) -> Iterator[_Wanted]:
    temperatures = _mixed(traffic.temperatures, len(traffic.arrivals), rng)
    for arrival, drawn in zip(traffic.arrivals, temperatures, strict=True):
        phase = int(arrival.at_s // traffic.phase_s)
        temperature = drawn if arrival.temperature is None else arrival.temperature
        at_s = arrival.at_s - phase * traffic.phase_s
        yield _Wanted(phase, temperature, at_s, arrival.category)


def _mixed(temperatures: Sequence[float], count: int, rng: Random) -> list[float]:
    """Each temperature equally often, as far as `count` allows, in random order."""
    order = rng.sample(temperatures, len(temperatures))
    drawn = [order[number % len(order)] for number in range(count)]
    rng.shuffle(drawn)
    return drawn


def _times(phase: Phase, rng: Random) -> Sequence[float | None]:
    """Poisson arrivals, given how many there are: uniform in time, in order."""
    if phase.seconds is None:
        return [None] * phase.count
    return sorted(rng.uniform(0, phase.seconds) for _ in range(phase.count))


def _prompts(
    traffic: Traffic, wanted: Sequence[_Wanted], conversations: Sequence[Conversation], pass_: int
) -> list[int]:
    """A prompt for each request; those that name a category choose first."""
    total = len(conversations)
    if len(wanted) > total:
        raise UsageError(
            f"A pass of {traffic.name} sends {len(wanted):,} requests and asks no prompt twice, "
            f"but there are {total:,} prompts: raise count, name a longer file or send fewer."
        )
    first = pass_ * len(wanted)
    left = dict.fromkeys((first + number) % total for number in range(total))
    found: dict[int, int] = {}
    for place in sorted(range(len(wanted)), key=lambda place: wanted[place].category is None):
        category = wanted[place].category
        fits = (i for i in left if category in (None, conversations[i].category))
        prompt = next(fits, None)
        if prompt is None:
            raise UsageError(
                f"A pass of {traffic.name} needs more prompts of the category {category}: there "
                "are too few, and none is asked twice."
            )
        found[place] = prompt
        del left[prompt]
    return [found[place] for place in range(len(wanted))]
