"""The export control prepares what was asked for, the import control says what became of a file."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from specviz.store import Store, open_store
from specviz.store.exchange import Format, Imported, export
from specviz.views.shared.exchange import NOT_GIVEN, _imported
from specviz.views.shared.export_file import ExportFile
from tests.support.store.exchange_samples import filled
from tests.support.store.made import made


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(made(tmp_path_factory.mktemp("views") / "runs.duckdb")) as opened:
        filled(opened)
        yield opened


def drawn(store: Store, ids: list[str]) -> AppTest:
    def script(store, ids):  # type: ignore[no-untyped-def]
        from specviz.views.shared import exchange

        exchange.SOON_S = 30.0
        exchange.export_control(store, ids)

    return AppTest.from_function(script, kwargs={"store": store, "ids": ids}, default_timeout=120)


def test_nothing_is_prepared_before_it_is_asked_for(store: Store) -> None:
    app = drawn(store, ["plain"]).run()
    assert not app.exception and not app.get("download_button")
    app.button[0].click().run()
    (button,) = app.get("download_button")
    assert button.proto.label.startswith("Download ")
    app.selectbox[0].set_value(Format.CSV).run()
    assert not app.get("download_button")  # it was HTML
    app.button[0].click().run()
    assert app.get("download_button")


def test_nothing_to_export(store: Store) -> None:
    app = drawn(store, []).run()
    assert not app.exception and app.button[0].disabled


def test_why_a_file_cannot_be_prepared(store: Store) -> None:
    app = drawn(store, ["<nobody>"]).run()
    app.button[0].click().run()
    assert "\\<nobody\\>" in app.error[0].value


def test_the_name_of_a_file_is_what_every_disk_takes(store: Store) -> None:
    file = ExportFile(store, ["../../e\u202ev/il", "plain"], Format.JSONL)
    file.wait(30)
    assert file.name == "specviz-evil-and-1.jsonl"


class Upload(io.BytesIO):
    name = "upload.zip"


def uploaded(store: Store, content: bytes, **reported: Any) -> Imported | str:
    person = {"method": NOT_GIVEN, "k": None, "name": " "} | reported
    return _imported(store, Upload(content), person)


def test_uploads(store: Store, tmp_path: Path) -> None:
    export(store, ["plain"], Format.PARQUET, tmp_path / "f.zip")
    taken = uploaded(store, (tmp_path / "f.zip").read_bytes())
    assert isinstance(taken, Imported) and taken.sentence == "upload.zip: 1 run already here."
    assert uploaded(store, b"hello") == (
        "upload.zip: This is neither an export of specviz nor results in JSON."
    )
    refused = uploaded(store, b"{}", method="baseline", k=3)
    assert isinstance(refused, str) and "leave K out" in refused
