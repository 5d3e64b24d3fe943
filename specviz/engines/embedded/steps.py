"""A round of the decoding loop as a `Step`: ids get their text, rows their probabilities."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from specviz.engines.embedded.decode import Round
from specviz.engines.embedded.sampler import Sampler
from specviz.engines.embedded.tokenizer import ChatTokenizer, TextStream
from specviz.trace import (
    ROOT,
    EmittedToken,
    Lane,
    Origin,
    Span,
    Step,
    TokenDecision,
    TopToken,
)

TOP = 5


class StepMaker:
    """Turns the rounds of one request into steps; `started` is its `time.perf_counter` zero."""

    def __init__(
        self, tokenizer: ChatTokenizer, sampler: Sampler, started: float, *, traced: bool
    ) -> None:
        self._tokenizer = tokenizer
        self._sampler = sampler
        self._started = started
        self._traced = traced
        self._text = TextStream(tokenizer)
        self._steps = 0
        self._position = 0

    def step(self, done: Round, emitted_ids: Sequence[int]) -> Step:
        """The step of a round, of which `emitted_ids` reach the output (a stop cuts the rest)."""
        accepted = len(done.verified.path)
        origins = [Origin.ACCEPTED] * accepted + [done.verified.origin]
        emitted = tuple(
            EmittedToken(self._position + offset, token_id, self._text.push(token_id), origin)
            for offset, (token_id, origin) in enumerate(zip(emitted_ids, origins, strict=False))
        )
        step = Step(
            index=self._steps,
            elapsed_ms=self._ms(done.ended),
            drafted=self._decisions(done),
            emitted=emitted,
            draft_ms=self._draft_ms(done),
            verify_ms=(done.ended - done.drafted) * 1000,
            wall_ms=(done.ended - done.began) * 1000,
            spans=self._spans(done),
            skipped_layers=done.draft.skipped_layers,
            matched_tokens=done.draft.matched_tokens,
        )
        self._steps += 1
        self._position += len(emitted)
        return step

    def _ms(self, moment: float) -> float:
        # microseconds: what is below is noise that no compression gets rid of
        return round((moment - self._started) * 1000, 3)

    def _draft_ms(self, done: Round) -> float | None:
        if done.drafted == done.began:
            return None  # looking something up and finding nothing takes time, too
        ahead = sum(end - begin for begin, end in done.draft.drafted_at)
        return (done.drafted - done.began + ahead) * 1000

    def _spans(self, done: Round) -> tuple[Span, ...]:
        drafting = [*done.draft.drafted_at]
        if done.drafted > done.began:
            drafting.append((done.began, done.drafted))
        lanes = [(Lane.DRAFT, *span) for span in drafting]
        lanes.append((Lane.VERIFY, done.drafted, done.ended))
        return tuple(Span(lane, self._ms(begin), self._ms(end)) for lane, begin, end in lanes)

    def _decisions(self, done: Round) -> tuple[TokenDecision, ...]:
        draft = done.draft
        if not draft.token_ids:
            return ()
        target_probs, tops = self._target(done)
        depths: list[int] = []
        decisions = []
        for node, (token_id, parent) in enumerate(zip(draft.token_ids, draft.parents, strict=True)):
            depths.append(1 if parent == ROOT else depths[parent] + 1)
            judgement = done.verified.judgements[node]
            decisions.append(
                TokenDecision(
                    depth=depths[node],
                    parent=parent,
                    token_id=token_id,
                    text=self._tokenizer.text(token_id),
                    verdict=judgement.verdict,
                    draft_prob=draft.probs[node],
                    target_prob=target_probs[node] if target_probs else None,
                    accept_prob=judgement.accept_prob,
                    u=judgement.u,
                    target_top=tops[parent + 1] if tops else (),
                )
            )
        return tuple(decisions)

    @torch.inference_mode()
    def _target(self, done: Round) -> tuple[list[float], list[tuple[TopToken, ...]]]:
        """The target's probability of every node, and its best tokens in every row."""
        if not self._traced:
            return [], []
        probs = self._probabilities(done.target)
        rows = torch.tensor(done.draft.parents, device=probs.device) + 1
        columns = torch.tensor(done.draft.token_ids, device=probs.device)
        best, ids = probs.topk(min(TOP, probs.shape[-1]), dim=-1)
        tops = [
            tuple(
                TopToken(token_id, self._tokenizer.text(token_id), prob)
                for token_id, prob in zip(row_ids, row_probs, strict=True)
            )
            for row_ids, row_probs in zip(ids.tolist(), best.tolist(), strict=True)
        ]
        node_probs: list[float] = probs[rows, columns].tolist()
        return node_probs, tops

    def _probabilities(self, target: Tensor) -> Tensor:
        return self._sampler.probs(target) if self._sampler.greedy else target
