"""The few numbers of a step that a trace needs, gathered on the device: R traced requests, K draft
tokens each, never the vocabulary.

Everything here is issued to the device and nothing is read from it. Rows past the end of a draft
are gathered too, and cut where they are read: only the device knows how long a draft is once
adaptive verification has cut it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

TOP = 5
NUM_FLOATS, NUM_INTS = 3, 3
"""Columns of `Gathered` in front of the target's best tokens."""

MAX_BYTES = 64 * 2**20
"""Of logits that are gathered at a time: a server keeps no memory for us."""


@dataclass(frozen=True)
class Verification:
    """One call of `RejectionSampler._verify`: N rows of logits, B requests, vocabulary V.

    `logits` is what the sampler judged by, after temperature, top-p and the rest; `draft_logits`
    the drafter's before temperature, None for lookups and greedy drafts. Row `start + i` judges the
    draft token in row `start + i + 1` of `draft_sampled`; -1 is a placeholder.
    `verified` is the same, with -1 also where a structured output's grammar ruled a token out.
    """

    logits: Any  # [N, V]
    draft_logits: Any  # [request states, K, V]
    draft_sampled: Any  # [N]
    verified: Any  # [N]
    positions: Any  # [N]
    starts: Any  # [B + 1]
    states: Any  # [B]
    temperature: Any  # [request states]


@dataclass(frozen=True)
class Gathered:
    """Tensors on the device.

    `floats`: log-probability of the draft token by the target and by the drafter, what block
    verification's residual weighs, the target's best probabilities. `ints`: the draft token, the
    one that was verified, its position, the target's best tokens. `lengths`: tokens per draft.
    """

    floats: Any  # [R, K, NUM_FLOATS + TOP] float32
    ints: Any  # [R, K, NUM_INTS + TOP] int32
    lengths: Any  # [R] int32


def gather(view: Verification, rows: Any, k: int, *, blockwise: bool) -> Gathered:
    """The numbers of the requests at the batch positions `rows` [R], a tensor on the device."""
    import torch

    starts = view.starts[rows]
    lengths = view.starts[rows + 1] - starts - 1
    steps = torch.arange(k, device=rows.device)
    last = view.logits.shape[0] - 1
    at = (starts[:, None] + steps).clamp(max=last)  # [R, K]
    after = (at + 1).clamp(max=last)
    drafted, verified = view.draft_sampled[after].long(), view.verified[after].long()
    states = view.states[rows].long()
    picked = _Picked(view, at.flatten(), drafted.flatten(), states, steps)
    target, draft, top = picked.log_probs()
    residual = (
        picked.residual_mass(_joint(target, draft, verified)) if blockwise else target.new_zeros(1)
    )
    shape = drafted.shape
    columns = [target, draft, residual.expand_as(target)]
    floats = torch.cat([torch.stack(columns, dim=1), top.values], dim=1)
    columns = [drafted.view(-1), verified.view(-1), view.positions[picked.at]]
    ints = torch.cat([torch.stack(columns, dim=1), top.indices], dim=1)
    return Gathered(floats.view(*shape, -1), ints.int().view(*shape, -1), lengths.int())


@dataclass(frozen=True)
class _Top:
    values: Any  # [R * K, TOP] probabilities
    indices: Any  # [R * K, TOP]


@dataclass(frozen=True)
class _Picked:
    """Rows of logits, some at a time; `at` and `drafted` are flat, [R * K]."""

    view: Verification
    at: Any
    drafted: Any
    states: Any  # [R]
    steps: Any  # [K]

    def log_probs(self) -> tuple[Any, Any, _Top]:
        """Of the draft tokens by target and drafter [R * K], and the target's best."""
        import torch

        parts = [self._part(some) for some in self._slices()]
        target, draft, values, indices = (torch.cat(column) for column in zip(*parts, strict=True))
        return target, draft, _Top(values, indices)

    def residual_mass(self, joint: Any) -> Any:
        """Sum over the vocabulary of max(joint · target - drafter, 0) [R * K], with the joint ratio
        of the tokens before: the residual of arXiv 2403.10444, one position on."""
        import torch

        before = torch.cat([torch.ones_like(joint[:, :1]), joint[:, :-1]], dim=1).view(-1)
        masses = []
        for some in self._slices():
            target = self._target(some).log_softmax(-1).exp() * before[some, None]
            draft = self._draft(some)
            if draft is None:
                rest = self._chosen(target, some)
                masses.append(before[some] - rest)
            else:
                masses.append((target - draft.log_softmax(-1).exp()).clamp(min=0).sum(-1))
        return torch.cat(masses)

    def _part(self, some: slice) -> tuple[Any, Any, Any, Any]:
        logits = self._target(some)
        total = logits.logsumexp(-1)
        top = logits.topk(TOP, dim=-1)
        target = self._chosen(logits, some) - total
        draft = self._draft(some)
        if draft is None:
            log_prob = target.new_zeros(()).expand_as(target)
        else:
            log_prob = self._chosen(draft, some) - draft.logsumexp(-1)
        return target, log_prob, (top.values - total[:, None]).exp(), top.indices

    def _target(self, some: slice) -> Any:
        return self.view.logits[self.at[some]][:, : self._vocabulary].float()

    def _draft(self, some: slice) -> Any:
        """The drafter's logits at the request's temperature; at 0, as they are."""
        if self.view.draft_logits is None:
            return None
        k = len(self.steps)
        state = self.states.repeat_interleave(k, output_size=len(self.at))[some]
        step = self.steps.repeat(len(self.states))[some]
        temperature = self.view.temperature[state].float()
        divisor = temperature.masked_fill(temperature == 0, 1.0)
        logits = self.view.draft_logits[state, step][:, : self._vocabulary]
        return logits.float() / divisor[:, None]

    def _chosen(self, rows: Any, some: slice) -> Any:
        ids = self.drafted[some].clamp(0, self._vocabulary - 1)
        return rows.gather(1, ids[:, None]).squeeze(1)

    @property
    def _vocabulary(self) -> int:
        """The smaller one where target and drafter pad differently, as in `rejection_sample`."""
        sizes: list[int] = [self.view.logits.shape[-1]]
        if self.view.draft_logits is not None:
            sizes.append(self.view.draft_logits.shape[-1])
        return min(sizes)

    def _slices(self) -> Iterator[slice]:
        count = max(1, MAX_BYTES // (4 * self._vocabulary))
        return (slice(begin, begin + count) for begin in range(0, len(self.at), count))


def _joint(target: Any, draft: Any, verified: Any) -> Any:
    """Per token, the running ratio of target to drafter, at most 1 [R, K]."""
    import torch

    ratios = (target - draft).view_as(verified).masked_fill(verified < 0, 0.0)
    total, columns = torch.zeros_like(ratios[:, 0]), []
    for column in ratios.unbind(1):
        total = (total + column).clamp(max=0.0)
        columns.append(total)
    return torch.stack(columns, dim=1).exp()
