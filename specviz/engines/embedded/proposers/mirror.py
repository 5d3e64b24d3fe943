"""Mirror speculative decoding: the draft model goes on drafting while the target verifies.

Bhendawade et al. (Apple), arXiv 2510.13161, section 3. Halfway through verification the target's
early-exit logits predict the outcome: how many candidates are accepted, and the token after them.
The draft model continues the likeliest outcomes, each in its own branch, during the rest of the
target's pass. If the real outcome is among them, its draft is ready when verification ends (or
started, and is completed then); otherwise it is drafted then. The paper uses the early exit alone,
of a model trained for it; the prediction here is the mean of the early exit's and the draft
model's distributions: a small target's fourth layer predicts 57 % of the tokens, the draft model
91 %. The paper's speculative streaming, another draft model, is left out.

Why this is lossless at any temperature: exact verification needs every candidate to be drawn from
the distribution that is recorded for it, given the context that it continues, independently of the
random numbers of the verification. A branch is drafted by the same code, from the same
distributions, as a draft made afterwards in the same context. Which branches exist depends on
distributions and on time, never on a random number that is drawn for judging; which of them is used
depends on the outcome alone, of which their own draws know nothing, because each comes from a
separate generator. That generator's seed is made of the request's seed and the number of tokens
before the draft, so a draft has the same tokens whether it was ready or not, and runs repeat
whatever the timing. Only one of the branches of a length is ever judged.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from specviz.config import Sampling
from specviz.engines.embedded.draft import Draft, Outcome, Watch
from specviz.engines.embedded.model import Llama
from specviz.engines.embedded.proposers.chain_builder import ChainBuilder
from specviz.engines.embedded.proposers.side_thread import SideThread
from specviz.engines.embedded.sampler import Sampler
from specviz.trace import ExtraBytes

BRANCHES = 4
"""Outcomes that are continued, if verification takes long enough (the paper's top-kappa)."""

SEEDS = 2**40

Outlook = tuple[int, ...]
"""A possible outcome: the accepted candidates and the token after them."""


class Mirror:
    """Drafts chains with `model`, ahead of time if the outcome was predicted.

    `exit_layer` is the target's layer whose input is read, by default the middle one;
    `floor` as in `ChainBuilder`. The first draft of a request is never made ahead: the target's
    pass over a prompt needs all cores.
    """

    tap_layers: tuple[int, ...] = ()

    def __init__(
        self,
        target: Llama,
        model: Llama,
        floor: float = 0.0,
        *,
        branches: int = BRANCHES,
        exit_layer: int | None = None,
    ) -> None:
        layer = target.config.layers // 2 if exit_layer is None else exit_layer
        self.watch: Watch | None = Watch(layer, self._seen, self._seen_off)
        self._target = target
        self._model = model
        self._reader = _Reader(model)
        self._floor = floor
        self._branches = branches
        self._longest = min(target.config.max_positions, model.config.max_positions)
        self._side = SideThread(target.device)
        self._stop = threading.Event()
        self._judged: _Chain | None = None  # the draft that is being verified
        self._ahead: dict[Outlook, _Chain] = {}
        self._worked: tuple[float, float] | None = None  # when the side thread worked
        self._k = 0
        self._threads = 0  # how many the verifying thread had before it gave one away

    def reset(self, prompt_ids: Sequence[int], sampler: Sampler) -> None:
        self._finish()
        self._reader.forget()
        self._judged = None
        self._sampler = sampler
        self._seed = int(sampler.uniform() * SEEDS) if sampler.draws_drafts else 0

    def propose(self, context: Sequence[int], k: int) -> Draft:
        entered = time.perf_counter()
        self._finish()
        ready = None
        drafted_at: tuple[tuple[float, float], ...] = ()
        if self._judged is not None:
            ready = self._ahead.get(tuple(context[len(self._judged.context) :]))
        if self._worked is not None and self._worked[0] < entered:
            drafted_at = ((self._worked[0], min(self._worked[1], entered)),)
        if ready is None or len(ready.token_ids) > k:
            ready = self._chain(list(context))
        self._roll_out(ready, k)
        self._judged, self._k = ready, k
        return replace(ready.builder.draft(), drafted_at=drafted_at)

    def observe(self, outcome: Outcome) -> None:
        """Nothing: the next context holds the outcome."""

    def extra_bytes(self) -> ExtraBytes:
        return ExtraBytes(weights=self._model.nbytes, kv_cache=self._reader.nbytes)

    def _seen(self, x: Tensor) -> None:
        """The target has half-verified the draft: look ahead while it goes on."""
        judged, self._ahead, self._worked = self._judged, {}, None
        if judged is None:
            return
        if x.device.type == "cpu":
            self._threads = torch.get_num_threads()
            torch.set_num_threads(max(1, self._threads - 1))
        self._stop.clear()
        self._side.submit(lambda: self._look_ahead(x, judged, self._k), x)

    def _seen_off(self) -> None:
        if self._threads:
            torch.set_num_threads(self._threads)
            self._threads = 0

    def _finish(self) -> None:
        """Stop the side thread and its work."""
        self._seen_off()
        self._stop.set()
        self._side.wait()

    def _look_ahead(self, x: Tensor, judged: _Chain, k: int) -> None:
        began = time.perf_counter()
        for accepted, token in self._outlooks(x, judged):
            if self._stop.is_set():
                break
            kept = judged.token_ids[:accepted]
            chain = self._chain([*judged.context, *kept, token])
            self._ahead[(*kept, token)] = chain
            self._roll_out(chain, min(k, self._longest - len(chain.context) - 1), self._stop)
        self._worked = (began, time.perf_counter())

    def _outlooks(self, x: Tensor, judged: _Chain) -> list[tuple[int, int]]:
        """The likeliest outcomes: how many candidates are accepted, and the token after them."""
        drafted = judged.token_ids
        count = len(drafted)
        after = self._distribution(judged.context + drafted)
        exits = self._target.head(self._target.norm_final(x[-count - 1 :]))
        forecast = (self._sampler.probs(exits) + torch.stack([*judged.rows, after])) / 2
        rows, columns = torch.arange(count, device=x.device), torch.tensor(drafted, device=x.device)
        reached = forecast.new_ones(count + 1)
        torch.cumprod(forecast[rows, columns], 0, out=reached[1:])
        forecast[rows, columns] = 0.0  # with that token after them, one more would be accepted
        likeliest = (forecast * reached[:, None]).flatten().topk(self._branches).indices.tolist()
        outlooks = [divmod(place, forecast.shape[1]) for place in likeliest]
        ends = self._target.config.eos_ids
        return [(accepted, token) for accepted, token in outlooks if token not in ends]

    def _chain(self, context: list[int]) -> _Chain:
        """A draft of `context`, still empty; what it draws depends on the context's length."""
        sampler = self._sampler
        if sampler.draws_drafts:
            sampling = Sampling(
                sampler.temperature,
                sampler.top_p,
                seed=self._seed + len(context),
                top_k=sampler.top_k,
            )
            sampler = Sampler(sampling, self._target.device)
        return _Chain(context, ChainBuilder(sampler, self._floor))

    def _roll_out(self, chain: _Chain, k: int, stop: threading.Event | None = None) -> None:
        """Add candidates until there are `k`, or until `stop` is set."""
        while not chain.ended and len(chain.token_ids) < k and not (stop and stop.is_set()):
            chain.add(self._distribution(chain.context + chain.token_ids))

    def _distribution(self, token_ids: list[int]) -> Tensor:
        """The draft model's distribution [vocabulary] of the token after `token_ids`."""
        return self._sampler.probs(self._reader.logits(token_ids))[0]


@dataclass(slots=True)
class _Chain:
    """A draft in the making and the context that it continues."""

    context: list[int]
    builder: ChainBuilder
    rows: list[Tensor] = field(default_factory=list)  # what its candidates were taken from
    ended: bool = False

    @property
    def token_ids(self) -> list[int]:
        return self.builder.token_ids

    def add(self, row: Tensor) -> None:
        self.ended = not self.builder.add(row)
        if not self.ended:
            self.rows.append(row)


class _Reader:
    """The draft model with its cache: reads what a text adds to the one before."""

    def __init__(self, model: Llama) -> None:
        self._model = model
        self._cache = model.new_cache()
        self._read: list[int] = []

    @property
    def nbytes(self) -> int:
        return self._cache.nbytes

    def forget(self) -> None:
        self._read = []
        self._cache.rollback(0)

    def logits(self, token_ids: list[int]) -> Tensor:
        """Logits [1, vocabulary] of the token after `token_ids`."""
        known = min(_common(self._read, token_ids), len(token_ids) - 1)
        unread = token_ids[known:]
        self._cache.rollback(known)
        self._read = token_ids
        return self._model.forward(unread, self._cache, logits_from=len(unread) - 1).logits


def _common(first: list[int], second: list[int]) -> int:
    """How many tokens both begin with."""
    length = min(len(first), len(second))
    if first[:length] == second[:length]:
        return length
    return next(i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
