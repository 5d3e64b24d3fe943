"""A synthetic history: ten million decisions from a seeded generator.

Its acceptance means nothing; sizes, shapes and orders are those of traced runs: Zipf-distributed
tokens of a large vocabulary, K 3, 5 and 8, half of the runs greedy, drafts cut at the first
rejection. The target's five best tokens, which a trace may hold for every judged token, are
included only with `five_best`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import numpy as np
import pyarrow as pa
from duckdb import DuckDBPyConnection
from numpy.typing import NDArray

from specviz.store import Store
from specviz.store.runs.arrow import DECISIONS, STEPS
from specviz.store.runs.tables import insert_arrow

REQUESTS_PER_RUN = 100
DECISIONS_PER_REQUEST = 500
RUNS_PER_COMMIT = 10
VOCABULARY = 128_000
ROW_GROUP = 122_880
CATEGORIES = ("qa", "code", "translation", "summarization", "creative", "structured_output")
ARMS = (("draft_model", 3), ("draft_model", 5), ("eagle3", 5), ("eagle3", 8), ("ngram", 5))
BEGINNING = datetime(2026, 1, 1)


@dataclass(frozen=True, slots=True)
class Batch:
    """Some runs with all their rows."""

    runs: pa.Table
    requests: pa.Table
    steps: pa.Table
    decisions: pa.Table


def batches(decisions: int, *, five_best: bool = False, seed: int = 1) -> Iterator[Batch]:
    """Runs of 100 requests of 500 decisions each, a few at a time, oldest first."""
    make = _Maker(np.random.default_rng(seed), five_best)
    runs = decisions // (REQUESTS_PER_RUN * DECISIONS_PER_REQUEST)
    for first in range(0, runs, RUNS_PER_COMMIT):
        made = [make.run(index) for index in range(first, min(first + RUNS_PER_COMMIT, runs))]
        yield Batch(*(_in_rows(tables) for tables in zip(*made, strict=True)))


def put(store: Store, batch: Batch) -> None:
    """Store a batch in one transaction, through the store's writer."""

    def write(cursor: DuckDBPyConnection) -> None:
        insert_arrow(cursor, "runs", batch.runs)
        insert_arrow(cursor, "requests", batch.requests)
        insert_arrow(cursor, "steps", batch.steps)
        insert_arrow(cursor, "decisions", batch.decisions)

    store.write(write)


def _in_rows(tables: Iterable[pa.Table]) -> pa.Table:
    """Chunks as large as DuckDB's row groups, not one chunk per request."""
    return pa.Table.from_batches(
        pa.concat_tables(tables).combine_chunks().to_batches(max_chunksize=ROW_GROUP)
    )


class _Maker:
    def __init__(self, rng: np.random.Generator, five_best: bool) -> None:
        self._rng = rng
        self._five_best = five_best
        self._order = rng.permutation(VOCABULARY).astype(np.int32)
        self._words = pa.array([f" {word:x}"[:9] for word in range(VOCABULARY)], pa.string())
        self._prompts = [self._text(60) for _ in range(REQUESTS_PER_RUN)]

    def run(self, index: int) -> tuple[pa.Table, pa.Table, pa.Table, pa.Table]:
        method, k = ARMS[index % len(ARMS)]
        greedy = index % 2 == 0
        run_id = self._id()
        began = BEGINNING + timedelta(hours=index)
        run = {
            "run_id": [run_id], "group_id": [run_id], "status": ["finished"],
            "started_at": [began], "finished_at": [began + timedelta(minutes=20)],
            "engine": ["vllm"], "method": [method], "k": [k],
            "model": [f"model-{index % 3}"], "server_url": [f"http://10.0.0.{index % 4}:8000"],
            "traced": [True], "temperature": [0.0 if greedy else 0.8], "top_p": [1.0],
            "max_tokens": [512], "concurrency": [1], "options": ["{}"],
            "specviz_version": ["made"], "tags": [[f"tag-{index % 7}"]],
        }  # fmt: skip
        sampled = method != "ngram"  # a lookup proposes with probability 1
        parts = [
            self._request(run_id, began, number, k, greedy, sampled)
            for number in range(REQUESTS_PER_RUN)
        ]
        return pa.table(run), *(pa.concat_tables(tables) for tables in zip(*parts, strict=True))

    def _request(
        self, run_id: str, began: datetime, number: int, k: int, greedy: bool, sampled: bool
    ) -> tuple[pa.Table, pa.Table, pa.Table]:
        rng = self._rng
        request_id, sent_at = f"specviz-{self._id()}", began + timedelta(seconds=10 * number)
        size = DECISIONS_PER_REQUEST
        steps = -(-size // k)
        step = np.repeat(np.arange(steps, dtype=np.int32), k)[:size]
        depth = (np.tile(np.arange(1, k + 1, dtype=np.int16), steps))[:size]
        token = self._tokens(size)
        target_prob = self._probs(size)
        draft_prob = self._probs(size) if sampled else np.ones(size, np.float32)
        accept = np.minimum(1, target_prob / draft_prob).astype(np.float32)
        u = rng.random(size, dtype=np.float32)
        if greedy:
            accept = (u < 0.75).astype(np.float32)
        agrees = (accept == 1) if greedy else (u <= accept)
        first_no = np.full(steps, k, dtype=np.int64)
        np.minimum.at(first_no, step[~agrees], depth[~agrees] - 1)
        judged = depth - 1 <= first_no[step]
        accepted = depth - 1 < first_no[step]
        verdict = np.where(accepted, "accepted", np.where(judged, "rejected", "unverified"))
        decisions = pa.table(
            {
                "started_at": pa.array([sent_at] * size, pa.timestamp("us")),
                "request_id": pa.array([request_id] * size),
                "step_index": step, "draft_index": depth - 1, "depth": depth, "parent": depth - 2,
                "token_id": token, "text": self._words.take(pa.array(token)),
                "verdict": pa.array(verdict.tolist()),
                "draft_prob": draft_prob,
                "target_prob": pa.array(target_prob, mask=~judged),
                "accept_prob": pa.array(accept, mask=~judged),
                "u": pa.array(u, mask=~judged | greedy),
                "target_top": self._best(judged),
            },
            schema=DECISIONS,
        )  # fmt: skip
        emitted = np.minimum(first_no, k) + 1
        out = int(emitted.sum())
        elapsed = np.cumsum(rng.gamma(20, 1.0, steps)).round(3)  # as engines report it
        table = self._steps(request_id, sent_at, emitted, elapsed)
        drafted, taken = size, int(accepted.sum())
        per_position = [float(accepted[depth == place].sum()) / steps for place in range(1, k + 1)]
        request = {
            "request_id": [request_id], "run_id": [run_id], "status": ["finished"],
            "started_at": pa.array([sent_at], pa.timestamp("us")),
            "prompt_id": [f"prompt-{number}"], "category": [CATEGORIES[number % len(CATEGORIES)]],
            "prompt": [self._prompts[number]],
            "prompt_token_ids": [self._tokens(80).tolist()], "fidelity": ["traced"],
            "finish_reason": ["stop"],
            "output_text": [self._text(out)],
            "ttft_ms": [float(elapsed[0])], "e2el_ms": [float(elapsed[-1])],
            "tpot_ms": [float(elapsed[-1] - elapsed[0]) / (out - 1)],
            "num_steps": [steps], "num_drafts": [steps], "num_draft_tokens": [drafted],
            "num_accepted_tokens": [taken], "draft_acceptance_rate": [taken / drafted],
            "mean_acceptance_length": [1 + taken / steps],
            "alpha": [taken / int(judged.sum())], "acceptance_rate_per_pos": [per_position],
            "output_tokens": [out], "tokens_per_step": [out / steps],
            "output_throughput": [out / float(elapsed[-1]) * 1000],
        }  # fmt: skip
        return pa.table(request), table, decisions

    def _steps(
        self,
        request_id: str,
        sent_at: datetime,
        emitted: NDArray[np.int64],
        elapsed: NDArray[np.float64],
    ) -> pa.Table:
        steps, out = len(emitted), int(emitted.sum())
        ends = np.cumsum(emitted)
        origins = np.full(out, "accepted", dtype=object)
        origins[ends - 1] = "recovered"
        token = self._tokens(out)
        tokens = pa.StructArray.from_arrays(
            [
                pa.array(np.arange(out, dtype=np.int32)), pa.array(token),
                self._words.take(pa.array(token)), pa.array(origins.tolist()),
            ],
            ["position", "token_id", "text", "origin"],
        )  # fmt: skip
        offsets = pa.array(np.concatenate([[0], ends]).astype(np.int32))
        times = self._rng.gamma(20, 0.4, (3, steps)).astype(np.float32)
        return pa.table(
            {
                "started_at": pa.array([sent_at] * steps, pa.timestamp("us")),
                "request_id": [request_id] * steps,
                "step_index": np.arange(steps, dtype=np.int32), "elapsed_ms": elapsed,
                "draft_ms": times[0], "verify_ms": times[1], "wall_ms": times[0] + times[1],
                "emitted": pa.ListArray.from_arrays(offsets, tokens),
                "spans": pa.nulls(steps, STEPS.field("spans").type),
                "skipped_layers": pa.nulls(steps, STEPS.field("skipped_layers").type),
                "matched_tokens": pa.nulls(steps, pa.int32()),
                "allowed": pa.nulls(steps, STEPS.field("allowed").type),
            },
            schema=STEPS,
        )  # fmt: skip

    def _best(self, judged: NDArray[np.bool_]) -> pa.Array:
        count = np.where(judged & self._five_best, 5, 0)
        total = int(count.sum())
        probs = np.sort(self._rng.dirichlet([0.3] * 6, total // 5)[:, :5], axis=1)[:, ::-1]
        token = self._tokens(total)
        best = pa.StructArray.from_arrays(
            [
                pa.array(token), self._words.take(pa.array(token)),
                pa.array(probs.reshape(-1).astype(np.float32)),
            ],
            ["token_id", "text", "prob"],
        )  # fmt: skip
        offsets = np.concatenate([[0], np.cumsum(count)]).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(offsets), best)

    def _text(self, size: int) -> str:
        return "".join(self._words.take(pa.array(self._tokens(size))).to_pylist())

    def _tokens(self, size: int) -> NDArray[np.int32]:
        ranks = np.minimum(self._rng.zipf(1.3, size) - 1, VOCABULARY - 1)
        tokens: NDArray[np.int32] = self._order[ranks]
        return tokens

    def _probs(self, size: int) -> NDArray[np.float32]:
        return (1 / (1 + np.exp(-self._rng.normal(2, 3, size)))).astype(np.float32)

    def _id(self) -> str:
        return UUID(bytes=self._rng.bytes(16)).hex
