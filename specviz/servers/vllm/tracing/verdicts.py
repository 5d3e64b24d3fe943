"""What the rejection sampler saw of the traced tokens in one step, gathered from its tensors.

Only rows of traced requests are touched. At temperature > 0 the probabilities are the sampler's
own (`target_probs`, after temperature, top-p and top-k), so `accept_prob` and `u` reproduce every
verdict bit by bit: the rule is `target_prob / draft_prob >= u`, in float32 on a CPU. At temperature
0 nothing is drawn, and the probabilities come from the logits; a softmax over the rows costs half
of a logsumexp, because torch has a fused kernel for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from specviz.servers.vllm.tracing.lines import Judged

TOP = 5


@dataclass
class SamplerView:
    """The tensors of one call of the rejection sampler; N draft tokens, vocabulary V.

    `target_probs` and `uniform` are None if every request of the batch is at temperature 0,
    `draft_probs` if drafts carry no probabilities.
    """

    draft_token_ids: Any = None  # [N]
    num_draft_tokens: list[int] = field(default_factory=list)  # [B]
    draft_probs: Any = None  # [N, V]
    target_logits: Any = None  # [N, V]
    target_probs: Any = None  # [N, V]
    uniform: Any = None  # [N]


def judged_rows(view: SamplerView, rows: list[int]) -> list[Judged]:
    """What the sampler saw of the requests at the batch positions `rows`."""
    starts = list(accumulate(view.num_draft_tokens, initial=0))
    tokens = [token for row in rows for token in range(starts[row], starts[row + 1])]
    columns = _columns(view, tokens)
    judged, begin = [], 0
    for row in rows:
        part = slice(begin, begin + view.num_draft_tokens[row])
        judged.append(Judged(*(column and column[part] for column in columns)))
        begin = part.stop
    return judged


def _columns(view: SamplerView, tokens: list[int]) -> tuple[Any, ...]:
    """The fields of `Judged` for all traced tokens together: few tensor calls, then lists."""
    import torch

    if len(tokens) == len(view.draft_token_ids):
        index: Any = slice(None)  # everything is traced: views instead of copies
    else:
        index = torch.tensor(tokens, device=view.target_logits.device)
    drafted = view.draft_token_ids[index]
    ids = drafted.long().clamp_(min=0).unsqueeze(1)  # -1 pads drafts that were cut short
    probs = (view.target_logits if view.target_probs is None else view.target_probs)[index]
    if view.target_probs is None:
        probs = probs.softmax(dim=-1)
    top = probs.topk(TOP, dim=-1)
    target = probs.gather(1, ids).squeeze(1)
    draft = None if view.draft_probs is None else view.draft_probs[index].gather(1, ids).squeeze(1)
    return (
        drafted.tolist(),
        target.tolist(),
        None if draft is None else draft.tolist(),
        *_rule(view, index, target, draft),
        top.indices.tolist(),
        top.values.tolist(),
    )


def _rule(view: SamplerView, index: Any, target: Any, draft: Any) -> tuple[Any, Any]:
    """target_prob / draft_prob and the random number, in the precision of the kernel."""
    if view.uniform is None:
        return None, None
    ratios = target if draft is None else (target / draft).masked_fill_(draft <= 0, 0.0)
    uniform = view.uniform[index]
    # The CPU kernel compares in float32, the Triton kernel in the float64 it was drawn in.
    if uniform.device.type == "cpu":
        uniform = uniform.float()
    return ratios.tolist(), uniform.tolist()
