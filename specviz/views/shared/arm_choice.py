"""One arm as the Live page's controls say it, what a model offers it, and the configuration that
both become. Pure data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from importlib.util import find_spec
from typing import get_args

from specviz.config import EngineKind, RunConfig, Sampling
from specviz.engines.embedded.options import parse_options
from specviz.errors import UsageError
from specviz.methods import METHODS, VLLM, Method, Shape, record_of, served_by

ASK = "as the server says"
"""In place of a method: the server decides and reports it."""

SHAPES: tuple[Shape, ...] = get_args(Shape)
ACCEPTANCES = ("exact", "typical")
DTYPES = ("auto", "bfloat16", "float32")


class Place(StrEnum):
    """Where an arm is answered."""

    OFF = "off"
    EMBEDDED = "embedded"
    VLLM = "vllm"
    LLAMA_CPP = "llama.cpp"
    URL = "url"


STARTED = {Place.VLLM: EngineKind.VLLM, Place.LLAMA_CPP: EngineKind.LLAMA_CPP}
"""The places where specviz starts a server."""


@dataclass(frozen=True, slots=True)
class ArmChoice:
    """The controls of one arm. Raises nothing; `config` does. Options that do not apply are kept
    for when they do."""

    place: Place = Place.OFF
    method: str = Method.BASELINE.value  # or ASK
    k: int = 5
    url: str = ""
    shape: str = "chain"
    acceptance: str = "exact"
    dtype: str = "auto"
    draft: str = ""  # empty: the first that fits

    @property
    def is_on(self) -> bool:
        return self.place is not Place.OFF

    @property
    def is_started(self) -> bool:
        return self.place in STARTED

    @property
    def engine(self) -> EngineKind:
        """A server at a URL is asked what it is, whichever kind is named."""
        if self.place is Place.EMBEDDED:
            return EngineKind.EMBEDDED
        return STARTED.get(self.place, EngineKind.VLLM)

    @property
    def drafts(self) -> bool:
        """Whether K means anything: the baseline drafts nothing, and a server may decide K."""
        return self.method not in (Method.BASELINE.value, ASK)

    @property
    def has_shape(self) -> bool:
        record = record_of(self.method)
        return self.place is Place.EMBEDDED and record is not None and record.has_shapes

    @property
    def has_acceptance(self) -> bool:
        record = record_of(self.method)
        return self.place is Place.EMBEDDED and record is not None and record.has_typical_acceptance

    @property
    def needs_draft(self) -> bool:
        record = record_of(self.method)
        opens_models = self.place is Place.EMBEDDED or self.is_started
        return opens_models and record is not None and record.needs_draft

    def options(self) -> dict[str, str]:
        """Options of the embedded engine that apply, by name; none for a server."""
        if self.place is not Place.EMBEDDED:
            return {}
        options = {"dtype": self.dtype}
        if self.has_shape:
            options["shape"] = self.shape
        if self.has_acceptance:
            options["acceptance"] = self.acceptance
        return options

    def config(self, sampling: Sampling, model: str | None = None) -> RunConfig:
        """The arm's configuration with the page's model, None for the default one; a server at a
        URL has its own. Raises UsageError for what cannot run."""
        url = self.url.strip() if self.place is Place.URL else ""
        if self.place is Place.URL and not url:
            raise UsageError("An arm at a server's URL needs that URL: paste it under Arms.")
        options = self.options()
        parse_options(options)
        return RunConfig(
            engine=self.engine,
            method=None if self.method == ASK else Method(self.method),
            k=self.k if self.drafts else None,
            sampling=sampling,
            model=None if self.place is Place.URL else model,
            draft=(self.draft.strip() or None) if self.needs_draft else None,
            server_url=url or None,
            options=options,
        )


@dataclass(frozen=True, slots=True)
class Offer:
    """The places and drafts with which a model can be asked.

    `places`: where it can be answered, `home` the one that is taken unless another is chosen.
    `drafts`: folders and files by method; the empty one stands for the first that is found without
    being named. `usual`: that one's name. `server`: the URL, if the model is what a server has.
    """

    places: tuple[Place, ...] = tuple(Place)
    home: Place = Place.EMBEDDED
    drafts: Mapping[Method, tuple[str, ...]] = field(default_factory=dict)
    usual: Mapping[Method, str] = field(default_factory=dict)
    server: str = ""

    def drafts_at(self, place: Place, method: str) -> tuple[str, ...]:
        """The drafts that a method can use there: GGUF is llama.cpp's."""
        found = self.drafts.get(Method(method), ()) if method != ASK else ()
        takes_gguf = place is Place.LLAMA_CPP
        return tuple(one for one in found if takes_gguf or not one.endswith(".gguf"))

    def methods_at(self, place: Place) -> tuple[str, ...]:
        """The methods of a place without those whose draft is missing."""
        return tuple(
            name
            for name in methods_at(place)
            if not ArmChoice(place, name).needs_draft or self.drafts_at(place, name)
        )

    def methods_of(self, arm: ArmChoice) -> tuple[str, ...]:
        """With the arm's own, if its draft was typed."""
        offered = self.methods_at(arm.place)
        is_typed = arm.draft and arm.needs_draft and arm.method not in offered
        return (*offered, arm.method) if is_typed else offered

    def best_at(self, place: Place) -> str:
        """The method to look at first."""
        offered = self.methods_at(place)
        return next((one.value for one in BEST if one.value in offered), Method.BASELINE.value)


BEST = (Method.EAGLE3, Method.DRAFT_MODEL, Method.NGRAM)
MAX_ARMS = 4


def default_arms(offer: Offer) -> tuple[ArmChoice, ...]:
    """Plain decoding next to the best way to draft, or the server; the others off."""
    if offer.server:
        return (ArmChoice(Place.URL, ASK, url=offer.server), *[ArmChoice()] * (MAX_ARMS - 1))
    first, best = Method.BASELINE.value, offer.best_at(offer.home)
    others = [one.value for one in BEST if one.value != best]
    return (
        *(ArmChoice(offer.home, method) for method in (first, best)),
        *(ArmChoice(method=method) for method in others),
    )


def arms_for(offer: Offer, arms: tuple[ArmChoice, ...]) -> tuple[ArmChoice, ...]:
    """The arms of another model as far as they can be had with this one."""
    kept = [_possible(arm, offer) for arm in arms]
    kept = [replace(arm, place=Place.OFF) if arm in kept[:n] else arm for n, arm in enumerate(kept)]
    return (default_arms(offer)[0], *kept[1:]) if offer.server else tuple(kept)


def _possible(arm: ArmChoice, offer: Offer) -> ArmChoice:
    place = arm.place if arm.place in offer.places else offer.home
    has_method = place is Place.OFF or arm.method in offer.methods_at(place)
    method = arm.method if has_method else offer.best_at(place)
    return replace(arm, place=place, method=method, draft="")


def usual_shape(method: str) -> str:
    """The shape that a method drafts unless asked otherwise; a server drafts chains."""
    record = record_of(method)
    return record.usual_shape if record else "chain"


def methods_at(place: Place) -> tuple[str, ...]:
    """The methods that a place offers, as the Method control lists them."""
    if place is Place.URL:
        return (*(method.value for method in served_by(VLLM)), ASK)
    if place in STARTED:
        return tuple(method.value for method in startable(STARTED[place]))
    return tuple(method.value for method in Method)


def startable(kind: str = VLLM) -> tuple[Method, ...]:
    """The methods that servers of a kind have here: some need a package of their own."""
    return tuple(method for method in served_by(kind) if _is_installed(method, kind))


def _is_installed(method: Method, kind: str) -> bool:
    package = METHODS[method].servers[kind].package
    return package is None or find_spec(package) is not None
