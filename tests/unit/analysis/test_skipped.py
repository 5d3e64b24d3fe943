"""The grid of skipped sublayers."""

from __future__ import annotations

from specviz.analysis.skipped import skipped_layers
from specviz.trace import Step


def step(index: int, *names: str, reported: bool = True) -> Step:
    return Step(index, 0.0, (), (), skipped_layers=names if reported else None)


def test_the_grid_has_every_sublayer_up_to_the_highest_skipped_one() -> None:
    grid = skipped_layers(
        [step(0, reported=False), step(1, "mlp 1"), step(2, "attention 0", "mlp 1")]
    )
    assert grid is not None
    assert grid.sublayers == ("attention 0", "mlp 0", "attention 1", "mlp 1")
    assert [one.index for one in grid.steps] == [1, 2]
    assert grid.skipped == ((False, True), (False, False), (False, False), (True, True))


def test_nothing_skipped_is_an_empty_grid_and_not_told_is_none() -> None:
    assert skipped_layers([step(0, reported=False)]) is None
    empty = skipped_layers([step(0)])
    assert empty is not None and empty.sublayers == ()


def test_a_name_of_another_form_is_a_row_of_its_own() -> None:
    grid = skipped_layers([step(0, "block 3", "mlp 0")])
    assert grid is not None
    assert grid.sublayers == ("attention 0", "mlp 0", "block 3")
