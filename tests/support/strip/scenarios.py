"""Synthetic but realistic runs for the token strip: lists of WebSocket messages by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from specviz.trace import (
    Channel,
    EmittedToken,
    Event,
    Fidelity,
    Origin,
    RequestFinished,
    RequestStarted,
    Step,
    StepsRevised,
)
from specviz.wire import event_to_dict
from tests.support.strip.steps import (
    chain_steps,
    emitted_token,
    pieces,
    plain_steps,
    request,
    sibling_steps,
    tree_steps,
    without_names,
)

Json = dict[str, Any]

FAILURE = "The app cannot show the rest of this run (IndexError: list index out of range)."

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

FIGURES = ("output", "speed-up", "acceptance rate", "tokens/step", "tokens/s", "TTFT ms", "TPOT ms")


@dataclass(frozen=True)
class Arm:
    """One arm and everything that will be said of it."""

    info: Json
    events: list[Event]
    figures: list[Json]
    state: Json
    before: Json | None = None  # the state while its steps arrive


def arm(
    name: str,
    title: str,
    events: list[Event],
    *,
    headline: str | None = "96 tokens in 31 passes",
    values: tuple[str | None, ...] = ("1.7×", "0.640", "3.10", "42.4", "43.0", "23.6"),
    state: Json | None = None,
    **info: Any,
) -> Arm:
    """An arm with figures in the fixed order."""
    figures = [
        {"label": label, "value": value,
         "reason": None if value else "the baseline drafts nothing"}
        for label, value in zip(FIGURES, (headline, *values), strict=True)
    ]  # fmt: skip
    base = {"id": name, "title": title, "engine": "embedded", "fidelity": None, "k": None,
            "method": None, "max_tokens": None}  # fmt: skip
    return Arm({**base, **info}, events, figures, state or {"phase": "finished", "note": None})


def three_arms() -> list[Arm]:
    tokens = pieces(CODE)
    return [
        arm("baseline", "baseline", request(plain_steps(tokens)),
            headline="96 tokens in 96 passes", values=("1×", None, "1.00", "24.8", "41.0", "40.3")),
        arm("draft", "draft_model · K 5", request(chain_steps(tokens, sampled=True)), k=5),
        arm("eagle3", "eagle3 · K 5", request(chain_steps(tokens, rate=0.85, seed=3)), k=5,
            headline=None, values=("2.5×", "0.790", "4.40", "61.0", "42.0", "16.4")),
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
    """A character in three tokens, an unnamed draft, an origin the server does not report."""
    emitted = ("", "", "한", " ok")
    steps = [
        Step(n, 40.0 * (n + 1), (), (EmittedToken(n, None, text, Origin.UNKNOWN),))
        for n, text in enumerate(emitted)
    ]
    return [arm("half", "half characters", request(steps, Fidelity.INFERRED))]


def thinking() -> list[Arm]:
    """Thinking in front of the answer, as servers of thinking models report it."""
    said = [("<think>", Channel.MARKUP), ("Hm", Channel.REASONING), ("Yes", Channel.ANSWER)]
    steps = [
        Step(n, 40.0 * (n + 1), (), (EmittedToken(n, n, text, Origin.TARGET, channel),))
        for n, (text, channel) in enumerate(said)
    ]
    return [arm("thinking", "a thinking model", request(steps))]


def tree() -> list[Arm]:
    return [arm("tree", "medusa · K 3", request(tree_steps(pieces(CODE))), k=3)]


def siblings() -> list[Arm]:
    return [
        arm("siblings", "medusa · K 10 · tree", request(sibling_steps(["the", " quick", " fox"])))
    ]


def typical() -> list[Arm]:
    """Typical acceptance: nothing is drawn, and it is not lossless."""
    steps = tree_steps(pieces(CODE))
    words = {"lossless": False, "rule": "typical"}
    return [arm("typical", "medusa · K 7 · typical, not lossless", request(steps), **words)]


def counted() -> list[Arm]:
    return [four_arms()[3]]


def revised() -> list[Arm]:
    tokens = pieces("the quick brown fox")
    guess = [
        Step(0, 40, (), tuple(emitted_token(0, t, Origin.UNKNOWN) for t in ["WRONG", " guess"]))
    ]
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
    """A hundred tokens, one every 100 ms from 100 ms on: half the time is half the tokens."""
    steps = [
        Step(n, 100.0 * (n + 1), (), (emitted_token(n, f" w{n}", Origin.TARGET),))
        for n in range(100)
    ]
    return [arm("uniform", "baseline", request(steps))]


SCENARIOS: dict[str, Callable[[], list[Arm]]] = {
    function.__name__: function
    for function in (
        three_arms, four_arms, hostile, characters, thinking, tree, siblings, typical, counted,
        revised, failed, long_run, uniform,
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


def pieces_of_arm(name: str) -> list[str]:
    arms = {one.info["id"]: one for one in SCENARIOS["three_arms"]()}
    return pieces(output_of(arms[name]))
