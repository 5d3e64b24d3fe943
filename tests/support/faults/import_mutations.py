"""Files that nearly are what they seem: one seed makes one mutated import."""

from __future__ import annotations

import hashlib
import io
import json
import random
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from specviz.paths import PROJECT_ROOT
from specviz.store import open_store
from specviz.store.exchange import Format, export
from tests.support.store.exchange_samples import filled
from tests.support.store.guidellm_samples import report
from tests.support.store.made import made

DATA = PROJECT_ROOT / "tests" / "unit" / "store" / "data"

ODD = (
    *(None, True, False, 0, -1, 1, 7, 2**31, 2**63, 2**64, 10**400, -0.0, 1e308, 1e-320),
    *(float("nan"), float("inf"), "", "x", "\ud83d", "\x00", "\u202e", "9" * 5000, "a" * 70_000),
    *([], {}, [[]], [None], {"": None}, [{}], {"a": {"b": []}}, "2026-13-45", "NaN", "runs"),
)
"""Values that a field may hold instead of its own."""


@dataclass(frozen=True)
class Samples:
    """Whole files: an export as the members of its zip and as lines, other tools' results as JSON,
    a document a line, and the members of a log of specspecs."""

    members: dict[str, bytes]
    lines: list[bytes]
    results: list[bytes]
    log: dict[str, bytes]


def samples(folder: Path) -> Samples:
    with open_store(made(folder / "source.duckdb")) as store:
        filled(store)
        export(store, None, Format.PARQUET, folder / "all.zip")
        export(store, None, Format.JSONL, folder / "all.jsonl")
    names = ("vllm-bench-serve-*.json", "aiperf-*.json*", "llama-spec-dump.jsonl")
    others = [path.read_bytes() for name in names for path in sorted(DATA.glob(name))]
    return Samples(
        _unzipped(folder / "all.zip"),
        (folder / "all.jsonl").read_bytes().splitlines(keepends=True),
        [*others, json.dumps(report()).encode()],
        _unzipped(DATA / "specspecs-log.zip"),
    )


def _unzipped(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def mutated(whole: Samples, seed: int) -> bytes:
    """The file of a seed: seeds go round the ways in which a file can be wrong."""
    rng = random.Random(seed)
    return WAYS[seed % len(WAYS)](whole, rng)


def _zip_bytes(whole: Samples, rng: random.Random) -> bytes:
    method = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2,
                         zipfile.ZIP_LZMA))  # fmt: skip
    return _flipped(_zipped(whole.members, method), rng)


def _manifest(whole: Samples, rng: random.Random) -> bytes:
    manifest = _changed(json.loads(whole.members["manifest.json"]), rng)
    return _zipped({**whole.members, "manifest.json": _json(manifest, rng)})


def _members(whole: Samples, rng: random.Random) -> bytes:
    members = dict(whole.members)
    first, second = rng.sample(sorted(members), 2)
    change = rng.randrange(3)
    if change == 0:
        del members[first]
    elif change == 1:
        members[first] = members[second]
    else:
        members[rng.choice(("../x", "/etc/x", "x.parquet", "a" * 300))] = members[first]
    return _zipped(_promised(members) if rng.random() < 0.7 else members)


def _parquet_bytes(whole: Samples, rng: random.Random) -> bytes:
    """Bytes of one table, with a manifest that promises what is there now."""
    members = dict(whole.members)
    table = rng.choice([name for name in members if name.endswith(".parquet")])
    members[table] = _flipped(members[table], rng)
    return _zipped(_promised(members))


def _parquet_footer(whole: Samples, rng: random.Random) -> bytes:
    """Some bytes of what a table says of itself, its length unchanged."""
    members = dict(whole.members)
    table = rng.choice([name for name in members if name.endswith(".parquet")])
    content = bytearray(members[table])
    end = len(content) - len(b"size") - len(b"PAR1")
    begin = end - int.from_bytes(content[end : end + 4], "little")
    for _ in range(rng.choice((1, 1, 2, 4))):
        place = rng.randrange(begin, end)
        content[place] = rng.choice((0, 255, content[place] ^ (1 << rng.randrange(8))))
    return _zipped(_promised({**members, table: bytes(content)}))


def _parquet_values(whole: Samples, rng: random.Random) -> bytes:
    return _zipped(_promised(_with_another_table(whole.members, rng)))


def _with_another_table(members: dict[str, bytes], rng: random.Random) -> dict[str, bytes]:
    name = rng.choice([name for name in members if name.endswith(".parquet")])
    table = pq.read_table(pa.BufferReader(members[name]))
    sink = pa.BufferOutputStream()
    pq.write_table(_other_table(table, rng), sink, compression=rng.choice(("zstd", "gzip", "none")))
    return {**members, name: sink.getvalue().to_pybytes()}


def _other_table(table: pa.Table, rng: random.Random) -> pa.Table:
    place = rng.randrange(table.num_columns)
    column = table.schema.field(place)
    change = rng.randrange(6)
    if change == 0:
        return table.remove_column(place)
    if change == 1:
        return pa.concat_tables([table] * rng.choice((2, 3)))
    if change == 2:
        return table.slice(rng.randrange(table.num_rows + 1))
    if change == 3:
        return table.rename_columns(
            [f"{name}?" if i == place else name for i, name in enumerate(table.column_names)]
        )
    if change == 4:
        return table.set_column(place, column.name, pa.nulls(table.num_rows, column.type))
    odd = rng.choice([one for one in ODD if isinstance(one, str | float) and one != "\ud83d"])
    return table.set_column(place, column.name, pa.array([odd] * table.num_rows))


def _one_line(whole: Samples, rng: random.Random) -> bytes:
    lines = list(whole.lines[:-1])
    place = rng.randrange(len(lines))
    line = _changed(json.loads(lines[place]), rng)
    lines[place] = _json(line, rng) + b"\n"
    return _ended(lines)


def _order_of_lines(whole: Samples, rng: random.Random) -> bytes:
    lines = list(whole.lines[:-1])
    first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
    change = rng.randrange(3)
    if change == 0:
        lines[first], lines[second] = lines[second], lines[first]
    elif change == 1:
        lines.insert(first, lines[second])
    else:
        del lines[first]
    return _ended(lines)


def _line_bytes(whole: Samples, rng: random.Random) -> bytes:
    if rng.random() < 0.5:
        return _flipped(b"".join(whole.lines), rng)
    lines = list(whole.lines[:-1])
    place = rng.randrange(len(lines))
    lines[place] = _flipped(lines[place], rng)
    return _ended(lines)


def _result(whole: Samples, rng: random.Random) -> bytes:
    documents = _documents(rng.choice(whole.results))
    place = rng.randrange(len(documents))
    documents[place] = _changed(documents[place], rng)
    copies = rng.choice((1, 1, 1, 2))
    return b"\n".join([_json(document, rng) for document in documents] * copies)


def _documents(content: bytes) -> list[Any]:
    """A document a line, or one."""
    try:
        return [json.loads(line) for line in content.splitlines()]
    except ValueError:
        return [json.loads(content)]


def _result_bytes(whole: Samples, rng: random.Random) -> bytes:
    return _flipped(rng.choice(whole.results), rng)


def _log_values(whole: Samples, rng: random.Random) -> bytes:
    return _zipped(_with_another_table(whole.log, rng))


def _log_bytes(whole: Samples, rng: random.Random) -> bytes:
    if rng.random() < 0.5:
        return _flipped(_zipped(whole.log), rng)
    name = rng.choice(list(whole.log))
    return _zipped({**whole.log, name: _flipped(whole.log[name], rng)})


WAYS: tuple[Callable[[Samples, random.Random], bytes], ...] = (
    *(_zip_bytes, _manifest, _members, _parquet_bytes, _parquet_footer, _parquet_values),
    *(_one_line, _order_of_lines, _line_bytes, _result, _result_bytes),
    *(_log_values, _log_bytes),
)


def _changed(document: Any, rng: random.Random) -> Any:
    """One to three places of a JSON document hold something else, are gone, or are twice there."""
    holder = {"": document}
    for _ in range(rng.randint(1, 3)):
        places = list(_places(holder))
        container, key = rng.choice(places)
        change = rng.randrange(4)
        if change == 0 and container is not holder:
            del container[key]
        elif change == 1 and isinstance(container, dict) and container is not holder:
            container[rng.choice(("x", "", "\ud83d", "row", "type"))] = container.pop(key)
        else:
            container[key] = rng.choice(ODD)
        if "" not in holder:
            return rng.choice(ODD)
    return holder[""]


def _places(container: Any) -> Any:
    keys = list(container) if isinstance(container, dict) else range(len(container))
    for key in keys:
        yield container, key
        if isinstance(container[key], dict | list):
            yield from _places(container[key])


def _json(document: Any, rng: random.Random) -> bytes:
    text = json.dumps(document, ensure_ascii=rng.random() < 0.8)
    return text.encode("utf-8", "surrogatepass")


def _flipped(content: bytes, rng: random.Random) -> bytes:
    """Some bytes changed, cut out, doubled or cut off."""
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 8))):
        place = rng.randrange(len(changed)) if changed else 0
        how = rng.randrange(8)
        if how == 0:
            del changed[place:]
        elif how == 1:
            del changed[place : place + rng.randrange(1, 64)]
        elif how == 2:
            changed[place:place] = changed[place : place + rng.randrange(1, 64)]
        elif changed:
            changed[place] = rng.choice((0, 255, 127, changed[place] ^ (1 << rng.randrange(8))))
    return bytes(changed)


def _zipped(members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def _promised(members: dict[str, bytes]) -> dict[str, bytes]:
    """The members with a manifest of their lengths, digests and, where Parquet says so, rows."""
    try:
        manifest = json.loads(members["manifest.json"])
    except (KeyError, ValueError):  # it is gone, or another member took its place
        return members
    for table, entry in manifest["tables"].items():
        content = members.get(f"{table}.parquet")
        if content is not None:
            entry |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            try:
                entry["rows"] = pq.read_metadata(pa.BufferReader(content)).num_rows
            except (pa.ArrowException, OSError, ValueError):
                continue
    return {**members, "manifest.json": json.dumps(manifest).encode()}


def _ended(lines: list[bytes]) -> bytes:
    body = b"".join(lines)
    end = {"type": "end", "lines": len(lines), "sha256": hashlib.sha256(body).hexdigest()}
    return body + json.dumps(end).encode() + b"\n"
