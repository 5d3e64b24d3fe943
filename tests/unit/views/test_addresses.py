"""Addresses, stored names and servers' words are shown as they are written: none is Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from google.protobuf.message import Message
from streamlit.testing.v1 import AppTest

from specviz import runtime
from specviz.config import EngineKind, Prompt, Run, RunConfig, RunStatus
from specviz.engines.replay import events_of
from specviz.methods import Method
from specviz.store import RecordedRequest, Store
from specviz.store.named_servers import NamedServer, put_server
from specviz.store.runs.tables import insert, update
from specviz.trace import EmittedToken, Fidelity, Origin, Step, Trace
from tests.support.store.made import made

IMAGE = "![x](http://evil.test/x.png)"
LOADS = re.compile(r"(?<!\\)!\[x\]|(?<!\\)\[x\]\(")
"""Markdown that loads an image, or links somewhere."""

MARKDOWN = ("body", "label", "help", "content", "delta", "caption")
"""The fields of elements in which Streamlit renders Markdown; cells of a static table do too."""

PLAIN = ("text", "code", "html")

ADDRESSES = [
    ("runs", {"run": IMAGE}),
    ("runs", {"group": IMAGE}),
    ("runs", {"group": "group"}),
    ("runs", {"elsewhere": IMAGE}),
    ("runs", {"elsewhere": "foreign"}),
    ("benchmark", {"benchmark": IMAGE}),
    ("compare", {"arms": IMAGE}),
    ("servers", {}),
    *(
        pytest.param(name, parameters, marks=pytest.mark.slow)
        for name, parameters in [
            ("runs", {"run": "hostile", "request": IMAGE}),
            ("runs", {"runs_text": IMAGE, "runs_tags": IMAGE, "runs_methods": IMAGE}),
            ("compare", {"arms": "hostile,foreign", "compare_section": "Configuration"}),
            ("live", {"job": IMAGE}),
            ("query", {"sql": f'SELECT 1 AS "{IMAGE}"', "query_kind": IMAGE}),
            ("query", {"sql": IMAGE}),
            ("query", {"question": IMAGE}),
            ("k", {"k_benchmark": IMAGE, "k_source": IMAGE}),
            ("cost", {"cost_benchmark": IMAGE, "cost_source": IMAGE}),
            ("technique", {"text": IMAGE, "benchmark": IMAGE, "draft": IMAGE}),
            ("learn", {"learn_run": IMAGE, "learn_method": IMAGE}),
        ]
    ),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A run and a result from elsewhere, hostile in every text that somebody else writes."""
    with runtime.opened(made(tmp_path_factory.mktemp("hostile") / "runs.duckdb")) as opened:
        config = RunConfig(
            EngineKind.EMBEDDED,
            Method.NGRAM,
            3,
            model=IMAGE,
            server_version=IMAGE,
            hardware=IMAGE,
            prompt_set=IMAGE,
            options={"dtype": IMAGE, "acceptance": "typical"},
        )
        emitted = (EmittedToken(0, 1, IMAGE, Origin.TARGET),)
        trace = Trace("r", Fidelity.INFERRED, (Step(0, 1.0, (), emitted),), (1,), 1.0, 2.0, "stop")
        at = datetime.now(UTC)
        for run_id, dtype in (("hostile", IMAGE), ("other", "float32")):
            one = replace(config, options={**config.options, "dtype": dtype})
            run = Run(run_id, "group", one, RunStatus.PARTIAL, at, at, error=IMAGE)
            events = tuple(events_of(replace(trace, request_id=run_id)))
            prompt = Prompt(IMAGE, category=IMAGE)
            request = RecordedRequest(prompt, events, RunStatus.PARTIAL, at, error=IMAGE)
            opened.store.ingest(run, [request])
        names = {"name": IMAGE, "note": IMAGE, "tags": [IMAGE]}
        opened.store.write(update, "runs", names, "run_id", "hostile")
        foreign = {
            **names, "elsewhere_id": "foreign", "tool": IMAGE, "file_name": IMAGE,
            "file_sha256": "0", "imported_at": datetime(2026, 11, 1), "method": IMAGE,
            "num_requests": 9, "document": "{}",
        }  # fmt: skip
        opened.store.write(insert, "elsewhere", foreign)
        server = NamedServer(IMAGE, "http://127.0.0.1:9", at, labels=(IMAGE,))
        opened.store.write(put_server, server, None)
        yield opened.store


def navigation(first: str) -> None:
    import streamlit as st

    from specviz.views.shared.pages import PAGES

    pages = [st.Page(page.path, default=page.name == first) for page in PAGES.values()]
    st.navigation(pages).run()


def opened(page: str, parameters: dict[str, str]) -> AppTest:
    test = AppTest.from_function(navigation, kwargs={"first": page}, default_timeout=120)
    test.query_params.update(parameters)
    test.run()
    assert not test.exception, test.exception
    return test


def markdown_of(node: Any) -> Iterator[str]:
    """Everything that the page's elements hand to a Markdown renderer."""
    for child in getattr(node, "children", {}).values():
        yield from markdown_of(child)
    proto = getattr(node, "proto", None)
    kind = getattr(node, "type", "")
    if isinstance(proto, Message) and kind not in PLAIN:
        yield from fields_of(proto)
    if kind == "table":
        yield proto.arrow_data.data.decode(errors="replace")


def fields_of(proto: Message) -> Iterator[str]:
    for field, value in proto.ListFields():
        for one in value if field.is_repeated else (value,):
            if isinstance(one, Message):
                yield from fields_of(one)
            elif isinstance(one, str) and field.name in MARKDOWN:
                yield one


@pytest.mark.parametrize(("name", "parameters"), ADDRESSES)
def test_an_address_or_a_stored_name_loads_nothing(
    store: Store, name: str, parameters: dict[str, str]
) -> None:
    for text in markdown_of(opened(name, parameters)._tree):
        assert not LOADS.search(text), text


def test_a_servers_words_load_nothing() -> None:
    test = AppTest.from_function(facts, default_timeout=120, args=(IMAGE,)).run()
    assert not test.exception
    texts = [*markdown_of(test._tree)]
    assert any("evil" in text for text in texts)
    assert not any(LOADS.search(text) for text in texts)


def facts(image: str) -> None:
    from datetime import UTC, datetime

    from specviz.fleet.health import Health
    from specviz.servers.capabilities import Capabilities
    from specviz.servers.client.probe import FoundServer
    from specviz.servers.kinds import OPENAI
    from specviz.views.servers.about import facts_section

    found = FoundServer("http://127.0.0.1:1", image, (image,), OPENAI, Capabilities(), image)
    facts_section(image, Health(found.url, datetime.now(UTC), found))
