"""Exports from and imports into the store of a running app, for a command: see `exchange.py`."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx

from specviz.errors import UsageError
from specviz.remote.app import answering, check
from specviz.remote.ingest import authorization
from specviz.store.exchange import Exported, Format, ImportLabels
from specviz.store.exchange.exporting import written
from specviz.store.exchange.parquet_file import zip_folder

TIMEOUT = httpx.Timeout(30.0, read=600.0, write=600.0)
SUMMARY_HEADER = "X-Specviz-Export"


def fetch(url: str, ids: Sequence[str] | None, kind: Format, path: Path) -> Exported:
    """What `specviz.report.export` does, by the app at `url`.

    Raises UsageError for what the app refuses, StoreError if it fails or nothing answers.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder: the app gives one file, name it with -o.")
    asked: dict[str, str | list[str]] = {"format": kind.value, "id": list(ids or ())}
    with written(path) as fresh, answering(url):
        address = f"{url.rstrip('/')}/api/export"
        with httpx.stream(
            "GET", address, params=asked, headers=authorization(), timeout=TIMEOUT
        ) as response:
            if response.status_code != httpx.codes.OK:
                response.read()
                check(url, response)
            with fresh.open("wb") as file:
                for chunk in response.iter_bytes():
                    file.write(chunk)
        summary = json.loads(response.headers[SUMMARY_HEADER])
    done = Exported(**{**summary, "format": kind, "left_out": tuple(summary["left_out"])})
    return replace(done, path=path)


def send(url: str, path: Path, labels: ImportLabels) -> dict[str, Any]:
    """What became of the file in the app at `url`: what `specviz import --json` prints of it.

    Raises UsageError for what the app refuses, StoreError if it fails or nothing answers.
    """
    asked = {"file": path.name, "method": labels.method, "k": labels.k, "name": labels.name}
    params = {key: str(value) for key, value in asked.items() if value is not None}
    address = f"{url.rstrip('/')}/api/import"
    with _one_file(path) as single, answering(url), single.open("rb") as body:
        response = httpx.post(
            address, params=params, content=body, headers=authorization(), timeout=TIMEOUT
        )
    check(url, response)
    return dict(response.json())


@contextmanager
def _one_file(path: Path) -> Iterator[Path]:
    """A folder of Parquet files as the zip it could have been."""
    if not path.is_dir():
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="specviz-import-") as work:
        single = Path(work) / "export.zip"
        zip_folder(path, single)
        yield single
