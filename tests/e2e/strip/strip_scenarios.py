"""Synthetic but realistic runs for the token strip: lists of WebSocket messages by name."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from specviz.trace import (
    ROOT,
    EmittedToken,
    Event,
    Fidelity,
    Origin,
    RequestFinished,
    RequestStarted,
    Step,
    StepsRevised,
    TokenDecision,
    TopToken,
    Verdict,
)
from specviz.wire import event_to_dict

Json = dict[str, Any]

CODE = '''def merge(left, right):
    """Merge two sorted lists."""
    out = []
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            out.append(left[i])
            i += 1
        else:
            out.append(right[j])
            j += 1
    return out + left[i:] + right[j:]
'''

HOSTILE = (
    '<img src=x onerror="window.hacked=1">',
    "<script>window.hacked=1</script>",
    "&lt;b&gt;",
    "\u202eright to left",
    "\x1b[31mred\x00",
    "\ttab",
    "한국어",
    "👩‍💻",
    "x" * 300,
    "line\nbreak",
    "\n",
)

FIGURES = ("speed-up", "acceptance rate", "tokens/step", "tokens/s", "TTFT ms", "TPOT ms")


@dataclass(frozen=True)
class Arm:
    """One arm and everything that will be said of it."""

    info: Json
    events: list[Event]
    figures: list[Json]
    state: Json
    before: Json | None = None  # the state while its steps arrive


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
        emitted = [_emitted(at + n, tokens[at + n], Origin.ACCEPTED) for n in range(length)]
        if at + length < len(tokens):
            own = tokens[at + length]
            if length < k:
                drafted += _dropped(rng, own, length, k, sampled, tokens)
            origin = Origin.BONUS if length == k else Origin.RECOVERED
            emitted.append(_emitted(at + length, own, origin))
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


def _emitted(position: int, text: str, origin: Origin) -> EmittedToken:
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
            _emitted(at, one, Origin.ACCEPTED), _emitted(at + 1, two, Origin.ACCEPTED),
            _emitted(at + 2, own, Origin.RECOVERED),
        )  # fmt: skip
        steps.append(Step(len(steps), 40 + 45.0 * len(steps), drafted, emitted, 3.1, 41.9))
    return steps


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


def arm(
    name: str,
    title: str,
    events: list[Event],
    *,
    values: tuple[str | None, ...] = ("1.71×", "0.640", "3.10", "42.4", "43.0", "23.6"),
    state: Json | None = None,
    **info: Any,
) -> Arm:
    """An arm with figures in the fixed order."""
    figures = [
        {"label": label, "value": value,
         "reason": None if value else "the baseline drafts nothing"}
        for label, value in zip(FIGURES, values, strict=True)
    ]  # fmt: skip
    base = {"id": name, "title": title, "engine": "embedded", "fidelity": None, "k": None,
            "method": None, "max_tokens": None}  # fmt: skip
    return Arm({**base, **info}, events, figures, state or {"phase": "finished", "note": None})


def three_arms() -> list[Arm]:
    tokens = pieces(CODE)
    return [
        arm("baseline", "baseline", request(plain_steps(tokens)),
            values=("1.00×", None, "1.00", "24.8", "41.0", "40.3")),
        arm("draft", "draft_model · K 5", request(chain_steps(tokens, sampled=True)), k=5),
        arm("eagle3", "eagle3 · K 5", request(chain_steps(tokens, rate=0.85, seed=3)), k=5,
            values=("2.46×", "0.790", "4.40", "61.0", "42.0", "16.4")),
    ]  # fmt: skip


def four_arms() -> list[Arm]:
    tokens = pieces(CODE)
    counted = without_names(chain_steps(tokens, k=3, seed=5))
    return [
        *three_arms(),
        arm("counted", "server · K 3", request(counted, Fidelity.COUNTED), badge="vLLM 0.32", k=3,
            values=(None, "0.610", "2.80", "38.1", "44.0", "26.2")),
    ]  # fmt: skip


def hostile() -> list[Arm]:
    steps = chain_steps(list(HOSTILE), k=3, rate=0.5, seed=2)
    return [arm("hostile", "hostile text", request(steps), k=3)]


def characters() -> list[Arm]:
    """A character in three tokens, an unnamed draft, an origin the server does not tell."""
    emitted = ("", "", "한", " ok")
    steps = [
        Step(n, 40.0 * (n + 1), (), (EmittedToken(n, None, text, Origin.UNKNOWN),))
        for n, text in enumerate(emitted)
    ]
    return [arm("half", "half characters", request(steps, Fidelity.INFERRED))]


def tree() -> list[Arm]:
    return [arm("tree", "medusa · K 3", request(tree_steps(pieces(CODE))), k=3)]


def counted() -> list[Arm]:
    return [four_arms()[3]]


def revised() -> list[Arm]:
    tokens = pieces("the quick brown fox")
    guess = [Step(0, 40, (), tuple(_emitted(0, t, Origin.UNKNOWN) for t in ["WRONG", " guess"]))]
    known = tuple(chain_steps(tokens, rate=0.9))
    events: list[Event] = [
        RequestStarted("r1", Fidelity.INFERRED), *guess,
        StepsRevised(known, Fidelity.COUNTED, "the server's counts"),
        RequestFinished((1,), 40.0, 200.0, "stop"),
    ]  # fmt: skip
    return [arm("revised", "ngram · K 5", events, k=5)]


def failed() -> list[Arm]:
    events = request(chain_steps(pieces(CODE))[:9])[:-1]
    note = "The server at http://localhost:8000 stopped answering: start it again, then run again."
    waiting = arm("next", "eagle3 · K 5", [], state={"phase": "waiting", "note": None},
                  values=(None,) * 6)  # fmt: skip
    loading = {"phase": "starting", "note": "Loading the model, usually 20 s: 8 of 20 s."}
    return [
        arm("failed", "draft_model · K 5", events, k=5, state={"phase": "failed", "note": note}),
        arm("loading", "suffix · K 8", [], state=loading, values=(None,) * 6),
        waiting,
    ]


def long_run() -> list[Arm]:
    return [arm("long", "draft_model · K 5", request(chain_steps(long_tokens())), k=5)]


def long_tokens() -> list[str]:
    tokens = pieces(CODE)
    return [*(tokens * (4000 // len(tokens) + 1))[:3999], "<END>"]


def uniform() -> list[Arm]:
    """A hundred tokens, one every 10 ms from 10 ms on: half the time is half the tokens."""
    steps = [
        Step(n, 10.0 * (n + 1), (), (_emitted(n, f" w{n}", Origin.TARGET),)) for n in range(100)
    ]
    return [arm("uniform", "baseline", request(steps))]


SCENARIOS: dict[str, Callable[[], list[Arm]]] = {
    function.__name__: function
    for function in (
        three_arms, four_arms, hostile, characters, tree, counted, revised, failed, long_run,
        uniform,
    )
}  # fmt: skip


def hello(arms: list[Arm], mode: str) -> Json:
    return {"type": "hello", "mode": mode, "prompt": "…", "arms": [one.info for one in arms]}


def batches(
    arms: list[Arm], seen: dict[str, int], size: int, *, numbered: bool = True
) -> list[Json]:
    """Messages with `size` events per arm each, after those already seen.

    `numbered` ones say which event of the arm their first one is.
    """
    messages: list[Json] = []
    longest = max(len(one.events) for one in arms)
    running = {"phase": "running", "note": None}
    for start in range(0, longest, size):
        parts = []
        for one in arms:
            first = max(start, seen.get(one.info["id"], 0))
            events = one.events[first : start + size]
            done = start + size >= len(one.events)
            part = {
                "id": one.info["id"],
                "events": [event_to_dict(event) for event in events],
                "figures": one.figures if done else None,
                "state": one.state if done else running,
            }
            parts.append({**part, "from": first} if numbered else part)
        messages.append({"type": "batch", "arms": parts, "verdict": None})
    if len(arms) > 1:
        text = "both outputs equal the baseline, 96 of 96 tokens"
        messages[-1]["verdict"] = {"ok": True, "text": text}
    return messages


def output_of(one: Arm) -> str:
    """The exact output of an arm."""
    steps: list[Step] = []
    for event in one.events:
        if isinstance(event, Step):
            steps.append(event)
        elif isinstance(event, StepsRevised):
            steps = list(event.steps)
    return "".join(token.text for step in steps for token in step.emitted)
