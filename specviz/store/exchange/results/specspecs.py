"""specspecs' log of a decoding loop: Parquet parts of two tables, in a folder or a zip of it.

Written by specspecs/hooks.py (0.1.0): `sequences-PID-PART.parquet` has the prompts' token ids,
`drafts-PID-PART.parquet` a row per step. It has token ids and verdicts, but no text, probability,
model, method or sampling parameter: a run of specviz needs what the file does not have, so it is
a result with steps, and its token strip shows ids. Times are local times without a zone, taken when
a step was logged.

A loop may log drafts that begin with the token before them (the block that the draft model is
given); specspecs' own page always assumes so from the second step on. Here that is found out: it is
the token before in every single step, or it is a draft token.
https://github.com/jbarrow/specspecs
"""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from specviz.errors import UsageError
from specviz.store.exchange.expansion import (
    VALUE_BYTES,
    check_room,
    check_tables,
    limit,
    measuring,
    too_large,
)
from specviz.store.exchange.parquet_file import DAMAGE, check_members, sha256_of, unpack
from specviz.store.exchange.results.draft_steps import DraftStep, columns_of, totals_of_steps
from specviz.store.exchange.results.measured import Measured, Reading, small
from specviz.store.exchange.staging import check_file

SPECSPECS = "specspecs"
PART = re.compile(r"(sequences|drafts)-\d+-\d+\.parquet")
MOST_PARTS = 1000
TYPES = {
    "sequences": {
        "run_id": pa.string(),
        "sequence_id": pa.string(),
        "t": pa.timestamp("us"),
        "prompt_token_ids": pa.list_(pa.int64()),
    },
    "drafts": {
        "run_id": pa.string(),
        "sequence_id": pa.string(),
        "step": pa.int32(),
        "t": pa.timestamp("us"),
        "draft_tokens": pa.list_(pa.int64()),
        "acceptances": pa.list_(pa.bool_()),
        "acceptance_length": pa.int16(),
        "emitted_token": pa.int32(),
    },
}
"""The columns that are read; what the files say of `k` and `prompt_len` follows from them."""

Row = dict[str, Any]
Key = tuple[str, str]


def is_log(names: Sequence[str]) -> bool:
    """Whether a folder or zip of these files is a log of specspecs."""
    return any(PART.fullmatch(Path(name).name) for name in names)


def unpack_log(path: Path, folder: Path) -> list[Path]:
    """The parts in a zip, unpacked into an empty folder. Raises UsageError."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [info for info in archive.infolist() if not info.is_dir()]
            names = [Path(info.filename).name for info in members]
            if odd := [name for name in names if not PART.fullmatch(name)]:
                raise UsageError(f"The zip holds {odd[0][:80]!r} besides a log of specspecs.")
            if len(set(names)) != len(names):
                raise UsageError("The zip holds two parts of a log with the same name.")
            check_members(members, path.stat().st_size)
            check_room(folder, sum(info.file_size for info in members))
            for info, name in zip(members, names, strict=True):
                unpack(archive, info.filename, folder / name, info.file_size)
    except DAMAGE as error:
        raise UsageError(f"The zip is damaged ({str(error)[:120]}).") from error
    return log_parts(folder)


def log_parts(folder: Path) -> list[Path]:
    """The parts in a folder, in the order of their names. Raises UsageError for too many."""
    parts = sorted(path for path in folder.iterdir() if PART.fullmatch(path.name))
    if len(parts) > MOST_PARTS:
        raise UsageError(f"The log has {len(parts):,} parts, more than {MOST_PARTS:,}.")
    return parts


def digest_of(parts: Sequence[Path]) -> str:
    """Of the parts' names and contents: the same for a folder and a zip of it."""
    lines = "".join(f"{path.name} {sha256_of(path)}\n" for path in parts)
    return hashlib.sha256(lines.encode()).hexdigest()


def read_log(parts: Sequence[Path]) -> Reading:
    """One result per `run_id`. Raises UsageError, and KeyError, TypeError or ValueError."""
    rows: dict[str, list[Row]] = {"sequences": [], "drafts": []}
    _check_size(parts)
    for part in parts:
        table = part.name.partition("-")[0]
        rows[table] += _rows(table, part)
    prompts = {_key(row): row for row in rows["sequences"]}
    if len(prompts) != len(rows["sequences"]):
        raise ValueError("it registers a sequence twice")
    steps: dict[Key, list[Row]] = defaultdict(list)
    for row in rows["drafts"]:
        if _key(row) not in prompts:
            raise ValueError(f"it has steps of a sequence {row['sequence_id'][:40]!r} without it")
        steps[_key(row)].append(row)
    ordered = {key: sorted(steps[key], key=lambda row: row["step"]) for key in prompts}
    has_token_before = _has_token_before([*ordered.values()])
    measured = [
        _result(run_id, prompts, ordered, has_token_before)
        for run_id in dict.fromkeys(run_id for run_id, _ in prompts)
    ]
    return measured, (_note(has_token_before),)


def _result(
    run_id: str,
    prompts: Mapping[Key, Row],
    steps: Mapping[Key, list[Row]],
    has_token_before: bool,
) -> Measured:
    own = [key for key in prompts if key[0] == run_id]
    drafted = {key: _steps(prompts[key], steps[key], has_token_before) for key in own}
    requests = tuple(
        {
            "sequence": key[1],
            "prompt_tokens": len(prompts[key]["prompt_token_ids"]),
            "prompt_token_ids": [small(token) for token in prompts[key]["prompt_token_ids"]],
            **columns_of(drafted[key]),
        }
        for key in own
    )
    row = {
        "name": run_id or SPECSPECS,
        "num_requests": len(own),
        "prompt_tokens": sum(request["prompt_tokens"] for request in requests),
        **totals_of_steps(step for one in drafted.values() for step in one),
    }
    document = {"run_id": run_id, "drafts_begin_with_token_before": has_token_before}
    return Measured(row, document, requests)


def _steps(sequence: Row, rows: Sequence[Row], has_token_before: bool) -> list[DraftStep]:
    if len({row["step"] for row in rows}) != len(rows):
        raise ValueError(f"sequence {sequence['sequence_id'][:40]!r} has a step twice")
    return [_step(row, sequence["t"], int(has_token_before)) for row in rows]


def _step(row: Row, began: datetime, leading: int) -> DraftStep:
    accepted, tokens = small(row["acceptance_length"]), row["draft_tokens"]
    if row["acceptances"] != [place < accepted for place in range(len(tokens))]:
        raise ValueError(f"step {row['step']} accepts other tokens than its acceptance_length says")
    elapsed_ms = (row["t"] - began).total_seconds() * 1000
    return DraftStep(
        step_index=small(row["step"]),
        num_draft_tokens=len(tokens) - leading,
        num_accepted_tokens=accepted - leading,
        draft_token_ids=[small(token) for token in tokens[leading:]],
        next_token_id=small(row["emitted_token"]),
        elapsed_ms=elapsed_ms if elapsed_ms >= 0 else None,  # a clock that was set back
    )


def _has_token_before(sequences: Sequence[Sequence[Row]]) -> bool:
    """Whether each draft begins with the token emitted before it, which counts as accepted."""
    pairs = [pair for rows in sequences for pair in pairwise(rows)]
    return (
        len(pairs) > 0
        and all(row["acceptance_length"] > 0 for rows in sequences for row in rows)
        and all(row["draft_tokens"][:1] == [before["emitted_token"]] for before, row in pairs)
    )


def _note(has_token_before: bool) -> str:
    if has_token_before:
        return (
            "Every draft begins with the token that was emitted before it: that token is not "
            "counted as drafted or accepted."
        )
    return (
        "All logged draft tokens count as drafted: they do not begin with the token that was "
        "emitted before them."
    )


def _rows(table: str, part: Path) -> list[Row]:
    try:
        with pq.ParquetFile(part) as file:
            found = {field.name: field.type for field in file.schema_arrow}
            for name, kind in TYPES[table].items():
                if found.get(name) != kind:
                    raise UsageError(
                        f"{part.name} is no log of specspecs 0.1.0: its column {name} is "
                        f"{str(found.get(name, 'missing'))[:60]}, not {kind}."
                    )
            read = file.read([*TYPES[table]])
            read.validate(full=True)
            rows: list[Row] = read.to_pylist()
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = " ".join(str(error).split())[:120].rstrip(".")
        raise UsageError(f"{part.name} cannot be read ({reason}).") from error
    for row in rows:
        lists = [value for value in row.values() if isinstance(value, list)]
        if None in row.values() or any(None in listed for listed in lists):
            raise ValueError(f"{part.name} has an empty value")
    return rows


def _check_size(parts: Sequence[Path]) -> None:
    """Before anything is read as rows. Raises UsageError."""
    file_bytes = sum(part.stat().st_size for part in parts)
    with measuring() as connection:
        for part in parts:
            check_file(connection, part.name, part)
        measured = check_tables(connection, {part.name: part for part in parts}, file_bytes)
    if measured // 8 * VALUE_BYTES > limit():  # a number counts 8 there
        raise too_large(limit())


def _key(row: Row) -> Key:
    return row["run_id"], row["sequence_id"]
