"""Search for the sublayers that a model can best do without, by random and Bayesian steps.

SWIFT (arXiv 2410.06916, section 4.1): the outer layers stay, a fixed share of the sublayers between
them is skipped; most steps try a random set, every 25th the one that a Gaussian process over all
sets tried so far promises most (upper confidence bound). The authors maximise the bound over a cube
and round to a set; here it is maximised over a few hundred sets.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from sys import getsizeof

import torch
from torch import Tensor

from specviz.engines.embedded.model import Sublayers

Point = tuple[bool, ...]
"""What is skipped: attention of the layers in between, then their MLPs."""


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """The authors' settings (https://github.com/hemingkx/SWIFT, `eval_llama.sh`).

    Their limits on steps are for 76 sublayers (LLaMA-2-13B) and are given here per sublayer:
    1000 and 300 there, 158 and 47 for a model of eight layers.
    """

    skip_ratio: float = 0.45
    bayes_interval: int = 25
    good_enough: float = 0.95
    steps_per_sublayer: float = 1000 / 76
    patience_per_sublayer: float = 300 / 76
    kappa: float = 2.5
    noise: float = 1e-2
    candidates: int = 256
    seed: int = 1


class LayerSearch:
    """The best set so far, and what to try next. The caller measures."""

    def __init__(
        self, layers: int, settings: SearchSettings, first: Sublayers | None = None
    ) -> None:
        """`first`: the set to begin with, by default the authors'."""
        self._layers = layers
        self._settings = settings
        self._slots = 2 * max(0, layers - 2)
        self._count = int(self._slots * settings.skip_ratio)
        self._random = random.Random(settings.seed)
        self._tried: list[Point] = []
        self._scores: list[float] = []
        self._steps = self._in_vain = 0
        self.best = first or every_other(layers)
        self.best_score = 0.0

    @property
    def done(self) -> bool:
        """Whether the best set is good enough, or is unlikely to get better."""
        settings = self._settings
        return (
            self._count == 0
            or self.best_score >= settings.good_enough
            or self._steps >= settings.steps_per_sublayer * self._slots
            or self._in_vain >= settings.patience_per_sublayer * self._slots
        )

    @property
    def nbytes(self) -> int:
        """Bytes of the sets tried, with their scores."""
        return sum(map(getsizeof, self._tried)) + sum(map(getsizeof, self._scores))

    def rate_best(self, score: float) -> None:
        """The best set's score on a new text, with which others are compared from now on."""
        self.best_score = score

    def resume(self) -> None:
        """Search on, with all that is known."""
        self._steps = self._in_vain = 0

    def suggest(self) -> Point:
        """What to try next."""
        if self._tried and (self._steps + 1) % self._settings.bayes_interval == 0:
            return self._most_promising()
        return self._any()

    def learn(self, point: Point, score: float) -> None:
        """`point` was measured: it becomes the best set if it is better."""
        self._tried.append(point)
        self._scores.append(score)
        self._steps += 1
        self._in_vain += 1
        if score > self.best_score:
            self.best, self.best_score, self._in_vain = self.sublayers(point), score, 0

    def sublayers(self, point: Point) -> Sublayers:
        """What runs when `point` is skipped."""
        between = self._slots // 2
        attention, mlp = point[:between], point[between:]
        return Sublayers(
            (True, *(not skipped for skipped in attention), True),
            (True, *(not skipped for skipped in mlp), True),
        )

    def _any(self) -> Point:
        skipped = set(self._random.sample(range(self._slots), self._count))
        return tuple(slot in skipped for slot in range(self._slots))

    def _most_promising(self) -> Point:
        candidates = [self._any() for _ in range(self._settings.candidates)]
        mean, deviation = posterior(
            _matrix(self._tried),
            torch.tensor(self._scores, dtype=torch.float64),
            _matrix(candidates),
            scale=math.sqrt(self._count),
            noise=self._settings.noise,
        )
        return candidates[int((mean + self._settings.kappa * deviation).argmax())]


def every_other(layers: int) -> Sublayers:
    """The authors' first set: layers 1, 3, 5 … are skipped, never the last."""
    run = tuple(layer % 2 == 0 or layer == layers - 1 for layer in range(layers))
    return Sublayers(run, run)


def posterior(
    tried: Tensor, scores: Tensor, points: Tensor, *, scale: float, noise: float
) -> tuple[Tensor, Tensor]:
    """Mean and deviation [m] at `points` [m, d] of a Gaussian process through `tried` [n, d].

    Matérn kernel with nu = 5/2 on standardised scores, as in the authors' optimiser (Rasmussen and
    Williams, Gaussian Processes for Machine Learning, 2006, algorithm 2.1 and equation 4.17).
    """
    spread = max(float(scores.std(correction=0)), 1e-6)
    centred = (scores - scores.mean()) / spread
    covariance = _matern(tried, tried, scale)
    covariance.diagonal().add_(noise)
    factor = torch.linalg.cholesky(covariance)
    across = _matern(tried, points, scale)
    weights = torch.cholesky_solve(centred[:, None], factor)[:, 0]
    explained = torch.linalg.solve_triangular(factor, across, upper=False)
    variance = (1.0 - explained.square().sum(0)).clamp_(min=0.0)
    return across.T @ weights * spread + scores.mean(), variance.sqrt() * spread


def _matern(first: Tensor, second: Tensor, scale: float) -> Tensor:
    distance = math.sqrt(5.0) / scale * torch.cdist(first, second)
    return (1.0 + distance + distance.square() / 3.0) * torch.exp(-distance)


def _matrix(points: list[Point]) -> Tensor:
    return torch.tensor(points, dtype=torch.float64)
