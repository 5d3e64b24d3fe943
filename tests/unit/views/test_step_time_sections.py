"""Where the time goes, on the Runs and the Compare page and in the HTML file, without a browser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from streamlit.testing.v1 import AppTest

from specviz import runtime
from specviz.config import EngineKind, Prompt, Run, RunConfig, RunStatus
from specviz.engines.replay import events_of
from specviz.methods import Method
from specviz.report.content import gather
from specviz.report.page import page as html_page
from specviz.store import RecordedRequest, Store
from specviz.trace import EmittedToken, Fidelity, Lane, Origin, Span, Step, Trace
from tests.support.store.made import made

AT = datetime(2026, 11, 1, tzinfo=UTC)
PLAIN, DRAFTING, SERVER = "plain", "drafting", "server"
SENTENCE = (
    "Each step drafts for 3.00 ms, verifies for 6.00 ms and spends 1.00 ms on everything else; "
    "plain decoding takes 4.00 ms a token. At 2.00 tokens a step that is 5.00 ms a token: slower. "
    "Drafting would have to take less than 1.00 ms a step, or a step give more than 2.50 tokens."
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Plain decoding and a method started together; a run of a server that says nothing."""
    with runtime.opened(made(tmp_path_factory.mktemp("times") / "runs.duckdb")) as opened:
        record(opened.store, PLAIN, Method.BASELINE, trace_of(0.0, 3.5, 0.5, 1))
        record(opened.store, DRAFTING, Method.EAGLE3, trace_of(3.0, 6.0, 1.0, 2))
        record(opened.store, SERVER, None, chunks())
        yield opened.store


def trace_of(draft: float, verify: float, other: float, tokens: int) -> Trace:
    """Ten steps of one shape behind the one that reads the prompt, as the embedded engine has."""
    steps, at = [Step(0, 20.0, (), emitted(0, 1))], 20.0
    for place in range(1, 11):
        drafted = at + other + draft
        spans = (
            Span(Lane.DRAFT, at + other, drafted),
            Span(Lane.VERIFY, drafted, drafted + verify),
        )
        at = drafted + verify
        steps.append(
            Step(place, at, (), emitted(steps[-1].emitted[-1].position + 1, tokens), draft, verify,
                 draft + verify, spans if draft else spans[1:])
        )  # fmt: skip
    return Trace("", Fidelity.TRACED, tuple(steps), (1,), 20.0, at, "length")


def chunks() -> Trace:
    """Chunks of a server that names no step."""
    steps = [Step(n, 20.0 + 5 * n, (), emitted(n, 1)) for n in range(4)]
    return Trace("", Fidelity.INFERRED, tuple(steps), (1,), 20.0, 35.0, "length")


def emitted(start: int, count: int) -> tuple[EmittedToken, ...]:
    return tuple(EmittedToken(start + n, 7, "x", Origin.ACCEPTED) for n in range(count))


def record(store: Store, run_id: str, method: Method | None, trace: Trace) -> None:
    kind = EngineKind.EMBEDDED if method else EngineKind.OPENAI
    config = RunConfig(kind, method, model="m", traced=bool(method))
    group = "together" if method else run_id
    run = Run(run_id, group, config, RunStatus.FINISHED, AT, AT)
    named = replace(trace, request_id=run_id)
    request = RecordedRequest(Prompt("Hi"), tuple(events_of(named)), RunStatus.FINISHED, AT)
    store.ingest(run, [request])


def page(name: str, **query: str) -> str:
    """What the page says, in text and tables."""
    test = AppTest.from_function(navigation, default_timeout=120, kwargs={"first": name})
    for key, value in query.items():
        test.query_params[key] = value
    test.run()
    assert not test.exception
    texts = [*test.markdown, *test.text, *test.info, *test.caption]
    tables = [one.proto.body for one in test.get("html")]
    return "\n".join([*(str(one.value) for one in texts), *tables]).replace("\\", "")


def navigation(first: str) -> None:
    import streamlit as st

    from specviz.paths import PROJECT_ROOT

    names = (first, *({"compare", "runs", "live", "benchmark"} - {first}))
    pages = [PROJECT_ROOT / "pages" / f"{name}.py" for name in names]
    st.navigation([st.Page(path, default=path == pages[0]) for path in pages]).run()


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("runs", {"group": "together", "section": "Where the time goes"}),
        ("compare", {"arms": f"{PLAIN},{DRAFTING}", "compare_section": "Where the time goes"}),
    ],
)
def test_a_page_says_why_a_method_is_slower(store: Store, name: str, query: dict[str, str]) -> None:
    shown = page(name, **query)
    assert SENTENCE in shown
    assert "Plain decoding takes 4.00 ms a token: 3.50 ms for the target's pass" in shown
    for figure in ("everything else ms", ">10.0<", ">8.00<"):  # a step, and plain decoding of it
        assert figure in shown


def test_a_server_without_steps_says_what_is_known(store: Store) -> None:
    shown = page("runs", run=SERVER, section="Where the time goes")
    assert "A token takes 5.00 ms. How long it drafts and verifies is not known." in shown
    assert "No plain decoding to compare with" in shown


def test_times_of_another_engine_are_not_compared(store: Store) -> None:
    arms = f"{SERVER},{PLAIN}"
    shown = page("compare", arms=arms, compare_section="Where the time goes")
    assert "No plain decoding to compare with: the baseline ran on another engine" in shown


def test_the_html_file_has_the_bar_and_the_sentence(store: Store) -> None:
    text = html_page(gather(store, [PLAIN, DRAFTING]))
    assert SENTENCE in text
    assert "draft 3.00 ms · " in text and "plain decoding of as many tokens 8.00 ms" in text
    assert 'x="0.0" width="300.0"' in text and 'class="mark" x="800.0"' in text
