"""Greedy answers with log-probabilities, as OpenAI's API reports them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import httpx2

from specviz.config import Prompt, Sampling
from specviz.errors import MalformedReply
from specviz.servers import checked
from specviz.servers.client.api_key import api_key
from specviz.servers.client.engine import CHAT, ServerEngine, extra_fields, request_fields
from specviz.servers.client.failures import connection_broke
from specviz.servers.pages import body_of
from specviz.trace import Trace

TOP = 2
LEAST, ROUNDED = -1e9, 1e-3
"""Log-probabilities: of what is impossible, and of what is certain but for rounding."""
TIMEOUT_S = 600.0
"""Until an answer comes, which is not streamed and may be one of several."""


@dataclass(frozen=True, slots=True)
class Scored:
    """`tokens`: as the server names them. `gaps`: by position, how far the most likely token was
    above the second, as a difference of log-probabilities."""

    tokens: tuple[int | str, ...]
    gaps: tuple[float, ...]
    text: str


NOTHING = Scored((), (), "")


async def scored(
    engine: ServerEngine, prompts: Sequence[Prompt], sampling: Sampling, at_once: int
) -> list[Scored]:
    """One answer to each prompt, empty where the server reports no log-probabilities.

    Raises an EngineError if the connection breaks.
    """
    headers = {"Authorization": f"Bearer {api_key(engine.server.url)}"}
    gate = asyncio.Semaphore(at_once)
    async with httpx2.AsyncClient(headers=headers, timeout=TIMEOUT_S) as http:

        async def one(prompt: Prompt) -> Scored:
            async with gate:
                return await _ask(http, engine, prompt, sampling)

        return await asyncio.gather(*map(one, prompts))


async def _ask(
    http: httpx2.AsyncClient, engine: ServerEngine, prompt: Prompt, sampling: Sampling
) -> Scored:
    fields = extra_fields(prompt, sampling, engine.server)
    fields |= request_fields(engine.model, prompt, sampling, engine.server.dialect)
    fields |= {"stream": False, "logprobs": True, "top_logprobs": TOP}
    del fields["stream_options"]
    try:
        async with http.stream("POST", f"{engine.server.url}/v1{CHAT}", json=fields) as response:
            body = await body_of(response)
    except httpx2.HTTPError as error:
        raise connection_broke(error, engine.server) from error
    try:
        return read_scored(checked.parsed(body, "the answer"))
    except MalformedReply:
        return NOTHING


def read_scored(answer: object) -> Scored:
    """Raises MalformedReply for an answer without log-probabilities."""
    choices = checked.array(checked.json_object(answer, "the answer").get("choices"), "choices", 1)
    choice = checked.json_object(choices[0] if choices else None, "choices")
    logprobs = checked.json_object(choice.get("logprobs"), "logprobs")
    content = checked.array(logprobs.get("content"), "content")
    message = checked.json_object(choice.get("message"), "message")
    text = checked.optional(checked.text, message.get("content"), "content") or ""
    ids = checked.optional(checked.token_ids, choice.get("token_ids"), "token_ids") or ()
    named = ids if len(ids) == len(content) else map(_name, content)
    return Scored(tuple(named), tuple(map(_gap, content)), text)


def _name(position: object) -> str:
    """All that the server says of a token: several that are half a character have one text."""
    said = checked.json_object(position, "content")
    return repr([said.get(field) for field in ("id", "bytes", "token")])


def _gap(position: object) -> float:
    tops = checked.array(checked.json_object(position, "content").get("top_logprobs"), "top")
    best = sorted(
        (
            checked.number(
                checked.json_object(top, "top").get("logprob"), "logprob", LEAST, ROUNDED
            )
            for top in tops
        ),
        reverse=True,
    )
    if len(best) < TOP:
        raise MalformedReply("top_logprobs has fewer than two tokens")
    return best[0] - best[1]


def streamed_gaps(trace: Trace, answer: Scored) -> tuple[float, ...]:
    """The gaps that are the streamed answer's as well: up to where the two part, if they do. The
    second was computed again, perhaps from a cached prompt."""
    if answer.text == trace.text:
        return answer.gaps
    beginnings = accumulate(token.text for token in trace.emitted)
    same = sum(answer.text.startswith(beginning) for beginning in beginnings)
    return answer.gaps[: same + 1]


def moves(one: Scored, other: Scored) -> tuple[float, ...]:
    """By how much the gaps differ, up to where the answers part: there the best two tokens have
    changed places."""
    found = []
    for token, again, gap, gap_again in zip(
        one.tokens, other.tokens, one.gaps, other.gaps, strict=False
    ):
        found.append(abs(gap - gap_again) if token == again else gap + gap_again)
        if token != again:
            break
    return tuple(found)
