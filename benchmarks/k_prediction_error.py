"""How far a run cut short is off, against exact redrafts, by kind of text.

Answers of the embedded engine are drafted again at every token with K = 15, which gives the exact
steps of every smaller K. The prediction sees the steps at the largest K only. What it is off by is
learnt on some kinds of text and held against the others, with several seeds; what is shipped
(`data/k_prediction_error.json`) is learnt on all. The error of times is that of measured sweeps
whose steps are exact: two of the embedded engine, which times several Ks side by side (`SWEEPS`:
the earlier is off by twice as much as the other), and of vLLM servers (`k_prediction_vllm.json`),
where it is a line through plain decoding and one K; that is learnt on one method and held against
the other.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.results_file import add_save_option, load, save
from specviz.analysis.interval import student_quantile
from specviz.analysis.k import own_error
from specviz.analysis.k.answers import Answer
from specviz.analysis.k.own_error import steps_error
from specviz.analysis.k.predict import predict
from specviz.analysis.k.redraft import Redraft, steps_at
from specviz.config import EngineKind, RunConfig, Sampling
from specviz.engines.redraft import open_embedded_arm, redraftable
from specviz.methods import Method
from specviz.prompts.shipped import CATEGORIES, load_prompts
from specviz.trace import Step

SWEEPS = ("k_prediction", "k_prediction_earlier")
"""Result files, of code and demo models that differ."""
LARGEST = 15
RUNS_AT = (15, 10, 7, 5)
"""Largest Ks that runs are cut short from."""
MAX_TOKENS = 64
EVERY = 4
"""Prompts of a category are taken at this distance."""
UP_TO = (1 / 3, 2 / 3, 1.0)
"""Ranges of K over the run's K; errors of a range are learnt together."""
HELD_OUT = 3
DRAWS = 20
"""Samples of the held-out prompts by seed and split."""
WIDTH = student_quantile(0.975, 23)
"""Of an interval over the 24 prompts of a measured sweep, in standard errors."""


@dataclass(frozen=True)
class Answered:
    """One answer, drafted again at every token."""

    method: str
    category: str
    redraft: Redraft


def measure(methods: Sequence[Method], prompts: int) -> Iterator[Answered]:
    """`prompts` of each category with each method."""
    for method in methods:
        engine = open_embedded_arm(redraftable(RunConfig(EngineKind.EMBEDDED, method, k=LARGEST)))
        for place in range(prompts):
            for category in CATEGORIES:
                prompt = load_prompts(category)[place * EVERY + 2]
                events = engine.events(prompt, Sampling(max_tokens=MAX_TOKENS))
                steps = [event for event in events if isinstance(event, Step)]
                answer = [token.token_id for step in steps for token in step.emitted]
                known = [token for token in answer if token is not None]
                yield Answered(method.value, category, engine.redraft(prompt, known))
            print(f"{method.value}: {place + 1} of {prompts} prompts per category", flush=True)


def learn(answers: Sequence[Answered]) -> list[dict[str, float]]:
    """For each range: the error of a kind of text, and that of one answer (see `own_error`)."""
    found = []
    for low, up_to in zip((0.0, *UP_TO), UP_TO, strict=False):
        kinds, singles, sizes = [], [], []
        for k, largest in _pairs(low, up_to):
            for method in {one.method for one in answers}:
                for category in {one.category for one in answers}:
                    own = [
                        one.redraft
                        for one in answers
                        if (one.method, one.category) == (method, category)
                    ]
                    steps = np.array([_steps(one, k, largest) for one in own])
                    if len(own) < 2 or not steps.all():
                        continue
                    totals = steps.sum(axis=0)
                    kinds.append(np.log(totals[0] / totals[1]))
                    away = (steps[:, 0] - steps[:, 1] * totals[0] / totals[1]) / totals[1]
                    singles.append(float((away**2).sum()) * len(own) / (len(own) - 1))
                    sizes.append(len(own))
        of_answer = float(np.mean(np.array(singles) * np.array(sizes)))
        of_kind = float(np.mean(np.square(kinds))) - float(np.mean(singles))
        floor = (0.25**2) * float(np.mean(np.square(kinds)))  # never as if kinds were all alike
        found.append(
            {
                "up_to": up_to,
                "kind": round(max(of_kind, floor) ** 0.5, 4),
                "answer": round(of_answer**0.5, 4),
            }
        )
    return found


def time_error() -> float:
    """Root mean square of what predicted speed-ups are off where the steps are exact."""
    every = [offs for sweep in SWEEPS for offs in _time_offs(sweep).values()]
    return _size([off for offs in every for _, off in offs])


def line_error(methods: Collection[str]) -> list[dict[str, float]]:
    """The same for step times on a line through plain decoding and one K, by range."""
    offs = [
        one for method, found in _time_offs("k_prediction_vllm").items()
        if method in methods for one in found
    ]  # fmt: skip
    return [
        {"up_to": up_to, "error": _size([off for ratio, off in offs if low < ratio <= up_to])}
        for low, up_to in zip((0.0, *UP_TO), UP_TO, strict=False)
    ]


def held_out_line() -> list[dict[str, Any]]:
    """Measured speed-ups of each method on vLLM inside the error learnt on the others."""
    every = _time_offs("k_prediction_vllm")
    rows = []
    for method, offs in every.items():
        learnt = line_error([other for other in every if other != method])
        errors = [next(e["error"] for e in learnt if ratio <= e["up_to"]) for ratio, _ in offs]
        inside = [abs(off) <= WIDTH * error for (_, off), error in zip(offs, errors, strict=True)]
        largest = max(abs(off) for _, off in offs)
        rows.append(
            {
                "method": method,
                "checks": len(offs),
                "inside": float(np.mean(inside)),
                "largest_off": float(np.expm1(largest)),
            }
        )
    return rows


def _time_offs(name: str) -> dict[str, list[tuple[float, float]]]:
    """By method: K over the run's K, and the log of predicted over measured speed-up where the
    steps are exact."""
    figures = load(name)
    assert figures is not None
    names = ("replayed exactly", "redrafted exactly")
    return {
        method: [
            (row["k"] / LARGEST, float(np.log1p(row["speedup_off"])))
            for row in rows
            if row["source"] in names and row["speedup_off"] is not None
        ]
        for method, rows in figures["rows"].items()
    }


def _size(offs: Sequence[float]) -> float:
    return round(float(np.sqrt(np.mean(np.square(offs)))), 4)


def held_out(answers: Sequence[Answered], seeds: Sequence[int]) -> list[dict[str, Any]]:
    """How often exact figures are inside the interval of predictions on kinds of text that the
    error was not learnt on: every split of the categories, prompts drawn with each seed."""
    splits = list(combinations(sorted({one.category for one in answers}), HELD_OUT))
    rows = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        inside = alone = counted = 0
        for others in splits:
            learnt = learn([one for one in answers if one.category not in others])
            rest = [one for one in answers if one.category in others]
            with _using(learnt):
                for _ in range(DRAWS):
                    held, by_itself, of = _held(rng, rest)
                    inside, alone, counted = inside + held, alone + by_itself, counted + of
        rows.append({"seed": seed, "splits": len(splits), "checks": counted,
                     "inside": inside / counted, "inside_own_error": alone / counted})  # fmt: skip
    return rows


def _held(rng: np.random.Generator, answers: Sequence[Answered]) -> tuple[int, int, int]:
    """One method, one largest K, 5 to 12 different prompts: acceptance length at all smaller K. How
    many exact ones are in the interval, in that of the method's own error alone, and of how many.
    """
    method = str(rng.choice(sorted({one.method for one in answers})))
    own = [one for one in answers if one.method == method]
    largest = int(rng.choice(RUNS_AT))
    size = int(rng.integers(5, min(12, len(own)) + 1))
    chosen = [own[int(place)] for place in rng.choice(len(own), size, replace=False)]
    run = [_run(index, one.redraft, largest) for index, one in enumerate(chosen)]
    inside = alone = counted = 0
    for found in predict(run, {}, None, range(1, largest)):
        exact = [steps_at(one.redraft, found.k) for one in chosen]
        drafts = sum(len(one.accepted) for one in exact)
        figure = found.mean_acceptance_length
        if not drafts or figure.low is None or figure.high is None:
            continue
        length = 1 + sum(sum(one.accepted) for one in exact) / drafts
        error = steps_error(found.k / max(max(one.drafted, default=1) for one in run), size)
        inside += figure.low <= length <= figure.high
        alone += abs(np.log(length / figure.value)) <= student_quantile(0.975, size - 1) * error
        counted += 1
    return inside, alone, counted


def _run(index: int, redraft: Redraft, largest: int) -> Answer:
    at = steps_at(redraft, largest)
    return Answer(
        (index, 0), None, redraft.output_tokens, 1.0, 1.0 + at.num_steps, at.drafted, at.accepted,
        at.num_steps + 1,
    )  # fmt: skip


def _steps(redraft: Redraft, k: int, largest: int) -> tuple[float, float]:
    """Steps at K = k: of the run at `largest` cut short, and exact."""
    run = steps_at(redraft, largest)
    tokens = redraft.output_tokens - 1
    beyond = max(0, sum(run.accepted) + run.num_steps - tokens)
    kept = sum(min(accepted, k) for accepted in run.accepted)
    if not run.num_steps:
        return 0.0, 0.0
    cut = run.num_steps * (tokens + min(beyond, k)) / (kept + run.num_steps)
    return cut, float(steps_at(redraft, k).num_steps)


def _pairs(low: float, up_to: float) -> Iterator[tuple[int, int]]:
    for largest in RUNS_AT:
        for k in range(1, largest):
            if low < k / largest <= up_to:
                yield k, largest


@contextmanager
def _using(learnt: list[dict[str, float]]) -> Iterator[None]:
    """Predictions within use these errors."""
    kept = own_error.learnt
    own_error.learnt = lambda: kept() | {"steps": learnt}  # type: ignore[assignment]
    try:
        yield
    finally:
        own_error.learnt = kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--method", type=Method, nargs="*",
        default=[Method.EAGLE3, Method.DRAFT_MODEL, Method.NGRAM],
    )  # fmt: skip
    parser.add_argument("--prompts", type=int, default=4, help="of each category")
    parser.add_argument("--seeds", type=int, nargs="*", default=[1, 2, 3, 4, 5])
    parser.add_argument("--answers", type=Path, help="keep the redrafts here; read if it exists")
    parser.add_argument("--ship", action="store_true", help=f"write {own_error.LEARNT.name}")
    add_save_option(parser, "k_prediction_error")
    asked = parser.parse_args()
    if asked.answers and asked.answers.exists():
        rows = map(json.loads, asked.answers.read_text("utf-8").splitlines())
        answers = [Answered(r["method"], r["category"], Redraft(**r["redraft"])) for r in rows]
    else:
        answers = list(measure(asked.method, asked.prompts))
        if asked.answers:
            lines = (json.dumps(asdict(one)) for one in answers)
            asked.answers.write_text("\n".join(lines) + "\n", "utf-8")
    line = line_error(_time_offs("k_prediction_vllm"))
    learnt = {"time": time_error(), "line": line, "steps": learn(answers)}
    if asked.ship:
        own_error.LEARNT.write_text(json.dumps(learnt, indent=1) + "\n", "utf-8")
    figures = {
        **learnt,
        "held_out": held_out(answers, asked.seeds),
        "held_out_line": held_out_line(),
    }
    print(json.dumps(figures, indent=1))
    if asked.save:
        figures["methods"] = [method.value for method in asked.method]
        save(asked.save, figures, prompts=asked.prompts * len(CATEGORIES))


if __name__ == "__main__":
    main()
