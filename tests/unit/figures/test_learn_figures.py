"""The Learn page's charts: what is drawn equals what was computed."""

from __future__ import annotations

import numpy as np
import pytest

from specviz.analysis.theory.rejection import Rule, simulate
from specviz.analysis.theory.roofline import Roofline
from specviz.views.learn.figures.formula import Claim, formula_over_k
from specviz.views.learn.figures.rejection import outputs, shared_area
from specviz.views.learn.figures.roofline import speedup_over_batch

TARGET, DRAFT = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])


def test_the_bars_of_a_token_add_up_to_its_probabilities() -> None:
    figure = shared_area(["<a>", "b", "c"], TARGET, DRAFT)
    shared_draft, rejected, shared_target, instead, left = figure.data
    assert list(shared_draft.y) == list(shared_target.y) == [0.2, 0.3, 0.2]
    assert np.array(shared_draft.y) + rejected.y == pytest.approx(DRAFT)
    assert np.array(shared_target.y) + instead.y == pytest.approx(TARGET)
    assert list(rejected.base) == [0.2, 0.3, 0.2]
    assert list(left.y) == pytest.approx([1, 0, 0])
    assert list(left.x) == ["&lt;a&gt;", "b", "c"]
    shown = [trace.name for trace in figure.data if trace.showlegend]
    assert shown == ["accepted", "rejected draft", "drawn instead"]


def test_nothing_is_rejected_where_both_agree() -> None:
    figure = shared_area(["a", "b", "c"], TARGET, TARGET)
    assert "nothing is ever rejected" in [note.text for note in figure.layout.annotations]
    assert list(figure.data[-1].y) == [0, 0, 0]


def test_outputs_stand_over_the_target() -> None:
    found = simulate(TARGET, DRAFT, 1000, 1)
    bars, *rules = outputs(["a", "b", "c"], TARGET, found).data
    assert list(bars.y) == list(TARGET)
    assert [trace.name for trace in rules] == [rule.value for rule in Rule]
    for trace, simulation in zip(rules, found.values(), strict=True):
        lower, upper = simulation.intervals()
        assert list(trace.y) == list(simulation.shares)
        assert trace.y + trace.error_y.array == pytest.approx(upper)
        assert trace.y - trace.error_y.arrayminus == pytest.approx(lower)


def test_the_formula_and_a_claim() -> None:
    claim = Claim("60 % of 8", "a <document>", 0.6, 8, 5.0)
    tokens, speedups, best, claimed = formula_over_k(0.5, 0.25, 3, [claim]).data
    assert list(tokens.y) == [1, 1.5, 1.75, 1.875]
    assert list(speedups.y) == pytest.approx([1, 1.2, 1.75 / 1.5, 1.875 / 1.75])
    assert (best.x[0], best.y[0]) == (1, pytest.approx(1.2))
    assert list(claimed.y) == pytest.approx([5, 2.4748], abs=1e-4)
    assert "&lt;document&gt;" in claimed.hovertext[0]


def test_the_roofline_bends_where_compute_takes_over() -> None:
    roofline = Roofline(70e9, 2, 2000, 312)
    figure = speedup_over_batch(roofline, 0.8, 5, 0.05, [(1, 2.89)])
    speedup, published, verifying, plain, memory = figure.data
    at = {round(batch, 6): value for batch, value in zip(speedup.x, speedup.y, strict=True)}
    assert at[1.0] == at[26.0] == pytest.approx(2.9514, abs=1e-4)
    assert at[64.0] < at[32.0] < at[26.0]
    assert (published.x[0], published.y[0]) == (1, 2.89)
    times = dict(zip(verifying.x, verifying.y, strict=True))
    assert times[1.0] == plain.y[0] == memory.y[0] == pytest.approx(70)
    assert times[512.0] == pytest.approx(6 * plain.y[list(plain.x).index(512.0)])
    lines = sorted({shape.x0 for shape in figure.layout.shapes if shape.x0 == shape.x1})
    assert lines == pytest.approx([26, 156])


def test_a_machine_that_memory_always_bounds_has_no_line() -> None:
    figure = speedup_over_batch(Roofline(1e9, 2, 100, 1000, kv_bytes=1e9), 0.8, 5, 0.05)
    assert not [shape for shape in figure.layout.shapes if shape.x0 == shape.x1]
