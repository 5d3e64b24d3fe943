"""A file prepared in the background while the page stays responsive."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from contextlib import ExitStack

from specviz.bench.results import ResultsOf, work_out
from specviz.errors import SpecvizError
from specviz.report import export
from specviz.store import Store
from specviz.store.exchange import ENDINGS, Exported, Format
from specviz.store.file.work_folder import work_folder

MIME = {
    Format.PARQUET: "application/zip",
    Format.JSONL: "application/x-ndjson",
    Format.CSV: "application/zip",
    Format.HTML: "text/html",
}


class ExportFile:
    """One export on its way. `done` and `error` are read by the page, written by the thread."""

    def __init__(
        self,
        store: Store,
        ids: Sequence[str],
        kind: Format,
        results_of: ResultsOf = work_out,
    ) -> None:
        self.ids = tuple(ids)
        self.kind = kind
        self.done: Exported | None = None
        self.error: str | None = None
        closing = ExitStack()
        folder = closing.enter_context(work_folder())
        weakref.finalize(self, closing.close)
        self._path = folder / f"{_stem(self.ids)}{ENDINGS[kind]}"
        self._thread = threading.Thread(target=self._prepare, args=(store, results_of))
        self._thread.start()

    @property
    def is_running(self) -> bool:
        return self._thread.is_alive()

    @property
    def name(self) -> str:
        return self._path.name

    @property
    def mime(self) -> str:
        return MIME[self.kind]

    def content(self) -> bytes:
        """The file, once `done` is set."""
        return self._path.read_bytes()

    def wait(self, timeout_s: float) -> None:
        """Give a small export the time to be there at once."""
        self._thread.join(timeout_s)

    def _prepare(self, store: Store, results_of: ResultsOf) -> None:
        try:
            self.done = export(store, self.ids, self.kind, self._path, results_of)
        except SpecvizError as error:
            self.error = str(error)


def _stem(ids: Sequence[str]) -> str:
    """A file name valid on every disk: ids come from other machines too."""
    plain = "".join(sign for sign in ids[0] if sign.isascii() and (sign.isalnum() or sign in "-_"))
    more = f"-and-{len(ids) - 1}" if len(ids) > 1 else ""
    return f"specviz-{plain[:12]}{more}"
