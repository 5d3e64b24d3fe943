"""What a framework is to the launch commands: its versions, its methods, how it is started."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from specviz.deploy.launch import Launch
from specviz.deploy.request import Request
from specviz.deploy.versions import is_after_series, is_before
from specviz.methods import Method


@dataclass(frozen=True, slots=True)
class Offer:
    """A method in a framework: the framework's own word for it, and the versions that have it."""

    word: str
    first: str | None = None
    last: str | None = None

    def is_in(self, version: str) -> bool:
        if self.first is not None and is_before(version, self.first):
            return False
        return self.last is None or not is_after_series(version, self.last)


@dataclass(frozen=True, slots=True)
class Framework:
    """One framework.

    `versions`: those whose options were compared with the package or its source, oldest first.
    `checked`: with what. `offers`: its methods. `launch`: the command for a request whose version
    is set and whose method it has. `instead`: what it has in place of a method, a sentence.
    """

    name: str
    title: str
    versions: tuple[str, ...]
    checked: str
    offers: Mapping[str, Offer]
    launch: Callable[[Request], Launch]
    instead: Mapping[str, str]

    def methods(self, version: str | None = None) -> tuple[str, ...]:
        """The methods of a version, the newest that is known if None; the baseline first."""
        version = version or self.versions[-1]
        names = [name for name, offer in self.offers.items() if offer.is_in(version)]
        return (Method.BASELINE.value, *names)
