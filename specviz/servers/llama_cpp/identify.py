"""Recognising a llama.cpp server, and what it offers.

`/props` names the build. Its default settings say that nothing is drafted even where something is,
so that comes from `/slots`; K and the verifier are not reported at all, except as tags (`--tags
num_speculative_tokens=4,verifier=synthetic`), which servers that specviz starts have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from specviz.errors import MalformedReply
from specviz.methods import Method
from specviz.servers import checked
from specviz.servers.capabilities import ACCEPTS_AT_A_RATE, Capabilities, Verifier
from specviz.servers.dialect import Get
from specviz.servers.llama_cpp.command_line import (
    BUILD_TAG,
    K_TAG,
    SYNTHETIC_RULE,
    VERIFIER_TAG,
)
from specviz.servers.trace_record import MAX_DRAFT

UNTRACED = "llama.cpp reports counts, not what was drafted"
UNKNOWN_BUILD = "b0-unknown"
"""Of a build that was made without git, as xllamacpp's."""

MAX_SLOTS = 10_000

METHODS = {
    "draft-simple": Method.DRAFT_MODEL,
    "draft-eagle3": Method.EAGLE3,
    "ngram-simple": Method.NGRAM,
    "ngram-map-k": Method.NGRAM,
    "ngram-map-k4v": Method.NGRAM,
    "ngram-mod": Method.NGRAM,
    "ngram-cache": Method.NGRAM,
}
"""What `--spec-type` calls them. Others, and several together, have no name here."""

SYNTHETIC = Verifier(SYNTHETIC_RULE, False, ACCEPTS_AT_A_RATE)
"""`--spec-synth-len` of llama.cpp b11549; by which rule it accepts otherwise, it does not say."""


async def identify(get: Get) -> Capabilities | None:
    """A llama.cpp server's capabilities; None for a server whose `/props` are not llama.cpp's."""
    props = _object(await get("/props"))
    if "build_info" not in props or "total_slots" not in props:
        return None
    slots = list(_slots(await get("/slots")))
    tags = _tags(_object(await get("/v1/models")))
    speculates = any(slot.get("speculative") is True for slot in slots) if slots else None
    return Capabilities(
        version=_version(props, tags),
        speculates=speculates,
        tracing_reason=UNTRACED,
        method=_method(slots) if speculates else None,
        k=_k(tags),
        verifier=SYNTHETIC if tags.get(VERIFIER_TAG) == SYNTHETIC_RULE else None,
        counts_tokens=speculates is not False,
        slots=_total_slots(props),
    )


def _version(props: Mapping[str, Any], tags: Mapping[str, str]) -> str | None:
    try:
        build = checked.label(props.get("build_info"), "build_info")
    except MalformedReply:
        return None
    return tags.get(BUILD_TAG) if build == UNKNOWN_BUILD else build


def _total_slots(props: Mapping[str, Any]) -> int | None:
    try:
        return checked.count(props.get("total_slots"), "total_slots", 1)
    except MalformedReply:
        return None


def _slots(page: str | None) -> Iterator[dict[str, Any]]:
    """The slots that are objects; none where the page is switched off (`--no-slots`)."""
    try:
        for slot in checked.array(checked.parsed(page or "[]", "/slots"), "/slots", MAX_SLOTS):
            yield checked.json_object(slot, "a slot")
    except MalformedReply:
        return


def _method(slots: list[dict[str, Any]]) -> Method | None:
    """From the last request of a slot; a server that has answered none does not say."""
    for slot in slots:
        settings = slot.get("params")
        types = settings.get("speculative.types") if isinstance(settings, dict) else None
        if isinstance(types, str):
            return METHODS.get(types)
    return None


def _tags(models: Mapping[str, Any]) -> dict[str, str]:
    """The tags of the form `name=value` of the first model."""
    try:
        model = checked.json_object(checked.array(models.get("data"), "data")[0], "a model")
        tags = [checked.label(tag, "a tag") for tag in checked.array(model.get("tags"), "tags")]
    except (MalformedReply, IndexError):
        return {}
    return {name: value for name, sign, value in (tag.partition("=") for tag in tags) if sign}


def _k(tags: Mapping[str, str]) -> int | None:
    text = tags.get(K_TAG, "")
    if not (text.isascii() and text.isdigit() and len(text) < 5):
        return None
    return int(text) if 1 <= int(text) <= MAX_DRAFT else None


def _object(text: str | None) -> dict[str, Any]:
    """The JSON object on a page, {} where there is none."""
    try:
        return checked.json_object(checked.parsed(text or "{}", "the page"), "the page")
    except MalformedReply:
        return {}  # another server's catch-all page
