"""The charts of a benchmark: what is drawn equals what was measured."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.benchmark.crossover import crossover
from specviz.analysis.benchmark.families import with_most_ks
from specviz.analysis.benchmark.results import ArmState, Speedup
from specviz.errors import UsageError
from specviz.figures.arms import FAMILY_COLOURS, arm_colours, families, family_colours, pushed_apart
from specviz.palette import BASELINE
from specviz.views.benchmark.figures.distribution import spread, tpot_distribution
from specviz.views.benchmark.figures.k import KLine, KPoint, k_curves
from specviz.views.benchmark.figures.load import LoadLine, throughput_by_concurrency
from specviz.views.benchmark.figures.speedup import Dot, speedup_by_arm, speedup_by_category
from specviz.views.benchmark.figures.temperature import TemperatureLine, acceptance_by_temperature

GAIN = Speedup(1.5, 1.2, 1.9, 20, 0, "time")
UNSURE = Speedup(0.9, None, None, 3, 1, "time")


def arm(index: int, name: str, method: str, k: int | None, engine: str = "embedded") -> ArmState:
    return ArmState(
        name, index, engine, method, k, "demo", None, None, "off", None, 1, 1, None, None
    )


ARMS = [
    arm(0, "baseline", "baseline", None),
    arm(1, "eagle3 · K 8 · tree", "eagle3", 8),
    arm(2, "eagle3 · K 3 · tree", "eagle3", 3),
    arm(3, "eagle3 · K 3 · chain", "eagle3", 3),
    arm(4, "ngram · K 4", "ngram", 4),
]


def test_arms_that_differ_in_k_only_are_a_family_ordered_by_k() -> None:
    found = families(ARMS)
    assert [family.label for family in found] == [
        "baseline",
        "eagle3 · tree",
        "eagle3 · chain",
        "ngram",
    ]
    assert [arm.k for arm in found[1].arms] == [3, 8]


def test_an_arm_held_at_zero_is_no_k_of_its_family_and_the_family_knows_it() -> None:
    held = arm(5, "ngram · K 9 · at 0", "ngram", 9)
    found = {family.label: family for family in families([*ARMS, held])}
    assert found["ngram"].at_zero == held and found["eagle3 · tree"].at_zero is None
    assert [arm.k for arm in found["ngram"].arms] == [4]
    assert found["ngram · at 0"].is_at_zero and not found["ngram"].is_at_zero
    assert with_most_ks([held, ARMS[4]]).label == "ngram"
    with pytest.raises(UsageError, match="no method with a K"):
        with_most_ks([ARMS[0], held])


def test_families_of_two_engines_are_told_apart() -> None:
    both = [arm(0, "ngram · K 3", "ngram", 3), arm(1, "ngram · K 4", "ngram", 4, "vllm")]
    assert [family.label for family in families(both)] == ["ngram · embedded", "ngram · vllm"]


def test_a_family_has_one_hue_that_is_strongest_at_the_largest_k() -> None:
    colours = arm_colours(ARMS)
    assert colours[0] == BASELINE
    assert colours[1].lower() == FAMILY_COLOURS[0].lower()
    assert colours[3].lower() == FAMILY_COLOURS[1].lower()
    assert len(set(colours.values())) == len(ARMS)
    assert family_colours(ARMS)["eagle3 · tree"] == colours[1]


def test_a_chart_of_few_arms_keeps_their_hues() -> None:
    assert arm_colours(ARMS, {2, 4})[2].lower() == FAMILY_COLOURS[0].lower()
    assert arm_colours(ARMS, {2, 4})[4] == arm_colours(ARMS)[4]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=10).map(sorted))
def test_labels_do_not_cover_each_other(values: list[float]) -> None:
    gap = 0.08
    placed = pushed_apart(values, gap, (0.0, 1.0))
    assert all(b - a >= gap * 0.999 for a, b in itertools.pairwise(placed))
    assert placed[0] >= gap / 2 * 0.999 and placed[-1] <= 1.0


def test_labels_with_room_stay_where_their_lines_end() -> None:
    assert pushed_apart([0.2, 0.5], 0.1, (0.0, 1.0)) == [0.2, 0.5]


def test_the_box_is_drawn_from_the_quantiles() -> None:
    one = spread("a <b>", "#009E73", [float(value) for value in range(1, 102)])
    assert (one.p5, one.p25, one.p50, one.p75, one.p95) == (6, 26, 51, 76, 96)
    box, mean = tpot_distribution([one]).data
    assert (box.lowerfence, box.q1, box.median, box.q3, box.upperfence) == (
        (6,),
        (26,),
        (51,),
        (76,),
        (96,),
    )
    assert mean.x == (51.0,)
    assert box.y == ("a &lt;b&gt;",)


def test_a_speed_up_has_its_interval_and_the_baseline_its_line() -> None:
    figure = speedup_by_arm([Dot("a", "a", "#009E73", GAIN), Dot("b", "b", "#0072B2", UNSURE)])
    sure, unsure = figure.data
    assert sure.x == (1.5,)
    assert sure.error_x.array[0] == pytest.approx(0.4)
    assert sure.error_x.arrayminus[0] == pytest.approx(0.3)
    assert unsure.error_x.array[0] is None
    (line,) = figure.layout.shapes
    assert (line.x0, line.x1) == (1.0, 1.0)
    assert "20 prompts" in sure.hovertext[0]


def test_arms_share_a_categorys_band() -> None:
    dots = [
        Dot(row, name, "#009E73", GAIN) for row in ("short_qa", "translation") for name in "abc"
    ]
    figure = speedup_by_category(dots)
    assert [trace.name for trace in figure.data] == ["a", "b", "c"]
    assert list(figure.data[1].y) == [0.0, 1.0]
    assert figure.data[0].y[0] < figure.data[2].y[0] < 0.5
    assert [text.strip() for text in figure.layout.yaxis.ticktext] == ["short_qa", "translation"]


def test_the_crossover_is_marked_on_the_line() -> None:
    base, own = {1: 100.0, 4: 100.0, 16: 100.0}, {1: 300.0, 4: 120.0, 16: 80.0}
    lines = [
        LoadLine("baseline", BASELINE, True, base),
        LoadLine("eagle3", "#009E73", False, own, crossover(base, own)),
    ]
    baseline, arm_line, mark = throughput_by_concurrency(lines).data
    assert baseline.line.dash == "dash" and arm_line.line.dash is None
    assert list(arm_line.x) == [1, 4, 16]
    assert mark.x[0] == pytest.approx(8.0) and mark.y[0] == pytest.approx(100.0)
    assert "pays up to concurrency ~8" in mark.hovertext


def test_an_arm_that_always_pays_has_no_mark() -> None:
    base, own = {1: 100.0, 4: 100.0}, {1: 300.0, 4: 120.0}
    line = LoadLine("eagle3", "#009E73", False, own, crossover(base, own))
    figure = throughput_by_concurrency([line])
    assert len(figure.data) == 1
    assert figure.layout.xaxis.type == "log"
    assert [box.text.split("</span> ")[1] for box in figure.layout.annotations] == ["eagle3"]


def test_the_documents_threshold_is_labelled_as_theirs() -> None:
    figure = acceptance_by_temperature([TemperatureLine("a", "#009E73", {0.0: 0.8, 1.5: 0.4})])
    (line,) = figure.layout.shapes
    assert line.x0 == 1.0
    assert any("published" in box.text for box in figure.layout.annotations)
    assert list(figure.data[0].y) == [0.8, 0.4]
    assert figure.layout.yaxis.range == (0.0, 1.02)


def test_k_curves_leave_out_what_is_not_known() -> None:
    points = (KPoint(1, GAIN, 1.8), KPoint(3, None, 2.5), KPoint(5, UNSURE, None))
    speedups, lengths = k_curves([KLine("eagle3 <x>", "#009E73", points)]).data
    assert (list(speedups.x), list(speedups.y)) == ([1, 5], [1.5, 0.9])
    assert (list(lengths.x), list(lengths.y)) == ([1, 3], [1.8, 2.5])
    assert speedups.name == "eagle3 &lt;x&gt;" and speedups.yaxis != lengths.yaxis


def test_nothing_measured_can_be_drawn() -> None:
    assert throughput_by_concurrency([]).layout.height
    assert acceptance_by_temperature([]).layout.height
    assert speedup_by_arm([]).layout.height and k_curves([]).layout.height
    assert tpot_distribution([]).layout.height
