"""The title of an HTML export names what is in it, each name once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from specviz.config import EngineKind, RunConfig
from specviz.methods import Method
from specviz.report import export
from specviz.store import Store, open_store
from specviz.store.exchange import Format
from tests.support.store.made import made
from tests.support.store.samples import new_run, record, request_events


def title_of(store: Store, path: Path, *methods: Method) -> str:
    """The title of an export with one run per method, in this order."""
    for number, method in enumerate(methods):
        config = RunConfig(EngineKind.EMBEDDED, method, k=3 if method.value != "baseline" else None)
        record(store, new_run(run_id=f"run{number}", config=config), request_events(1))
    export(store, [f"run{number}" for number in range(len(methods))], Format.HTML, path)
    text = path.read_text(encoding="utf-8")
    (title,), (heading,) = (re.findall(rf"<{tag}>(.*?)</{tag}>", text) for tag in ("title", "h1"))
    assert title == heading
    return str(title)


@pytest.mark.parametrize(
    ("methods", "title"),
    [
        ([Method.NGRAM], "ngram · K 3"),
        ([Method.NGRAM] * 3, "ngram · K 3 (3 times)"),
        ([Method.NGRAM, Method.BASELINE, Method.NGRAM], "ngram · K 3 (2 times), baseline"),
        (
            [
                Method.NGRAM,
                Method.BASELINE,
                Method.EAGLE,
                Method.EAGLE,
                Method.SUFFIX,
                Method.SWIFT,
            ],
            "ngram · K 3, baseline, eagle · K 3 (2 times) and 2 more",
        ),
    ],
)
def test_a_name_is_in_the_title_once(tmp_path: Path, methods: list[Method], title: str) -> None:
    with open_store(made(tmp_path / "runs.duckdb")) as store:
        assert title_of(store, tmp_path / "report.html", *methods) == title
