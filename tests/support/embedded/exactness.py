"""Is the output distributed as the target's own sampling? A chi-square test over whole outputs.

The joint distribution of the first tokens is enumerated from the target's conditional
distributions; an output that cannot be is a failure by itself. Cells that expect fewer than
`RARE` samples are counted together. Seeds are fixed, so a result is the same every time.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import chi2
from torch import Tensor

from specviz.config import Sampling
from specviz.engines.embedded import verify as verify_module
from specviz.engines.embedded.draft import Draft
from specviz.engines.embedded.sampler import Sampler
from specviz.trace import ROOT

ALPHA = 1e-4
"""A check fails below this: among a hundred right ones one in a hundred test runs, were the
seeds not fixed."""
RARE = 5.0
WIDEST = 3  # candidates after one token
POOL = 4_000  # draws made at once
REMEMBERED = 2_000  # drafts, with the rows to judge them by
Output = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """Pearson's statistic over `cells` cells, and how likely one as large is by chance."""

    samples: int
    cells: int
    statistic: float
    p_value: float
    impossible: int

    @property
    def passed(self) -> bool:
        return self.impossible == 0 and self.p_value > ALPHA


def joint_distribution(
    after: Callable[[Output], Tensor], vocabulary: int, length: int
) -> NDArray[np.float64]:
    """[vocabulary] * length: the probability of every output, from `after(output so far)`."""
    joint = np.ones((vocabulary,) * length)
    for depth in range(length):
        for prefix in itertools.product(range(vocabulary), repeat=depth):
            row = after(prefix).double().numpy()
            joint[prefix] *= row.reshape((vocabulary,) + (1,) * (length - depth - 1)) / row.sum()
    return joint


def compare(counts: Counter[Output], joint: NDArray[np.float64]) -> Check:
    """The outputs counted against their joint distribution."""
    samples = counts.total()
    observed = np.zeros_like(joint)
    for output, count in counts.items():
        observed[output] = count
    expected = joint * samples
    impossible = int(observed[joint == 0.0].sum())
    common = expected >= RARE
    seen, awaited = observed[common], expected[common]
    rare = (joint > 0.0) & ~common
    if expected[rare].sum() >= RARE:
        seen, awaited = (
            np.append(seen, observed[rare].sum()),
            np.append(awaited, expected[rare].sum()),
        )
    statistic = float(((seen - awaited) ** 2 / awaited).sum())
    p_value = float(chi2.sf(statistic, len(seen) - 1))
    return Check(samples, len(seen), statistic, p_value, impossible)


@dataclass(frozen=True, slots=True)
class Shape:
    """A draft's tree: node i continues `parents[i]`."""

    name: str
    parents: tuple[int, ...]


CHAIN = Shape("chain", (-1, 0))
TREE = Shape("tree", (-1, -1, -1, 0, 0, 1, 1, 1, 2))
"""Three candidates for the first token; two, three and one after them."""
DEEP = Shape("deep tree", (-1, -1, 0, 0, 1, 2, 2, 4))


@dataclass
class TableProblem:
    """A target and a drafter that are tables: distributions after the last two tokens.

    Nothing is computed but the decision under test: drafts and the rows they are judged by are
    made once each and looked up.
    """

    sampler: Sampler
    shape: Shape
    drawn: bool
    vocabulary: int = 6
    seed: int = 0
    _drafts: dict[tuple[Output, ...], tuple[Draft, Tensor]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        size = self.vocabulary
        generator = torch.Generator().manual_seed(self.seed)
        target_logits = 0.9 * torch.randn(size * size, size, generator=generator)
        # the drafter is about as good as a small model: the target's logits and noise
        noise = torch.randn(size * size, size, generator=generator)
        self.target = self.sampler.probs(target_logits)
        self.drafter = self.sampler.probs(0.7 * target_logits + 0.6 * noise)
        self._generator = generator
        self._pools = [self._draws(row) for row in self.drafter]
        self._best = self.drafter.topk(WIDEST).indices.tolist()

    def after(self, output: Output) -> Tensor:
        return self.target[self._row(output)]

    def joint(self, length: int) -> NDArray[np.float64]:
        return joint_distribution(self.after, self.vocabulary, length)

    def sample(self, count: int, length: int) -> Counter[Output]:
        """Outputs of `length` tokens, each from rounds of drafting and judging."""
        counts: Counter[Output] = Counter()
        for _ in range(count):
            output: Output = ()
            while len(output) < length:
                draft, rows = self._draft(output)
                done = verify_module.verify(draft, rows, self.sampler)
                output += *(draft.token_ids[node] for node in done.path), done.next_token
            counts[output[:length]] += 1
        return counts

    def check(self, count: int, length: int = 3) -> Check:
        return compare(self.sample(count, length), self.joint(length))

    def _row(self, output: Output) -> int:
        before, last = (0, 0, *output)[-2:]
        return before * self.vocabulary + last

    def _draft(self, output: Output) -> tuple[Draft, Tensor]:
        """A new draft and the rows to judge it by."""
        texts: list[Output] = []  # every node with the tokens before it
        parents: list[int] = []
        kept: dict[int, int] = {ROOT: ROOT}
        waiting: dict[int, Iterator[int]] = {}
        context = (0, 0, *output)[-2:]
        for node, parent in enumerate(self.shape.parents):
            if parent not in kept:
                continue
            above = context if parent == ROOT else texts[kept[parent]]
            if parent not in waiting:
                waiting[parent] = iter(self._candidates(self._row(above)))
            token = next(waiting[parent], None)
            if token is not None:  # top-p may leave fewer candidates than the shape asks for
                kept[node] = len(texts)
                texts.append((*above, token))
                parents.append(kept[parent])
        key = (context, *texts)
        if (made := self._drafts.get(key)) is None:
            made = self._made(context, texts, parents)
            if len(self._drafts) < REMEMBERED:
                self._drafts[key] = made
        return made

    def _made(
        self, context: Output, texts: list[Output], parents: list[int]
    ) -> tuple[Draft, Tensor]:
        token_ids = tuple(text[-1] for text in texts)
        drawn_from = self.drafter[[self._row(text[:-1]) for text in texts]]
        own = drawn_from[range(len(texts)), token_ids].tolist()
        rows = self.target[[self._row(text) for text in (context, *texts)]]
        return Draft(
            token_ids, tuple(parents), tuple(own), drawn_from if self.drawn else None
        ), rows

    def _candidates(self, row: int) -> list[int]:
        return next(self._pools[row]) if self.drawn else self._best[row]

    def _draws(self, probs: Tensor) -> Iterator[list[int]]:
        """Draws without replacement, as `Sampler.draw_distinct`, many at a time."""
        count = min(WIDEST, int((probs > 0).sum()))
        while True:
            many = probs.expand(POOL, -1)
            yield from torch.multinomial(many, count, generator=self._generator).tolist()


def problem(shape: Shape, *, drawn: bool, temperature: float, seed: int = 11) -> TableProblem:
    """Top-p 0.9 on both sides, as `Sampler` applies it."""
    sampling = Sampling(temperature=temperature, top_p=0.9, seed=seed)
    return TableProblem(Sampler(sampling, torch.device("cpu")), shape, drawn)
