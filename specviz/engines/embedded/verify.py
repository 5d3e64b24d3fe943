"""Which drafted tokens the target accepts, and the token it adds. For chains and trees.

Exact rejection sampling (Leviathan et al., arXiv 2211.17192, algorithm 1; Chen et al., 2302.01318,
algorithm 2): a token drawn from q is accepted with min(1, p / q), a rejected one leaves the
residual max(p - q, 0). Siblings are judged in turn, each against what the rejected ones before it
left, q without replacement (Miao et al., SpecInfer, 2305.09781, algorithm 2; Jeon et al.,
2402.14160).
What comes out is distributed as the target's own sampling, whatever the draft.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from specviz.engines.embedded.draft import Draft
from specviz.engines.embedded.sampler import Sampler, best
from specviz.trace import ROOT, Origin, Verdict


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on one node; `accept_prob` and `u` as in `TokenDecision`."""

    verdict: Verdict = Verdict.UNVERIFIED
    accept_prob: float | None = None
    u: float | None = None


@dataclass(frozen=True, slots=True)
class Verified:
    """One judgement per node, the accepted nodes from the root down, and the token after them."""

    judgements: tuple[Judgement, ...]
    path: tuple[int, ...]
    next_token: int
    origin: Origin


class Rule(Protocol):
    """How the children of one node are judged.

    `target` [vocabulary] is the target's distribution after the node. Returns a judgement for each
    child up to the accepted one, and the distribution for the next token if none is.
    """

    def __call__(
        self, draft: Draft, children: Sequence[int], target: Tensor, sampler: Sampler
    ) -> tuple[list[Judgement], Tensor]: ...


def verify(draft: Draft, target: Tensor, sampler: Sampler, rule: Rule | None = None) -> Verified:
    """Judge a draft. `target` [n + 1, vocabulary]: row 0 follows the context, row i + 1 node i.

    Rows are probabilities, or logits at temperature 0. `rule` None is the exact one.
    """
    rule = rule or (choose_best if sampler.greedy else reject_exactly)
    judgements = [Judgement()] * len(draft.token_ids)
    path: list[int] = []
    node = ROOT
    while children := [c for c, parent in enumerate(draft.parents) if parent == node]:
        judged, rest = rule(draft, children, target[node + 1], sampler)
        for child, judgement in zip(children, judged, strict=False):
            judgements[child] = judgement
        if judged[-1].verdict is not Verdict.ACCEPTED:
            origin = Origin.RECOVERED
            break
        node = children[len(judged) - 1]
        path.append(node)
    else:
        rest = target[node + 1]
        origin = Origin.BONUS if path else Origin.TARGET
    return Verified(tuple(judgements), tuple(path), sampler.draw(rest), origin)


def choose_best(
    draft: Draft, children: Sequence[int], target: Tensor, sampler: Sampler
) -> tuple[list[Judgement], Tensor]:
    """Temperature 0: the child that is the target's first choice, if there is one."""
    first_choice = best(target)
    judged = []
    for child in children:
        accepted = draft.token_ids[child] == first_choice
        judged.append(_judgement(accepted, float(accepted), None))
        if accepted:
            break
    return judged, target


def reject_exactly(
    draft: Draft, children: Sequence[int], target: Tensor, sampler: Sampler
) -> tuple[list[Judgement], Tensor]:
    """Exact rejection sampling over siblings."""
    judged = []
    rest = target
    drawn_from = None if draft.distributions is None else draft.distributions[children[0]]
    for child in children:
        token = draft.token_ids[child]
        drawn_with = 1.0 if drawn_from is None else float(drawn_from[token])
        accept_prob = min(1.0, float(rest[token]) / drawn_with)
        u = sampler.uniform()
        judged.append(_judgement(u <= accept_prob, accept_prob, u))
        if u <= accept_prob:
            break
        rest = residual(rest, drawn_from, token)
        drawn_from = None if drawn_from is None else without(drawn_from, token)
    return judged, rest


def residual(target: Tensor, drawn_from: Tensor | None, token: int) -> Tensor:
    """norm(max(target - drawn_from, 0)) [vocabulary]: what a rejected `token` leaves.

    `drawn_from` None: the token was picked, that is drawn with certainty.
    """
    if drawn_from is None:
        return without(target, token)
    left = (target - drawn_from).clamp_(min=0.0)
    total = left.sum()
    # equal distributions never reject, but rounding may: nothing is left, and nothing was wrong
    return left / total if total > 0 else target


def without(probs: Tensor, token: int) -> Tensor:
    """`probs` [vocabulary] with `token` taken out, renormalised."""
    left = probs.clone()
    left[token] = 0.0
    total = left.sum()
    return left / total if total > 0 else probs


EPSILON, DELTA = 0.09, 0.3


def accept_typical(
    draft: Draft, children: Sequence[int], target: Tensor, sampler: Sampler
) -> tuple[list[Judgement], Tensor]:
    """Medusa's typical acceptance (arXiv 2401.10774, 2.3.1): NOT lossless.

    A token is accepted if its target probability exceeds min(epsilon, delta * exp(-entropy)), with
    the authors' epsilon and delta = sqrt(epsilon). At temperature 0 it is `choose_best`.
    """
    if sampler.greedy:
        return choose_best(draft, children, target, sampler)
    entropy = torch.special.entr(target).sum()
    threshold = min(EPSILON, DELTA * float(torch.exp(-entropy)))
    judged = []
    for child in children:
        accepted = float(target[draft.token_ids[child]]) > threshold
        judged.append(_judgement(accepted, float(accepted), None))
        if accepted:
            break
    return judged, target


def _judgement(accepted: bool, accept_prob: float, u: float | None) -> Judgement:
    return Judgement(Verdict.ACCEPTED if accepted else Verdict.REJECTED, accept_prob, u)
