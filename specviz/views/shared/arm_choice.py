"""One arm as the Live page's controls say it, and the configuration it becomes. Pure data."""

from __future__ import annotations

from dataclasses import dataclass
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
    model: str = ""  # a folder on the app's machine; empty is the default model
    draft: str = ""

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
        """Whether its own target needs a folder with its own draft."""
        record = record_of(self.method)
        return record is not None and record.needs_draft

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

    def config(self, sampling: Sampling) -> RunConfig:
        """The arm's configuration. Raises UsageError for what cannot run."""
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
            model=self._folder(self.model),
            draft=self._folder(self.draft) if self.needs_draft else None,
            server_url=url or None,
            options=options,
        )

    def _folder(self, text: str) -> str | None:
        return text.strip() or None if self.place is Place.EMBEDDED else None


DEFAULT_ARMS = (
    ArmChoice(Place.EMBEDDED, Method.BASELINE.value),
    ArmChoice(Place.EMBEDDED, Method.DRAFT_MODEL.value),
    ArmChoice(Place.OFF, Method.EAGLE3.value),
    ArmChoice(Place.OFF, Method.NGRAM.value),
)


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
