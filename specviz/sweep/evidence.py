"""What is stored about the Ks of one method: its run at the largest K, and a redraft of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from specviz.analysis.k.answers import Answer, Key, by_key, drafting_step, step_ms
from specviz.analysis.k.predict import Prediction, predict
from specviz.analysis.k.redraft import Redraft
from specviz.analysis.k.step_cost import StepCost, fit_step_cost
from specviz.store import Store
from specviz.store.benchmarks.redrafts import (
    StoredAnswer,
    read_answers,
    read_redraft,
    read_step_times,
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """One family of arms (they differ in K only) at one temperature and concurrency.

    `run` are the answers at `k`, the largest that was measured there, `plain` those of the
    baseline, `redrafts` what a redraft found (temperature 0 and concurrency 1 only). `cost` is None
    where step times are known at one K only: acceptance can be predicted then, times cannot.
    """

    k: int
    run: tuple[Answer, ...]
    plain: Mapping[Key, Answer]
    cost: StepCost | None
    redrafts: Mapping[Key, Redraft]

    def of(self, category: str | None) -> Evidence:
        """The same for one category of prompts; None: for all."""
        if category is None:
            return self
        return replace(self, run=tuple(a for a in self.run if a.category == category))

    @property
    def alpha(self) -> float | None:
        """Accepted / judged draft tokens of chains at the largest K, 0-1; None: none was judged."""
        drafted = np.array([count for answer in self.run for count in answer.drafted])
        accepted = np.array([count for answer in self.run for count in answer.accepted])
        judged = int(accepted.sum() + (accepted < drafted).sum())  # one rejection a step at most
        return int(accepted.sum()) / judged if judged else None

    def predictions(self, ks: Sequence[int], *, redrafted: bool) -> tuple[Prediction, ...]:
        """For those `ks` up to the run's own; empty if a redraft is asked for and there is none."""
        smaller = [k for k in ks if k <= self.k]
        if redrafted and not self.redrafts:
            return ()
        drafts = self.redrafts if redrafted else None
        return predict(self.run, self.plain, self.cost, smaller, drafts)


def evidence(
    store: Store,
    benchmark_id: str,
    arms: Mapping[int, int],
    baseline: int | None,
    temperature: float = 0.0,
    concurrency: int = 1,
) -> Evidence | None:
    """From a benchmark's stored requests; `arms` is K by arm index. Raises StoreError.

    None where no arm has a finished request there. Plain decoding is that beside the arm: where not
    all servers fit at once, the baseline is measured with each group, and the groups' times differ
    with the hour.
    """

    def answers(arm: int) -> list[StoredAnswer]:
        return store.read(read_answers, benchmark_id, arm, temperature, concurrency)

    by_arm = {arm: found for arm in arms if (found := answers(arm))}
    if not by_arm:
        return None
    plain = answers(baseline) if baseline is not None else []
    beside = {arm: _Beside.of(found, plain) for arm, found in by_arm.items()}
    largest = max(by_arm, key=lambda arm: arms[arm])
    is_base = temperature == 0 and concurrency == 1
    timed = store.read(read_step_times, benchmark_id, largest) if is_base else []
    times = {float(time.k): time.step_ms for time in timed}
    redrafts = store.read(read_redraft, benchmark_id, largest) if is_base else {}
    return Evidence(
        k=arms[largest],
        run=tuple(beside[largest].run),
        plain=by_key(beside[largest].plain),
        cost=_cost(times, beside[largest], beside.values(), sorted(arms[arm] for arm in by_arm)),
        redrafts=redrafts,
    )


@dataclass(frozen=True, slots=True)
class _Beside:
    """An arm's answers, and those of plain decoding measured side by side with it."""

    run: Sequence[Answer]
    plain: Sequence[Answer]

    @classmethod
    def of(cls, run: Sequence[StoredAnswer], plain: Sequence[StoredAnswer]) -> _Beside:
        """All of plain decoding where none was measured with the arm."""
        groups = {one.server_group for one in run}
        same = [one for one in plain if one.server_group in groups] or plain
        return cls([one.answer for one in run], [one.answer for one in same])

    def drafting_step(self, plain_ms: float | None) -> tuple[float, float] | None:
        """Mean draft tokens and ms of a step that drafts, as if plain decoding took `plain_ms`."""
        own_ms = step_ms(self.plain)
        found = drafting_step(self.run, own_ms)
        if found is None or not own_ms or not plain_ms:
            return found
        tokens, ms = found
        return tokens, ms * plain_ms / own_ms


def _cost(
    times: Mapping[float, float], largest: _Beside, every: Iterable[_Beside], ks: Sequence[int]
) -> StepCost | None:
    """Step times of the redraft, else those of the Ks that were measured, else a line through plain
    decoding and the one K there is."""
    if len([k for k in times if k > 0]) > 1:
        timed = ", ".join(f"{k:g}" for k in sorted(times))
        return fit_step_cost(times, f"steps timed side by side in the redraft at K {timed}")
    plain_ms = step_ms(largest.plain)
    found = (one.drafting_step(plain_ms) for one in every)
    measured = dict(step for step in found if step)
    if plain_ms:
        measured[0] = plain_ms
    if len(measured) < 2:
        return None
    if len(ks) > 1:
        return fit_step_cost(measured, f"steps measured at K {', '.join(map(str, ks))}")
    return fit_step_cost(
        measured,
        f"a line through plain decoding and K {ks[0]}: the first draft token usually costs more, "
        "so that small Ks look better than they are",
    )
