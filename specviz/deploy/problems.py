"""Known problems: which configuration does what, and where that was read.

The table is `data/known_problems.csv`, one row per problem; a new one is a row. A row names the
framework (`triton/vllm`: vLLM behind Triton), the versions from `first` to the series `last`
(empty: no limit known), the methods (empty: all that speculate), when it happens, what happens,
a sentence, the source and its address. Every row was read in the thread, package or repository
that it names.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from specviz.deploy.launch import Remark
from specviz.deploy.request import Request, Use
from specviz.deploy.versions import is_after_series, is_before
from specviz.methods import VLLM
from specviz.paths import DATA

TRITON = "triton"
TABLE = DATA / "known_problems.csv"

EFFECTS = {
    "crash": "the server or the request fails",
    "refused": "the request is refused",
    "wrong": "what comes back is wrong",
    "stuck": "the request does not end",
    "ignored": "it does nothing, without a word",
    "slow": "it costs speed or acceptance",
    "unseen": "it cannot be observed",
    "untested": "nobody tests it",
    "changed": "an option has another name or meaning than elsewhere",
}
"""What can happen, the worst first."""

CIRCUMSTANCES: Mapping[str, Callable[[Request], bool]] = {
    "pipeline_parallel": lambda request: request.pipeline_parallel > 1,
    "k_above_1": lambda request: request.k is not None and request.k > 1,
    "tree": lambda request: request.is_tree,
    "uses_unknown": lambda request: request.uses is None,
}
"""When a problem occurs, besides what requests use (`Use`)."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A row of the table; `methods` is empty for all of them, `when` for always, else any of it."""

    framework: str
    first: str | None
    last: str | None
    methods: tuple[str, ...]
    when: tuple[str, ...]
    remark: Remark

    def applies_to(self, request: Request) -> bool:
        """Whether a request, whose version is set, has this problem."""
        return (
            self.framework in _software(request)
            and request.speculates
            and (not self.methods or request.method in self.methods)
            and self._has_version(request.version)
            and self._occurs(request)
        )

    def _has_version(self, version: str | None) -> bool:
        assert version is not None
        if self.first is not None and is_before(version, self.first):
            return False
        return self.last is None or not is_after_series(version, self.last)

    def _occurs(self, request: Request) -> bool:
        return not self.when or any(_is_so(word, request) for word in self.when)


def _is_so(word: str, request: Request) -> bool:
    if word in CIRCUMSTANCES:
        return CIRCUMSTANCES[word](request)
    return request.uses is None or Use(word) in request.uses


def _software(request: Request) -> set[str]:
    """The words of the table's first column that a server is; behind Triton `triton/vllm`, too."""
    if request.framework != TRITON:
        return {request.framework}
    backend = request.backend or VLLM
    return {TRITON, backend, f"{TRITON}/{backend}"}


def known_problems(request: Request) -> tuple[Remark, ...]:
    """What is known to go wrong with a request, the worst first.

    Where it is not known what requests use, whatever they might use is included.
    """
    found = [problem.remark for problem in problems() if problem.applies_to(request)]
    worst_first = list(EFFECTS)
    return tuple(sorted(found, key=lambda remark: worst_first.index(remark.effect)))


@cache
def problems() -> tuple[Problem, ...]:
    """Every row of the table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return tuple(_problem(row) for row in csv.DictReader(file))


def _problem(row: Mapping[str, str]) -> Problem:
    return Problem(
        framework=row["framework"],
        first=row["first"] or None,
        last=row["last"] or None,
        methods=tuple(row["methods"].split()),
        when=tuple(row["when"].split()),
        remark=Remark(row["text"], row["source"], row["url"] or None, row["effect"]),
    )
