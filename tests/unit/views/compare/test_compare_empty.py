"""The Compare page where there is nothing to compare, or too much, without a browser."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from specviz import runtime
from specviz.config import EngineKind, Prompt, Run, RunConfig, RunStatus
from specviz.methods import Method
from specviz.store import Store
from specviz.store.runs.tables import insert
from tests.support.store.made import made

AT = datetime(2026, 11, 1, tzinfo=UTC)
FOREIGN = {
    "elsewhere_id": "e",
    "name": "old",
    "tool": "guidellm",
    "file_name": "f",
    "file_sha256": "0",
    "imported_at": datetime(2026, 11, 1),
    "method": "eagle",
    "num_requests": 9,
    "document": "{}",
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Seven runs whose requests are under way, and results from elsewhere."""
    with runtime.opened(made(tmp_path_factory.mktemp("compare") / "runs.duckdb")) as opened:
        for place in range(7):
            start(opened.store, f"r{place}")
        opened.store.write(insert, "elsewhere", FOREIGN)
        yield opened.store


def page(arms: str, section: str = "Texts") -> AppTest:
    test = AppTest.from_function(navigation, default_timeout=120)
    test.query_params["arms"] = arms
    test.query_params["compare_section"] = section
    test.run()
    assert not test.exception
    return test


def navigation() -> None:
    import streamlit as st

    from specviz.paths import PROJECT_ROOT

    names = ("compare", "live", "benchmark", "runs")
    pages = [PROJECT_ROOT / "pages" / f"{name}.py" for name in names]
    st.navigation([st.Page(path, default=path == pages[0]) for path in pages]).run()


def said(test: AppTest) -> str:
    return "\n".join(
        str(one.value) for one in [*test.markdown, *test.text, *test.warning, *test.info]
    )


def test_an_empty_store_says_what_to_do(tmp_path: Path) -> None:
    with runtime.opened(made(tmp_path / "runs.duckdb")):
        test = page("none, \u202ebad<b>")
    assert "Nothing to compare yet" in said(test)
    assert "There is no run none in the database." in said(test)
    assert "There is no run ‹U+202E›bad<b> in the database." in said(test)


def test_one_run_needs_another_and_seven_are_too_many(store: Store) -> None:
    assert "Pick one more to compare it with." in said(page("r0"))
    test = page("r0,r1,r1,r2,r3,r4,r5,r6")
    assert "At most six are compared at once: 1 more" in said(test)
    assert len(test.multiselect[0].value) == 6
    assert "No two of these runs answered the same prompt" in said(test)


@pytest.mark.parametrize(
    ("section", "of_runs", "of_foreign"),
    [
        ("Texts", "No two of these runs", "its texts are not"),
        ("Configuration", "0 differences", "1 difference"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (
                ("Replay", "was kept step by step", "was kept step by step"),
                ("Acceptance by position", "None of these reports", "None of these reports"),
                ("Paired differences", "No finished answer", "Only one of these was recorded"),
            )
        ),
    ],
)
def test_runs_without_an_answer_and_bare_results_have_every_section(
    store: Store, section: str, of_runs: str, of_foreign: str
) -> None:
    assert of_runs in said(page("r0,r1", section))
    assert of_foreign in said(page("e,r0", section))


def start(store: Store, run_id: str) -> None:
    """A run whose request is under way."""
    config = RunConfig(EngineKind.EMBEDDED, Method.BASELINE)
    store.start_run(Run(run_id, run_id, config, RunStatus.RUNNING, AT))
    store.recorder(run_id, Prompt("Hi"))
