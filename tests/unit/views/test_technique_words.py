"""The recommendation as tables: one line per source, nothing lost."""

from __future__ import annotations

from specviz.analysis.advisor.deployment import Deployment
from specviz.analysis.advisor.evidence import Evidence, Figure, Kind
from specviz.analysis.advisor.recommend import recommend
from specviz.views.technique.tables import figures_table, questions_table

HERE, THERE = Evidence(Kind.MEASURED, "here"), Evidence(Kind.PUBLISHED, "there")


def test_figures_stand_in_one_line_per_source() -> None:
    table = figures_table(
        (
            Figure("speed-up", 1.956, "×", HERE, 1.78, 2.15),
            Figure("TPOT P95", 12.34, "ms", HERE),
            Figure("speed-up", 2.89, "×", THERE),
        )
    )
    assert table["speed-up"].to_list() == ["1.78 to 2.15× (1.96×)", "2.89×"]
    assert table["TPOT P95"].to_list() == ["12.3 ms", ""]
    assert table["evidence"].to_list() == ["measured here: here", "published: there"]


def test_no_figures_are_no_lines() -> None:
    assert figures_table(()).empty


def test_every_question_has_a_line() -> None:
    nodes = [*recommend(Deployment(temperature=0.7)).tree.nodes.values()]
    table = questions_table(nodes).set_index("question")
    assert len(table) == len(nodes)
    warm = table.loc["Temperature above 1.0?"]
    assert (warm["answer"], warm["value"], warm["answer from"]) == ("no", "0.7", "entered by you")
    assert "Production benchmark 2026" in warm["rule from"]
