"""Exports from and imports into the store of a running app: `/api/export` and `/api/import`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from specviz.errors import StoreError, UsageError
from specviz.remote.app import FILE_TIMEOUT, answer, call
from specviz.store.exchange import Exported, Format, ImportLabels
from specviz.store.exchange.exporting import written
from specviz.store.exchange.parquet_file import zip_folder
from specviz.store.file.work_folder import work_folder

SUMMARY_HEADER = "X-Specviz-Export"
"""What was exported, as JSON: the body is the file itself."""


def fetch(
    url: str,
    ids: Sequence[str] | None,
    kind: Format,
    path: Path,
    *,
    secret: str | None = None,
) -> Exported:
    """As `specviz.report.export`, done by the app at `url`; `ids` None is everything.

    Raises UsageError for what the app refuses, StoreError if it fails or nothing answers.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder: the app sends one file, name it with -o.")
    params = {"format": kind.value, "id": list(ids or ())}
    with (
        written(path) as fresh,
        answer(
            url, "GET", "/api/export", params=params, timeout=FILE_TIMEOUT, secret=secret
        ) as response,
    ):
        with fresh.open("wb") as file:
            for chunk in response.iter_bytes():
                file.write(chunk)
        if SUMMARY_HEADER not in response.headers:
            raise StoreError(f"What answers at {url} is not a specviz app: it sent no export.")
        summary = json.loads(response.headers[SUMMARY_HEADER])
    done = Exported(**{**summary, "format": kind, "left_out": tuple(summary["left_out"])})
    return replace(done, path=path)


def send(
    url: str, path: Path, labels: ImportLabels, *, secret: str | None = None
) -> dict[str, Any]:
    """Import a file or folder into the app at `url`; what `specviz import --json` prints of it.

    Raises UsageError for what the app refuses, StoreError if it fails or nothing answers.
    """
    named = {"file": path.name, "method": labels.method, "k": labels.k, "name": labels.name}
    params = {key: str(value) for key, value in named.items() if value is not None}
    with _one_file(path) as single, single.open("rb") as body:
        request = {"params": params, "content": body, "timeout": FILE_TIMEOUT}
        return dict(call(url, "POST", "/api/import", secret=secret, **request))


@contextmanager
def _one_file(path: Path) -> Iterator[Path]:
    """A folder of Parquet files as the zip it could have been."""
    if not path.is_dir():
        yield path
        return
    with work_folder() as work:
        single = work / "export.zip"
        zip_folder(path, single)
        yield single
