"""Writes one benchmark into the database. Methods may be called from any thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from typing import TypeVar

from duckdb import DuckDBPyConnection

from specviz.config import Run, RunStatus
from specviz.prompts.sets import Conversation
from specviz.store.benchmarks import tables
from specviz.store.benchmarks.rows import ArmRow, BlockRow, RoundRow, SampleRow
from specviz.store.benchmarks.samples import check_texts, insert_samples
from specviz.store.file.writer import FLUSH_S, Writer

COMMIT_EVERY_S = FLUSH_S
"""A commit takes several ms of the machine that is being measured. A single one is made at once;
where requests end more often than this, they share one."""


Row = TypeVar("Row", SampleRow, BlockRow)


class BenchmarkLog:
    """Writes a benchmark. A crash loses what was in flight or had ended within `COMMIT_EVERY_S`:
    resuming sends it again."""

    def __init__(self, writer: Writer, benchmark_id: str) -> None:
        self.benchmark_id = benchmark_id
        self._writer = writer
        self._lock = threading.Lock()
        self._rows: list[SampleRow] = []
        self._blocks: list[BlockRow] = []
        self._written = (0, 0)  # of `_rows` and `_blocks`, by the transaction under way
        self._queued = False
        self._committed_s = -COMMIT_EVERY_S
        self._error: Exception | None = None

    def begin(
        self,
        *,
        name: str,
        plan_toml: str,
        planned: int,
        conversations: Sequence[Conversation],
        servers_at_once: int,
        hardware: str,
        git_revision: str | None,
    ) -> None:
        """Save a benchmark that begins. Raises StoreError."""
        self._save(
            lambda cursor: tables.insert_benchmark(
                cursor,
                self.benchmark_id,
                name=name,
                plan_toml=plan_toml,
                planned=planned,
                conversations=conversations,
                servers_at_once=servers_at_once,
                at=datetime.now(UTC),
                hardware=hardware,
                git_revision=git_revision,
            )
        )

    def reopen(self) -> None:
        """Continue an interrupted benchmark. Raises StoreError."""
        self._save(lambda cursor: tables.reopen(cursor, self.benchmark_id))

    def restart_round(self, round_id: str, reason: str) -> None:
        """What a round measured so far is in no figure: all of it is asked again. Raises
        StoreError."""
        self._save(lambda cursor: tables.set_round_aside(cursor, round_id, reason))

    def arm(self, arm: ArmRow) -> None:
        """Save an arm as it opened or failed. Raises StoreError."""
        self._save(lambda cursor: tables.put_arm(cursor, self.benchmark_id, arm))

    def begin_round(self, run: Run, round_: RoundRow) -> None:
        """Save a round that begins, and its run. Raises StoreError."""

        def write(cursor: DuckDBPyConnection) -> None:
            tables.put_run(cursor, run)
            tables.put_round(cursor, self.benchmark_id, round_)

        self._save(write)

    def end_round(self, round_: RoundRow) -> None:
        """Save the outcome of a round. Raises StoreError."""
        self._save(lambda cursor: tables.put_round(cursor, self.benchmark_id, round_))

    def add(self, row: SampleRow) -> None:
        """Take a request; returns at once.

        Raises the StoreError of an earlier one, or of one that can never be saved, which is refused
        so that it does not block the others.
        """
        check_texts(row)
        self._queue(self._rows, row)

    def block(self, row: BlockRow) -> None:
        """Take a block that has ended; returns at once. Raises the StoreError of an earlier row."""
        self._queue(self._blocks, row)

    def repeat(self, block: BlockRow, rows: Sequence[SampleRow], *, sets_aside: str | None) -> None:
        """Save a block that sent a disturbed one's requests again, in one transaction.

        `sets_aside`: why the first measurement is in no figure from now on; None: it stays.
        Raises StoreError.
        """
        for row in rows:
            check_texts(row)
        self._writer.submit(self._write).add_done_callback(self._committed)  # what came before

        def write(cursor: DuckDBPyConnection) -> None:
            if sets_aside is not None:
                assert block.repeats is not None
                tables.set_aside(cursor, block.repeats, sets_aside)
            insert_samples(cursor, self.benchmark_id, rows)
            tables.insert_blocks(cursor, self.benchmark_id, [block])

        self._save(write)

    def _queue(self, queue: list[Row], row: Row) -> None:
        if self._error is not None:
            raise self._error
        with self._lock:
            queue.append(row)
            is_queued, self._queued = self._queued, True
        if not is_queued:
            wait_s = max(0.0, self._committed_s + COMMIT_EVERY_S - time.monotonic())
            job = self._writer.submit(self._write, within_s=wait_s)
            job.add_done_callback(self._committed)

    def end(self, status: RunStatus, error: str | None) -> None:
        """Save how it ended, after everything that was added, also what could not be saved before.

        Raises the StoreError of what still cannot be saved; one that seemed finished is then stored
        as failed, so that it can be resumed.
        """
        rest = self._writer.submit(self._write)
        rest.add_done_callback(self._committed)
        failure = rest.exception()
        if failure is not None and status is RunStatus.FINISHED:
            status, error = RunStatus.FAILED, str(failure)
        now = datetime.now(UTC)

        def write(cursor: DuckDBPyConnection) -> None:
            tables.set_status(cursor, self.benchmark_id, status, now, error)
            tables.end_runs(cursor, self.benchmark_id, status, now, error)

        self._save(write)
        if failure is not None:
            raise failure

    def _save(self, write: Callable[[DuckDBPyConnection], None]) -> None:
        self._writer.submit(write).result()

    def _write(self, cursor: DuckDBPyConnection) -> None:
        with self._lock:
            rows, blocks, self._queued = tuple(self._rows), tuple(self._blocks), False
        if rows:
            insert_samples(cursor, self.benchmark_id, rows)
        if blocks:
            tables.insert_blocks(cursor, self.benchmark_id, blocks)
        self._written = len(rows), len(blocks)

    def _committed(self, future: Future[None]) -> None:
        """After the commit, on the writer's thread and so before the next `_write`."""
        self._committed_s = time.monotonic()
        self._error = failure if isinstance(failure := future.exception(), Exception) else None
        if failure is None:
            with self._lock:
                del self._rows[: self._written[0]]
                del self._blocks[: self._written[1]]
            self._written = 0, 0
