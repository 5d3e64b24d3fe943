"""The policy of the K page, on the sample that ships, without a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from specviz import runtime
from specviz.store.shipped import SAMPLE
from specviz.views.k import controls
from specviz.views.shared.benchmark.choice import Offered
from tests.support.store.made import made
from tests.support.store.shipped_sample import by_load


@pytest.fixture(scope="module", autouse=True)
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with runtime.opened(made(tmp_path_factory.mktemp("k") / "runs.duckdb"), sample=SAMPLE):
        yield


def policy(**parameters: str) -> AppTest:
    test = AppTest.from_function(k_page, default_timeout=120)
    test.query_params["k_benchmark"] = by_load()
    test.query_params["k_family"] = "eagle3"
    for name, value in parameters.items():
        test.query_params[name] = value
    test.query_params["k_section"] = "Policy"
    test.run()
    assert not test.exception
    return test


def k_page() -> None:
    import streamlit as st

    from specviz.paths import PROJECT_ROOT

    st.navigation([st.Page(PROJECT_ROOT / "pages" / "k.py", default=True)]).run()


def rests_on(test: AppTest) -> list[str]:
    """The lines of the table below the grid, as HTML."""
    table = next(one.proto.body for one in test.get("html") if "rests on" in one.proto.body)
    return table.partition("<tbody>")[2].split("<tr>")[1:]


def test_the_sample_has_a_table_what_it_rests_on_and_schedules() -> None:
    test = policy()
    grid = test.dataframe[0].value
    assert list(grid.columns) == ["1 request", "2 requests", "3 or more"]
    assert list(grid.index) == ["temperature 0", "up to 0.7", "above 0.7"]
    assert (grid == 5).all().all()
    first, second, *_, last = rests_on(test)
    assert len(rests_on(test)) == 7  # six cells that were measured, and what is above
    assert "predicted: nothing was measured above" in last
    assert "2.24× (" in first
    assert "no interval" in second
    assert '"num_speculative_tokens_per_batch_size": [[1, 4, 5]]' in test.code[0].value
    test.selectbox(key="k_schedule_for").set_value("tensorrt-llm").run()
    assert not test.exception
    assert test.code[0].value == "speculative_config:\n  max_draft_len: 5"


def test_an_slo_makes_it_goodput() -> None:
    test = policy(k_tpot_ms="8")
    assert any("goodput at TPOT up to 8 ms" in one.value for one in test.caption)
    assert any("goodput, req/s" in one.proto.body for one in test.get("html"))


def test_a_link_asks_for_one_k_for_all_temperatures() -> None:
    linked = policy(k_mixed="true")
    assert linked.toggle(key="k_mixed").value
    assert list(linked.dataframe[0].value.index) == ["up to 0.7", "above 0.7"]


def test_a_link_to_a_section_that_needs_a_benchmark_is_harmless_without_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(controls, "offered", lambda *_: Offered(()))
    test = AppTest.from_function(k_page, default_timeout=120)
    test.query_params["k_section"] = "Policy"
    test.run()
    assert not test.exception
    assert any("Start the sweep" in one.label for one in test.button)
