"""What a llama.cpp server says, and what a lie of its costs: detail, never the text or the run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.metrics import summarise
from specviz.config import Prompt, Sampling
from specviz.methods import Method
from specviz.sample import Sample
from specviz.servers.capabilities import Capabilities
from specviz.servers.client.chunks import read_chunk
from specviz.servers.client.engine import ServerEngine
from specviz.servers.client.probe import probe
from specviz.servers.llama_cpp.chunk_extras import read_extras
from specviz.servers.llama_cpp.dialect import LLAMA_CPP
from specviz.servers.llama_cpp.identify import identify
from specviz.servers.timing.timed_server import TimedServer
from specviz.trace import Fidelity, Origin, StepsRevised, Trace, fold
from tests.support.servers.scripted_server import Script, chunk, serving, usage

PROMPT, SAMPLING = Prompt("hello"), Sampling(max_tokens=9)
SPECULATING = Capabilities(speculates=True, counts_tokens=True)
K = 4

PROPS = {"build_info": "b11549-abc", "total_slots": 1}


def token(text: str, tokens: Any, drafted: Any = 0, accepted: Any = 0, **more: Any) -> str:
    """One chunk with the request's totals so far."""
    timings = {"predicted_n": tokens, "draft_n": drafted, "draft_n_accepted": accepted}
    return chunk(text, timings=timings, **more)


GOOD = [
    token("a", 1), token("b", 2, 4, 1), token("c", 3, 4, 1), token("d", 4, 8, 1),
    token("e", 5, 8, 1), chunk(finish="stop"),
]  # fmt: skip
"""Of the prompt one token, of a draft two, of a rejected one one, and one without a draft."""


async def both(lines: Sequence[str]) -> tuple[Trace, list[str], Sample]:
    """The answer by the live client, why it was revised, and by the timing client."""
    script = Script(lines=[*lines, usage(5), "[DONE]"])
    with serving(script) as url:
        async with httpx2.AsyncClient() as http:
            server = replace(await probe(url, http), dialect=LLAMA_CPP, capabilities=SPECULATING)
            live = ServerEngine(server, http, method=Method.DRAFT_MODEL, k=K)
            events = [event async for event in live.generate(PROMPT, SAMPLING)]
            timed = TimedServer(server, http, method=Method.DRAFT_MODEL, k=K)
            sample = await timed.sample(PROMPT, SAMPLING)
            await timed.close()
    assert script.requests[0]["timings_per_token"] is True
    assert script.requests[0]["min_p"] == 0
    reasons = [event.reason for event in events if isinstance(event, StepsRevised)]
    return fold(events), reasons, sample


async def test_totals_give_the_steps() -> None:
    trace, reasons, sample = await both(GOOD)
    assert (trace.fidelity, reasons) == (Fidelity.COUNTED, [])
    assert [token.origin for token in trace.emitted] == [
        Origin.TARGET, Origin.ACCEPTED, Origin.RECOVERED, Origin.RECOVERED, Origin.TARGET,
    ]  # fmt: skip
    assert [len(step.drafted) for step in trace.steps] == [0, 4, 4, 0]
    assert (sample.per_step_drafted, sample.per_step_accepted) == ((4, 4), (1, 0))
    assert sample.chunk_tokens == (1, 1, 1, 1, 1)


async def test_a_held_back_token_is_counted() -> None:
    lines = [token("a", 1), token("\u20ac", 3, 4, 3), token("c", 4, 4, 3), chunk(finish="stop")]
    trace, reasons, sample = await both(lines)
    assert (trace.fidelity, reasons) == (Fidelity.INFERRED, []) or "more than one" in reasons[0]
    assert [token.text for token in trace.emitted] == ["a", "", "\u20ac", "c"]
    assert sample.chunk_tokens == (1, 2, 1)


MERGED = [token("cde", 6, 8, 2), token("f", 7, 12, 2), token("g", 8, 12, 2)]
"""Three tokens at once: a draft of which one was accepted, and a step, in this order or not."""


@pytest.mark.parametrize("more", [MERGED[:1], MERGED])
async def test_steps_before_an_ambiguous_chunk_stay(more: list[str]) -> None:
    """Emoji and Hangul hold tokens back: everything before is certain, and was lost with it."""
    lines = [*GOOD[:3], *more, chunk(finish="stop")]
    trace, reasons, _ = await both(lines)
    assert trace.fidelity is Fidelity.INFERRED and trace.revised == reasons[0]
    assert reasons == [
        "from token 4 on the server's counts fit more than one row of steps; chunk sizes from there"
    ]
    assert [len(step.drafted) for step in trace.steps][:3] == [0, 4, 0]
    assert [token.origin for token in trace.emitted][:3] == [
        Origin.TARGET, Origin.ACCEPTED, Origin.RECOVERED,
    ]  # fmt: skip
    assert {token.origin for token in trace.emitted[3:]} == {Origin.UNKNOWN}
    assert trace.text == "abc" + "cde" + "fg"[: len(more) - 1]
    figures = summarise(trace)
    last = (12, 2) if len(more) > 1 else (8, 2)
    assert (figures.num_draft_tokens, figures.num_accepted_tokens) == last
    assert figures.num_drafts is None  # not the number of those that stay


@pytest.mark.parametrize(
    ("lines", "kept", "drafts"),
    [
        ([token("abc", 3, 4, 1), token("d", 4, 4, 1)], 1, 0),  # the first chunk
        ([*GOOD[:2], token("cde", 5, 8, 2)], 3, 1),  # the last, which also ends a certain step
    ],
)
async def test_what_stays_of_an_ambiguous_end_or_beginning(
    lines: list[str], kept: int, drafts: int
) -> None:
    """Characters that need several tokens (llama.cpp 4036 and 4446, java-llama.cpp 3) come
    anywhere."""
    trace, reasons, _ = await both([*lines, chunk(finish="stop")])
    whole = "".join(json.loads(line)["choices"][0]["delta"].get("content", "") for line in lines)
    assert trace.text == whole and trace.fidelity is Fidelity.INFERRED and len(reasons) == 1
    assert sum(bool(step.drafted) for step in trace.steps) == drafts
    assert Origin.UNKNOWN not in {token.origin for token in trace.emitted[:kept]}
    assert {token.origin for token in trace.emitted[kept:]} == {Origin.UNKNOWN}


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (token("c", 3, -4, 1), "running counts is -4"),
        (token("c", 3, 4, 0), "decrease"),
        (token("c", 1, 4, 1), "decrease"),
        (token("c", 3, 2**40, 1), "running counts is 1099511627776"),
        (token("c", 2**31 - 1, 4, 1), "tokens"),
        (token("c", 3, 4, 5), "5 accepted tokens of 4"),
        (token("c", "3", 4, 1), "running counts is '3'"),
        (token("c", None, 4, 1), "running counts"),
        (token("c", 3, 40, 1), "no row of steps"),
        (chunk("c", timings=[]), "timings is"),
        (chunk("c"), "tokens came where it counts"),
    ],
)
async def test_a_lie_costs_the_counts_and_never_the_text(wrong: str, reason: str) -> None:
    trace, reasons, sample = await both([*GOOD[:2], wrong, *GOOD[3:]])
    assert trace.text == sample.text == "abcde"
    assert trace.fidelity is Fidelity.INFERRED and reason in " ".join(reasons)
    assert not any(step.drafted for step in trace.steps)
    assert sample.per_step_drafted is None


VALUES = st.one_of(
    st.none(), st.integers(-3, 12), st.integers(), st.floats(), st.text(max_size=3), st.just([1]),
)  # fmt: skip


@given(st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=1, max_size=8))
def test_any_timings_can_be_read(given_timings: list[tuple[Any, Any, Any]]) -> None:
    for timings in given_timings:
        found = read_chunk(json.loads(token("x", *timings)), 1.0, read_extras)
        assert found.text == "x"
        assert (found.totals is None) == (found.problem is not None)


def pages(**given_pages: object) -> Mapping[str, str]:
    found = {"props": PROPS, **given_pages}
    return {f"/{name.replace('_', '/')}": json.dumps(page) for name, page in found.items()}


async def identified(found: Mapping[str, str]) -> Capabilities | None:
    async def get(path: str) -> str | None:
        return found.get(path)

    return await identify(get)


async def test_speculation_is_read_from_the_slots() -> None:
    models = {"data": [{"tags": ["num_speculative_tokens=5", "build=b1"]}]}
    slots = [{"speculative": True, "params": {"speculative.types": "draft-simple"}}]
    assert await identified(pages(slots=slots, v1_models=models)) == Capabilities(
        version="b11549-abc", speculates=True, method=Method.DRAFT_MODEL, k=5, counts_tokens=True,
        tracing_reason="llama.cpp reports counts, not what was drafted", slots=1,
    )  # fmt: skip
    plain = await identified(pages(slots=[{"speculative": False}]))
    assert plain is not None and plain.expected_fidelity is Fidelity.COUNTED
    assert plain.settled(None, None) == (Method.BASELINE, None)


async def test_what_is_not_said_is_not_known() -> None:
    unknown = await identified(pages())
    assert unknown is not None and (unknown.speculates, unknown.k) == (None, None)
    assert await identified({"/props": "{}"}) is None
    assert await identified({"/props": "<html>"}) is None
    unnamed = await identified(pages(props={**PROPS, "build_info": "b0-unknown"}))
    assert unnamed is not None and unnamed.version is None


@given(
    slots=st.recursive(VALUES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["speculative", "params", "speculative.types"]), inner), max_leaves=6),
    tags=st.lists(VALUES, max_size=3),
)  # fmt: skip
async def test_no_page_breaks_it(slots: object, tags: list[object]) -> None:
    found = await identified(pages(slots=slots, v1_models={"data": [{"tags": tags}]}))
    assert found is not None
