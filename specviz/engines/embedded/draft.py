"""What the loop and a proposer exchange: a draft and its outcome."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from specviz.engines.embedded.sampler import Sampler
from specviz.trace import ROOT, ExtraBytes


@dataclass(frozen=True, slots=True)
class Draft:
    """Candidate tokens as a tree, parents before children, siblings in the order of judgement.

    `parents[i]` is the index of node i's parent, `ROOT` for a continuation of the context itself.
    `probs[i]` is the drafter's own probability of the node, after temperature and top-p where it
    was sampled. `distributions` [n, vocabulary] is what node i was drawn from; siblings are drawn
    from one distribution without replacement and repeat it. None: the candidates were picked
    (greedily, by lookup, as the best k), not drawn. `drafted_at` are the start and end times, on
    `time.perf_counter`, of work on this draft outside `Proposer.propose`.
    """

    token_ids: tuple[int, ...] = ()
    parents: tuple[int, ...] = ()
    probs: tuple[float, ...] = ()
    distributions: Tensor | None = None
    skipped_layers: tuple[str, ...] | None = None
    matched_tokens: int | None = None
    drafted_at: tuple[tuple[float, float], ...] = ()

    @property
    def is_chain(self) -> bool:
        return all(parent == index - 1 for index, parent in enumerate(self.parents))


def chain(
    token_ids: Sequence[int], probs: Sequence[float], distributions: Tensor | None = None
) -> Draft:
    """A draft without branches."""
    parents = tuple(range(ROOT, len(token_ids) - 1))
    return Draft(tuple(token_ids), parents, tuple(probs), distributions)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the target has processed and kept, after the prompt and after every step.

    `token_ids` [m] are the target's inputs that stay in its KV cache: the whole prompt, or the
    last token of the context followed by the accepted nodes `path` of the draft. `hidden`
    [m, hidden] are their last hidden states (after the final norm), `taps` [m, len(layers) *
    hidden] the inputs of the layers the proposer asked for, side by side. `next_token` is the
    recovered, bonus or plain token that follows them and has not been processed yet.
    """

    token_ids: tuple[int, ...]
    path: tuple[int, ...]
    next_token: int
    hidden: Tensor
    taps: Tensor | None


@dataclass(frozen=True, slots=True)
class Watch:
    """A look into the target while it verifies: `seen` gets layer `layer`'s input [n, hidden].

    `seen` runs in the verifying thread between two layers: it must not take long. `over` is called
    when the pass is done.
    """

    layer: int
    seen: Callable[[Tensor], None]
    over: Callable[[], None] = lambda: None


class Proposer(Protocol):
    """Drafts tokens for one request after the other.

    `tap_layers` are the target's layers whose inputs `Outcome.taps` carries (the number of layers
    itself: the last layer's output); `watch` a look at the target during verification.
    """

    tap_layers: tuple[int, ...]
    watch: Watch | None

    def reset(self, prompt_ids: Sequence[int], sampler: Sampler) -> None:
        """A new request begins: forget the last one."""
        ...

    def propose(self, context: Sequence[int], k: int) -> Draft:
        """At most `k` candidate tokens in all that may follow `context` (prompt and output)."""
        ...

    def observe(self, outcome: Outcome) -> None:
        """The target has read the prompt, or judged the last draft."""
        ...

    def extra_bytes(self) -> ExtraBytes:
        """Memory held beyond plain decoding, as it is now."""
        ...
