"""Thresholds for a router that switches speculation on and off as load and requests change."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from specviz.analysis.advisor.evidence import Evidence, Kind
from specviz.analysis.advisor.measured import Measured, Option
from specviz.analysis.advisor.rules import rule
from specviz.methods import Method


@dataclass(frozen=True, slots=True)
class Limit:
    """Switch on at `on` and below, off at `off`; between them leave it as it is.

    None: not known.
    """

    on: float | None
    off: float | None
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Router:
    """Off at a concurrency of `concurrency.off` and above; at temperatures above the other."""

    method: Method
    k: int | None
    concurrency: Limit
    temperature: Limit

    def toml(self) -> str:
        """A block to copy; what is not known is a comment that says so."""
        lines = ["[speculation]", f"method = {json.dumps(self.method.value)}"]
        lines += [f"num_speculative_tokens = {self.k}"] if self.k else []
        lines += ["", "[speculation.concurrency]", *_lines(self.concurrency, "off_from")]
        lines += ["", "[speculation.temperature]", *_lines(self.temperature, "off_above")]
        return "\n".join(lines) + "\n"


def router(
    method: Method, k: int | None, measured: Measured | None, chosen: Option | None
) -> Router:
    """Measured limits where the chosen arm has speed-ups at several loads or temperatures, else
    the rules of thumb."""
    if measured is None or chosen is None:
        return Router(method, k, _concurrency([], ""), _temperature([], ""))
    same = [
        one for one in measured.options if one.arm == chosen.arm and one.category == chosen.category
    ]
    by_load = [one for one in same if one.temperature == chosen.temperature]
    lightest = min(one.concurrency for one in same)
    by_warmth = [one for one in same if one.concurrency == lightest]
    source = f"{measured.source}, {chosen.arm}"
    return Router(
        method,
        k,
        _concurrency(by_load, f"{source}, temperature {chosen.temperature:g}"),
        _temperature(by_warmth, f"{source}, concurrency {lightest}"),
    )


def _concurrency(options: Sequence[Option], source: str) -> Limit:
    points = {one.concurrency: one for one in options}
    limit = rule("concurrency_off")
    if len(points) < 2:
        return Limit(limit.threshold - 1, limit.threshold, limit.evidence)
    # Between two loads the speed-up is taken as linear in log2 of the concurrency.
    low = _falls_to_one([(math.log2(c), one.speedup.low) for c, one in sorted(points.items())])
    high = _falls_to_one([(math.log2(c), one.speedup.high) for c, one in sorted(points.items())])
    most = max(points)
    text = f"{source}: where the 95 % interval of the speed-up reaches 1×"
    if high is None:
        text += f"; not crossed up to {most}, not measured beyond"
    return Limit(
        most if low is None else math.floor(2**low + 1e-9),
        None if high is None else math.ceil(2**high - 1e-9),
        Evidence(Kind.MEASURED, text),
    )


def _temperature(options: Sequence[Option], source: str) -> Limit:
    points = {one.temperature: one for one in options}
    limit = rule("temperature_off")
    if len(points) < 2:
        return Limit(limit.threshold, limit.threshold, limit.evidence)
    low = _falls_to_one([(t, one.speedup.low) for t, one in sorted(points.items())])
    high = _falls_to_one([(t, one.speedup.high) for t, one in sorted(points.items())])
    text = f"{source}: where the 95 % interval of the speed-up reaches 1×"
    if high is None:
        text += f"; not crossed up to {max(points):g}, not measured beyond"
    return Limit(
        max(points) if low is None else round(low, 2),
        None if high is None else round(high, 2),
        Evidence(Kind.MEASURED, text),
    )


def _falls_to_one(points: Sequence[tuple[float, float | None]]) -> float | None:
    """Where the line through the points first comes down to 1; the first place if it starts
    there, None if it stays above. A point without an interval counts as 1."""
    known = [(place, 1.0 if bound is None else bound) for place, bound in points]
    if known[0][1] <= 1:
        return known[0][0]
    for (left, before), (right, after) in pairwise(known):
        if after <= 1:
            return left + (right - left) * (before - 1) / (before - after)
    return None


def _lines(limit: Limit, off: str) -> list[str]:
    lines = [f"# {_one_line(str(limit.evidence))}"]
    for name, value in (("on_up_to", limit.on), (off, limit.off)):
        lines.append(f"# {name} is not known" if value is None else f"{name} = {value:g}")
    return lines


def _one_line(text: str) -> str:
    return " ".join(text.split())
