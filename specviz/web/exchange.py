"""`/api/export` and `/api/import`: files out of and into the store that this app owns.

GET  /api/export?id=…&id=…&format=parquet    the file; without an id everything
POST /api/import?file=NAME&method=…&k=…      the file as the body; the outcome as JSON

The header X-Specviz-Export says what was exported, as JSON in ASCII.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import ExitStack
from typing import Any

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from specviz.errors import UsageError
from specviz.methods import Method
from specviz.report import export
from specviz.runtime import current
from specviz.store.exchange import ENDINGS, Format, ImportLabels, import_file
from specviz.store.file.work_folder import work_folder
from specviz.web.answer import answering

MAX_BODY_BYTES = 8 * 1024 * 1024 * 1024
SUMMARY_HEADER = "X-Specviz-Export"


async def give(request: Request) -> Response:
    """200 with the file, 400 for ids and formats that cannot be exported, 500 for failures."""
    with ExitStack() as closing:
        folder = closing.enter_context(work_folder())
        kind = _format(request.query_params.get("format", "parquet"))
        path = folder / f"specviz{ENDINGS[kind]}"
        ids = request.query_params.getlist("id") or None
        done = await asyncio.to_thread(export, current().store, ids, kind, path)
        when_sent = closing.pop_all().close
    return FileResponse(
        path,
        filename=path.name,
        headers={SUMMARY_HEADER: json.dumps(done.to_dict())},
        background=BackgroundTask(when_sent),
    )


async def take(request: Request) -> Response:
    """200 with the outcome, 400 for files that cannot be imported, 500 for failures."""
    with work_folder() as folder:
        path = folder / "file"
        with path.open("wb") as file:
            async for chunk in request.stream():
                file.write(chunk)
        labels = _labels(request)
        name = request.query_params.get("file", "the file")
        done = await asyncio.to_thread(import_file, current().store, path, labels, name=name)
    return JSONResponse({**done.to_dict(), "sentence": done.sentence})


routes = [
    Route("/api/export", answering(give)),
    Route("/api/import", answering(take), methods=["POST"]),
]


def _labels(request: Request) -> ImportLabels:
    """Raises UsageError for an unknown method or an impossible K."""
    given: dict[str, Any] = dict(request.query_params)
    try:
        method = Method(given["method"]) if given.get("method") else None
        k = int(given["k"]) if given.get("k") else None
    except ValueError as error:
        raise UsageError(f"The method or K cannot be read ({error}).") from error
    return ImportLabels(method, k, given.get("name") or None)


def _format(text: str) -> Format:
    try:
        return Format(text)
    except ValueError as error:
        raise UsageError(f"There is no format {text[:40]}: {', '.join(Format)}.") from error
