"""Cells of a made-up benchmark, for the tests of its cost."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from specviz.analysis.benchmark.results import ArmState, Cell, Results, Speedup

SPEEDUP = Speedup(2.0, 1.8, 2.4, prompts=12, excluded=0, basis="time")


def cell(index: int, name: str, per_s: float, **changes: Any) -> Cell:
    """A cell at concurrency 1 and temperature 0 unless given otherwise."""
    empty = Cell(**dict.fromkeys(field.name for field in fields(Cell)) | {"notes": ()})
    return replace(
        empty,
        arm=name,
        arm_index=index,
        method="baseline" if index == 0 else "eagle3",
        temperature=0.0,
        request_throughput=per_s,
        **{"concurrency": 1, "output_throughput": per_s * 50, **changes},
    )


def results(*cells: Cell) -> Results:
    """With arm 0, where there is one, as everyone's baseline."""
    names = {one.arm_index: (one.arm, one.method) for one in cells}
    first = 0 if 0 in names else None
    empty = ArmState(**dict.fromkeys(field.name for field in fields(ArmState)))
    arms = tuple(
        replace(empty, arm=name, arm_index=index, method=method, baseline=first)
        for index, (name, method) in sorted(names.items())
    )
    return Results(arms, cells, (), (), ())
