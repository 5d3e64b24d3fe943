"""Made-up but consistent traces of the embedded engine: trees, overlap, skipped layers."""

from __future__ import annotations

import random
import re
import time
from dataclasses import dataclass, field

from specviz.config import RunConfig
from specviz.methods import Method
from specviz.trace import (
    ROOT,
    EmittedToken,
    ExtraBytes,
    Fidelity,
    Lane,
    Origin,
    Span,
    Step,
    TokenDecision,
    TopToken,
    Trace,
    Verdict,
)

TEXT = '''def merge(left, right):
    """Merge two sorted lists."""
    out = []
    while left and right:
        smaller = left if left[0] <= right[0] else right
        out.append(smaller.pop(0))
    return out + left + right
'''
WRONG = (" self", "None", " in", " <b>x</b>", "\n\n", " ==", "()", " len", " str", "한")

EXTRA = {
    Method.BASELINE: ExtraBytes(),
    Method.DRAFT_MODEL: ExtraBytes(1_300_000, 262_144, 0),
    Method.NGRAM: ExtraBytes(),
    Method.SUFFIX: ExtraBytes(0, 0, 48_120),
    Method.MEDUSA: ExtraBytes(3_200_000, 0, 512),
    Method.EAGLE: ExtraBytes(2_100_000, 131_072, 2_048),
    Method.EAGLE3: ExtraBytes(2_900_000, 131_072, 6_144),
    Method.LAYER_SKIP: ExtraBytes(0, 65_536, 0),
    Method.SWIFT: ExtraBytes(0, 65_536, 4_096),
    Method.MIRROR: ExtraBytes(1_300_000, 262_144, 9_216),
}
WIDTHS = {"tree": (3, 2, 2, 1), "chain": (1, 1, 1, 1, 1)}


def pieces(text: str) -> list[str]:
    """Cut a text roughly as a byte-level BPE tokenizer would."""
    return re.findall(r"\n+|[ ]{2,}(?= )| ?\w+| ?[^\w\s]+|\s", text)


def token_id(text: str) -> int:
    return sum(ord(char) * 31**place for place, char in enumerate(text[:4])) % 4096


def trace_of(config: RunConfig) -> Trace:
    """What the arm would answer; the same each time, but for the request's id."""
    clock = _Clock(config, random.Random(config.title))
    tokens = pieces(TEXT)
    steps = [clock.step((), (_emitted(0, tokens[0], Origin.TARGET),))]
    at = 1
    while at < len(tokens):
        steps.append(_step(config, clock, tokens, at))
        at += len(steps[-1].emitted)
    request_id = f"{config.title}-{time.time_ns()}"
    ttft_ms, end_ms = steps[0].elapsed_ms, steps[-1].elapsed_ms
    extra = EXTRA[config.method or Method.BASELINE]
    return Trace(request_id, Fidelity.TRACED, tuple(steps), (1, 2), ttft_ms, end_ms, "stop", extra)


def _step(config: RunConfig, clock: _Clock, tokens: list[str], at: int) -> Step:
    if config.method is Method.BASELINE:
        return clock.step((), (_emitted(at, tokens[at], Origin.TARGET),))
    widths = WIDTHS[config.options.get("shape", "chain")]
    draft = _Draft(clock.rng, tokens, at, widths, sampled=config.sampling.temperature > 0)
    draft.grow(ROOT, 1, on_path=True)
    accepted = draft.accepted
    emitted = [_emitted(at + n, tokens[at + n], Origin.ACCEPTED) for n in range(accepted)]
    if at + accepted < len(tokens):
        origin = Origin.BONUS if draft.is_whole else Origin.RECOVERED
        emitted.append(_emitted(at + accepted, tokens[at + accepted], origin))
    return clock.step(tuple(draft.nodes), tuple(emitted))


def _emitted(position: int, text: str, origin: Origin) -> EmittedToken:
    return EmittedToken(position, token_id(text), text, origin)


@dataclass
class _Draft:
    """Grows a tree and judges it at the same time, siblings in turn."""

    rng: random.Random
    tokens: list[str]
    at: int
    widths: tuple[int, ...]
    sampled: bool
    nodes: list[TokenDecision] = field(default_factory=list)
    accepted: int = 0
    is_whole: bool = True  # every token down to a leaf was accepted

    def grow(self, parent: int, depth: int, *, on_path: bool) -> None:
        if depth > len(self.widths) or self.at + depth > len(self.tokens):
            return
        true = self.tokens[self.at + depth - 1]
        width = self.widths[depth - 1]
        hit = self.rng.choices([*range(width), None], [6, *[2] * (width - 1), 2])[0]
        hit = hit if on_path else None
        places = [self._add(parent, depth, n, hit, true, on_path) for n in range(width)]
        if on_path and hit is None:
            self.is_whole = False
        for n, place in enumerate(places):
            self.grow(place, depth + 1, on_path=on_path and n == hit)

    def _add(
        self, parent: int, depth: int, n: int, hit: int | None, true: str, on_path: bool
    ) -> int:
        is_hit = n == hit
        text = true if is_hit else self.rng.choice([w for w in WRONG if w != true])
        judged = on_path and (hit is None or n <= hit)
        target = self.rng.uniform(0.5, 1) if is_hit else self.rng.uniform(0.001, 0.2)
        draft = self.rng.uniform(0.3, 0.9) / (n + 1)
        accept = (min(1.0, target / draft) if self.sampled else float(is_hit)) if judged else None
        u = None
        if self.sampled and accept is not None:
            u = self.rng.uniform(0, accept) if is_hit else self.rng.uniform(accept, 1)
        verdict = Verdict.ACCEPTED if is_hit else Verdict.REJECTED
        others = [TopToken(token_id(w), w, 0.1 / (m + 1)) for m, w in enumerate(WRONG[:4])]
        self.nodes.append(
            TokenDecision(
                depth, parent, token_id(text), text, verdict if judged else Verdict.UNVERIFIED,
                draft, target, accept, u, (TopToken(token_id(true), true, 0.61), *others),
            )
        )  # fmt: skip
        self.accepted += is_hit and judged
        return len(self.nodes) - 1


@dataclass
class _Clock:
    """Gives steps their times: one lane after the other, or for mirror beside each other."""

    config: RunConfig
    rng: random.Random
    now_ms: float = 0.0
    ahead: tuple[Span, ...] = ()
    steps: int = 0

    def step(self, drafted: tuple[TokenDecision, ...], emitted: tuple[EmittedToken, ...]) -> Step:
        method = self.config.method
        draft_ms = self.rng.uniform(2, 4) if drafted else 0.0
        verify_ms = self.rng.uniform(6, 9)
        begin = self.now_ms
        spans = list(self.ahead)
        if drafted and method is not Method.MIRROR:
            spans.append(Span(Lane.DRAFT, begin, begin + draft_ms))
            begin += draft_ms
        spans.append(Span(Lane.VERIFY, begin, begin + verify_ms))
        if method is Method.MIRROR:
            self.ahead = (Span(Lane.DRAFT, begin + 1.5, begin + 1.5 + 3.0),)
        wall_ms = begin + verify_ms - self.now_ms
        self.now_ms = begin + verify_ms
        self.steps += 1
        return Step(
            self.steps - 1, self.now_ms, drafted, emitted,
            draft_ms if drafted else None, verify_ms, wall_ms, tuple(spans),
            self._skipped() if drafted else None,
            self.rng.randint(1, 3) if drafted and method is Method.NGRAM else None,
        )  # fmt: skip

    def _skipped(self) -> tuple[str, ...] | None:
        if self.config.method is Method.LAYER_SKIP:
            return tuple(f"{kind} {layer}" for layer in (4, 5) for kind in ("attention", "mlp"))
        if self.config.method is not Method.SWIFT:
            return None
        names = [f"{kind} {layer}" for layer in range(6) for kind in ("attention", "mlp")]
        settled = random.Random(self.steps // 6)  # SWIFT changes its mind now and then
        return tuple(settled.sample(names[1:-1], 5))
