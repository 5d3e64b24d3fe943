"""What differs between kinds of servers, as one record.

The client, the timing client and the launcher know no kind by name: they go through a `Dialect`.
CONTRIBUTING.md has what a new kind takes.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx2

from specviz.config import EngineKind, Prompt, Sampling
from specviz.errors import MalformedReply
from specviz.servers.capabilities import Capabilities
from specviz.servers.checked import count
from specviz.servers.launch.launcher import Launcher
from specviz.servers.metrics import RequestTimes, ServerLoad, SpecCounters
from specviz.servers.trace_record import MAX_DRAFT, TraceRecord
from specviz.trace import SpecTotals

Get = Callable[[str], Awaitable[str | None]]
"""A page of the server by its path (`/version`); None where there is no such page."""

Detokenize = Callable[[httpx2.AsyncClient, str, str, int], Awaitable[str]]
"""`(http, url, model, token_id)` → the token's text. Raises httpx2.HTTPError or MalformedReply."""

Trace = Callable[[httpx2.AsyncClient, str, str], AsyncIterator[TraceRecord]]
"""`(http, url, request_id)` → the tracing plugin's records of a request, one per engine step, as
they are written. Raises httpx2.HTTPError, or MalformedReply for a line that is not a record."""


@dataclass(frozen=True, slots=True)
class SpecCounts:
    """A server's counts for one request.

    One entry per verification step in order; steps in which nothing was drafted have none.
    `num_spec_tokens` is K. Raises MalformedReply where a step accepts more than it drafted, and the
    like.
    """

    per_step_accepted: tuple[int, ...]
    per_step_drafted: tuple[int, ...]
    num_spec_tokens: int

    def __post_init__(self) -> None:
        count(self.num_spec_tokens, "num_spec_tokens", 0, MAX_DRAFT)
        if len(self.per_step_accepted) != len(self.per_step_drafted):
            raise MalformedReply("per_step_accepted and per_step_drafted differ in length")
        for drafted, accepted in zip(self.per_step_drafted, self.per_step_accepted, strict=True):
            count(drafted, "per_step_drafted", 0, MAX_DRAFT)
            count(accepted, "per_step_accepted", 0, drafted)

    def fit(self, output_tokens: int) -> bool:
        """Whether an answer of so many tokens can have had these steps: each gives one token more
        than it accepts, and only the last may be cut short."""
        return sum(self.per_step_accepted[:-1]) + len(self.per_step_accepted) <= output_tokens + 1


@dataclass(slots=True)
class Extras:
    """What a server adds to a chunk of OpenAI's format, where it is found; nothing is checked yet.

    Not frozen, and nor is `Chunk`: making one of each per chunk would take twice as long.
    `token_ids` is None where it streams text only. `output_ids` are those of the whole answer, from
    a server that sends them at its end. `spec` is what the chunk says about speculation, in the
    form that the same dialect's `counts` and `request_totals` take; None where it says nothing.
    `totals`: output, drafted and accepted tokens of the request so far, where every chunk says so.
    """

    token_ids: object = None
    prompt_token_ids: object = None
    output_ids: object = None
    spec: object = None
    totals: object = None


UNCUT: Mapping[str, object] = {"top_k": -1, "min_p": 0.0}
"""All of the distribution, in the words of vLLM and SGLang: without them a request has what the
model's generation_config.json recommends, such as Qwen's top-k of 20."""


def new_request_id() -> str:
    """An id for a request to a kind without a plugin: nothing reads it but the server's log."""
    return uuid.uuid4().hex


def cache_salt() -> dict[str, object]:
    """A unique salt: the prompt matches nothing in the cache."""
    return {"cache_salt": uuid.uuid4().hex}


async def cannot_detokenize(_: httpx2.AsyncClient, url: str, __: str, ___: int) -> str:
    """Of a kind that has no page for it. Raises MalformedReply."""
    raise MalformedReply(f"the server at {url} does not turn ids into text")


def nothing(_: object) -> None:
    """For what a kind does not report: counts, totals, counters, whether prefixes are cached."""


@dataclass(frozen=True, slots=True, eq=False)
class Dialect:
    """One kind of server.

    name            the product's name, as users read it
    engine          the word for it in plans, on the command line and in the store
    advice          how to see more of what such a server drafts
    identify        Capabilities of a server of this kind, None for another kind
    request_id      a new id for a request; with `trace`, the one that asks for a trace
    extra_body      request fields that make the server stream token ids and counts, and switch off
                    what it would cut from the distribution unasked
    uncached        request fields that keep a repeated prompt out of the prefix cache
    read_extras     the additions in a chunk, unchecked; MalformedReply, ValueError, TypeError,
                    KeyError or AttributeError for what cannot be read
    counts          counts per step from the `Extras.spec` of all chunks, None where they have none;
                    MalformedReply, TypeError or ValueError for what cannot be read
    counters        speculation counters on the metrics page, None where there are none
    prefix_caching  whether prefixes are cached, from the metrics page; None where it does not say
    load            running requests and more, from the metrics page
    request_times   requests and their times as the server measured them, from the metrics page; all
                    four raise MalformedReply for a page that is not metrics
    detokenize      asks for the text of one token
    trace           streams the tracing plugin's records; None: there is no plugin for this kind
    launcher        starts such servers; None: they can only be attached by URL
    request_totals  totals of a request from the `Extras.spec` of all chunks, for kinds that report
                    some; raises like `counts`
    metrics_path    where the metrics page is
    stream_options  what is asked for in OpenAI's `stream_options` beyond the usage
    policy_fields   request fields that say what a policy decides by, for servers that follow one
    keeps_alive     whether a connection can be used again after a streamed answer
    """

    name: str
    engine: EngineKind
    advice: str
    identify: Callable[[Get], Awaitable[Capabilities | None]]
    request_id: Callable[[], str]
    extra_body: Mapping[str, object]
    uncached: Callable[[], dict[str, object]]
    read_extras: Callable[[Mapping[str, Any]], Extras]
    counts: Callable[[Sequence[object]], SpecCounts | None]
    counters: Callable[[str], SpecCounters | None]
    prefix_caching: Callable[[str], bool | None]
    load: Callable[[str], ServerLoad]
    detokenize: Detokenize
    trace: Trace | None = None
    launcher: Launcher | None = None
    request_totals: Callable[[Sequence[object]], SpecTotals | None] = nothing
    request_times: Callable[[str], RequestTimes | None] = nothing
    metrics_path: str = "/metrics"
    stream_options: Mapping[str, object] | None = None
    keeps_alive: bool = True
    policy_fields: Callable[[Prompt, Sampling], dict[str, object]] | None = None
