"""Synthetic but realistic steps for the token strip, from the tokens they produce."""

from __future__ import annotations

import random
import re

from specviz.trace import (
    ROOT,
    Allowed,
    EmittedToken,
    Event,
    Fidelity,
    Origin,
    RequestFinished,
    RequestStarted,
    Step,
    TokenDecision,
    TopToken,
    Verdict,
)


def pieces(text: str) -> list[str]:
    """Cut a text roughly as a byte-level BPE tokenizer would."""
    return re.findall(r"\n+|[ ]{2,}(?= )| ?\w+| ?[^\w\s]+|\s", text)


def token_id(text: str) -> int:
    return sum(ord(char) * 31**place for place, char in enumerate(text[:4])) % 50257


def plain_steps(tokens: list[str], ms: float = 40.0) -> list[Step]:
    """Steps of plain decoding."""
    return [
        Step(
            n,
            41 + n * ms,
            (),
            (EmittedToken(n, token_id(text), text, Origin.TARGET),),
            verify_ms=ms,
        )
        for n, text in enumerate(tokens)
    ]


def chain_steps(
    tokens: list[str], *, k: int = 5, rate: float = 0.65, sampled: bool = False, seed: int = 7
) -> list[Step]:
    """Steps of chain speculation that produce exactly `tokens`."""
    rng = random.Random(seed)
    steps: list[Step] = []
    at = 0
    while at < len(tokens):
        length = 0
        while length < k and at + length < len(tokens) and rng.random() < rate:
            length += 1
        drafted = [_accepted(rng, tokens[at + n], n, sampled) for n in range(length)]
        emitted = [emitted_token(at + n, tokens[at + n], Origin.ACCEPTED) for n in range(length)]
        if at + length < len(tokens):
            own = tokens[at + length]
            if length < k:
                drafted += _dropped(rng, own, length, k, sampled, tokens)
            origin = Origin.BONUS if length == k else Origin.RECOVERED
            emitted.append(emitted_token(at + length, own, origin))
        at += len(emitted)
        steps.append(
            Step(
                len(steps),
                43 + len(steps) * 48.0,
                tuple(drafted),
                tuple(emitted),
                draft_ms=2.6 + rng.random(),
                verify_ms=44.3 + rng.random(),
            )
        )
    return steps


def emitted_token(position: int, text: str, origin: Origin) -> EmittedToken:
    return EmittedToken(position, token_id(text), text, origin)


def _accepted(rng: random.Random, text: str, n: int, sampled: bool) -> TokenDecision:
    draft, target = rng.uniform(0.5, 1), rng.uniform(0.7, 1)
    accept = min(1.0, target / draft) if sampled else 1.0
    return TokenDecision(
        n + 1, n - 1 if n else ROOT, token_id(text), text, Verdict.ACCEPTED,
        draft_prob=draft, target_prob=target, accept_prob=accept,
        u=rng.uniform(0, accept) if sampled else None,
    )  # fmt: skip


def _dropped(
    rng: random.Random, own: str, start: int, k: int, sampled: bool, tokens: list[str]
) -> list[TokenDecision]:
    wrong = [text for text in rng.sample(tokens, min(len(tokens), 12)) if text != own]
    wrong = [text for text in wrong if text.strip()] or ["self"]
    draft, target = rng.uniform(0.6, 0.9), rng.uniform(0.02, 0.3)
    best = rng.uniform(0.5, 0.75)
    others = [TopToken(token_id(t), t, round(0.2 / 2**n, 4)) for n, t in enumerate(wrong[:4])]
    rejected = TokenDecision(
        start + 1, start - 1 if start else ROOT, token_id(wrong[0]), wrong[0], Verdict.REJECTED,
        draft_prob=draft, target_prob=target, accept_prob=target / draft if sampled else 0.0,
        u=rng.uniform(target / draft, 1) if sampled else None,
        target_top=(TopToken(token_id(own), own, best), *others),
    )  # fmt: skip
    rest = [
        TokenDecision(n + 1, n - 1, token_id(wrong[n % len(wrong)]), wrong[n % len(wrong)],
                      Verdict.UNVERIFIED, draft_prob=rng.uniform(0.3, 0.95))
        for n in range(start + 1, k)
    ]  # fmt: skip
    return [rejected, *rest]


def tree_steps(tokens: list[str]) -> list[Step]:
    """Steps of a tree draft: two accepted levels, two siblings each, then a recovered token."""
    steps: list[Step] = []
    for at in range(0, len(tokens) - 2, 3):
        one, two, own = tokens[at : at + 3]
        node = [
            (1, ROOT, one, Verdict.ACCEPTED), (1, ROOT, "self", Verdict.REJECTED),
            (2, 0, two, Verdict.ACCEPTED), (2, 0, "None", Verdict.REJECTED),
            (2, 1, ".", Verdict.UNVERIFIED), (3, 2, "len", Verdict.REJECTED),
            (3, 2, "range", Verdict.REJECTED),
        ]  # fmt: skip
        drafted = tuple(
            TokenDecision(depth, parent, token_id(text), text, verdict, draft_prob=0.4 / depth,
                          target_prob=None if verdict is Verdict.UNVERIFIED else 0.7 / depth,
                          accept_prob=1.0 if verdict is Verdict.ACCEPTED else 0.0)
            for depth, parent, text, verdict in node
        )  # fmt: skip
        emitted = (
            emitted_token(at, one, Origin.ACCEPTED), emitted_token(at + 1, two, Origin.ACCEPTED),
            emitted_token(at + 2, own, Origin.RECOVERED),
        )  # fmt: skip
        steps.append(Step(len(steps), 40 + 45.0 * len(steps), drafted, emitted, 3.1, 41.9))
    return steps


def sibling_steps(tokens: list[str]) -> list[Step]:
    """One step of a sampled tree whose second, then third candidate is accepted, then none."""
    one, two, own = tokens[:3]
    accepted, rejected, unverified = Verdict.ACCEPTED, Verdict.REJECTED, Verdict.UNVERIFIED
    nodes = [
        (1, ROOT, "first", rejected, 0.2, 0.9), (1, ROOT, one, accepted, 0.8, 0.3),
        (1, ROOT, "third", unverified, None, None),
        (2, 0, "below", unverified, None, None), (3, 3, "deeper", unverified, None, None),
        (2, 1, "wrong", rejected, 0.1, 0.5), (2, 1, "worse", rejected, 0.05, 0.6),
        (2, 1, two, accepted, 1.0, 0.7),
        (3, 7, "no", rejected, 0.25, 0.5), (3, 7, "nor", rejected, 0.125, 0.75),
    ]  # fmt: skip
    tops = (TopToken(token_id(own), own, 0.6), TopToken(1, "no", 0.1))
    drafted = tuple(
        TokenDecision(depth, parent, token_id(text), text, verdict, draft_prob=0.4,
                      target_prob=0.3, accept_prob=accept, u=u, target_top=tops)
        for depth, parent, text, verdict, accept, u in nodes
    )  # fmt: skip
    emitted = (
        emitted_token(0, one, Origin.ACCEPTED), emitted_token(1, two, Origin.ACCEPTED),
        emitted_token(2, own, Origin.RECOVERED),
    )  # fmt: skip
    allowed = Allowed(10, "policy: any request, 1 running")
    return [Step(0, 40.0, drafted, emitted, 3.1, 41.9, matched_tokens=2, allowed=allowed)]


def without_names(steps: list[Step]) -> list[Step]:
    """What a server tells that only counts: no names, no probabilities of dropped tokens."""
    return [
        Step(s.index, s.elapsed_ms, tuple(
            TokenDecision(d.depth, d.parent, d.token_id, d.text, d.verdict)
            if d.verdict is Verdict.ACCEPTED
            else TokenDecision(d.depth, d.parent, None, None, d.verdict) for d in s.drafted
        ), s.emitted)
        for s in steps
    ]  # fmt: skip


def request(steps: list[Step], fidelity: Fidelity = Fidelity.TRACED) -> list[Event]:
    """All events of a request."""
    end = steps[-1].elapsed_ms if steps else 0.0
    return [
        RequestStarted("r1", fidelity), *steps,
        RequestFinished((1, 2, 3), 43.0, end, "stop"),
    ]  # fmt: skip
