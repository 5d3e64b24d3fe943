"""Recorded streams, broken in every way that a server, a proxy or an attacker breaks them.

`mutated(seed)` is the same for the same seed on every machine.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.support.faults.recorded_streams import Recording, recordings

EMOJI = (b"\\ud83d", b"\\ude00")
DEEP = b'{"error":' + b"[" * 100_000 + b"]" * 100_000 + b"}"

ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 3.5, 2**31, 2**64, 10**9, 10**30, math.nan, math.inf, -math.inf),
    *("", "x", "\ud83d", "\ude00", "a" * 100_000, [], [[]], {}, {"a": 1}, [1] * 5000, [-1], ["x"]),
)
"""Values that somebody's JSON has in place of the right one."""

PAGES = (
    *(b"", b"{}", b"[]", b"null", b"5", b"<html><body>It works</body></html>", DEEP, b"\xff\xfe{"),
    *(b"vllm:spec_decode_num_drafts_total NaN\n", b"vllm:spec_decode_num_drafts_total 1\n"),
    *(b"vllm:num_requests_running -Inf\n", b'vllm:x{le="', b"a" * 1_000_000),
)
"""What a proxy's catch-all page, or half a page, looks like."""

ANSWERS = (
    *((101, b""), (204, b""), (301, b""), (307, b""), (308, b"<html>moved</html>"), (401, b"")),
    *((400, json.dumps({"error": {"message": "no " * 50_000}}).encode()), (404, b"{}")),
    *((500, DEEP), (500, b"\xff" * 2000), (503, b'{"error": 5}'), (599, b'{"error": "busy"}')),
)


@dataclass
class Mutated:
    """What the server will do, and what was done to the recording (`done`).

    `stops_at`: the line before which the server falls silent (`stall`), hangs up (`cut`) or repeats
    one line for ever (`endless`, a byte at a time with `drip`).
    """

    seed: int
    recording: Recording
    lines: list[bytes]
    records: list[bytes]
    pages: dict[str, bytes]
    status: int = 200
    body: bytes = b""
    stops_at: int | None = None
    ending: str = ""
    endless: bytes = b""
    trace_ending: str = "open"
    detokenize: str = "right"
    pieces: int = 0
    done: list[str] = field(default_factory=list)


def mutated(seed: int) -> Mutated:
    """One recording with one to three things wrong."""
    draw = random.Random(seed)
    recording = recordings()[seed % len(recordings())]
    case = Mutated(
        seed, recording, list(recording.lines), list(recording.records), dict(recording.pages)
    )
    case.pieces = draw.choice([0, 0, 1, 3, 17])
    for _ in range(draw.choice([1, 1, 2, 3])):
        mutation = draw.choices(MUTATIONS, weights=[weight for _, weight in WEIGHTED])[0]
        mutation(case, draw)
        case.done.append(mutation.__name__)
    return case


def odd_value(case: Mutated, draw: random.Random) -> None:
    """A value of a chunk has another type, or a range that it cannot have."""
    _change(case.lines, draw, _replace)


def missing_key(case: Mutated, draw: random.Random) -> None:
    _change(case.lines, draw, _drop)


def odd_record(case: Mutated, draw: random.Random) -> None:
    _change(case.records, draw, draw.choice([_replace, _replace, _drop]))


def odd_order(case: Mutated, draw: random.Random) -> None:
    """Lines or records twice, in another order, or gone."""
    lines = draw.choice([case.lines, case.records or case.lines])
    if len(lines) < 2:
        return
    first, second = draw.sample(range(len(lines)), 2)
    how = draw.choice(["twice", "swapped", "gone"])
    if how == "twice":
        lines.insert(second, lines[first])
    elif how == "swapped":
        lines[first], lines[second] = lines[second], lines[first]
    else:
        del lines[first]


def cut_line(case: Mutated, draw: random.Random) -> None:
    lines = draw.choice([case.lines, case.records or case.lines])
    if not lines:
        return
    at = draw.randrange(len(lines))
    lines[at] = lines[at][: draw.randrange(len(lines[at]) + 1)]


def odd_bytes(case: Mutated, draw: random.Random) -> None:
    """Not UTF-8, or not JSON."""
    lines = draw.choice([case.lines, case.records or case.lines])
    if not lines:
        return
    at = draw.randrange(len(lines))
    where = draw.randrange(len(lines[at]) + 1)
    odd = draw.choice([b"\xff\xfe", b"\xf0\x9f", b"\x00", b"\xed\xa0\xbd", b"}", b"\\ud83d"])
    lines[at] = lines[at][:where] + odd + lines[at][where:]


def split_character(case: Mutated, draw: random.Random) -> None:
    """An emoji in two chunks; one half may get lost."""
    texts = [at for at, line in enumerate(case.lines) if b'"content": "' in line]
    if len(texts) < 2:
        return
    for at, half in zip(sorted(draw.sample(texts, 2)), EMOJI, strict=True):
        if draw.random() < 0.9:
            head, mark, rest = case.lines[at].partition(b'"content": "')
            text, quote, tail = rest.partition(b'"')
            joined = text + half if half is EMOJI[0] else half + text
            case.lines[at] = head + mark + joined + quote + tail


def neighbouring_halves(case: Mutated, draw: random.Random) -> None:
    """An emoji whose halves are the only text of two chunks that follow each other."""
    at = draw.randrange(len(case.lines))
    for offset, half in enumerate(EMOJI):
        chunk = b'{"choices": [{"index": 0, "delta": {"content": "' + half + b'"}}]}'
        case.lines.insert(at + offset, chunk)


def odd_line(case: Mutated, draw: random.Random) -> None:
    """A whole line that does not belong there."""
    odd = (
        *(b"[DONE]", b"", b"null", b"[]", b"5", b'"x"', b"{}", b'{"choices": null}', DEEP),
        *(b'{"choices": [5]}', b'{"choices": [{"delta": null}]}', b'{"choices": {"0": 1}}'),
        *(b'{"error": {"message": "out of memory"}}', b'{"error": "' + b"x" * 100_000 + b'"}'),
        b'{"choices": [{"delta": {"content": "held back"}, "token_ids": []}]}',
        b'{"choices": [{"delta": {"content": "' + b"long " * 50_000 + b'"}}]}',
        b'{"choices": [{"delta": {"content": "x"}, "token_ids": [' + b"7," * 4999 + b"7]}]}",
        b'{"choices": [{"delta": {"content": "x"}, "token_ids": [-1, 2147483648, Infinity]}]}',
    )
    case.lines.insert(draw.randrange(len(case.lines) + 1), draw.choice(odd))


def odd_end(case: Mutated, draw: random.Random) -> None:
    """The server falls silent, hangs up or never ends."""
    case.stops_at = draw.randrange(len(case.lines) + 1)
    case.ending = draw.choice(["stall", "cut", "close", "endless", "drip"])
    case.endless = draw.choice(
        [
            b": ping\n\n",
            b"\n",
            b'data: {"choices": []}\n\n',
            b'data: {"choices": [{"delta": {"content": ""}}]}\n\n',
            b'data: {"choices": [{"delta": {"content": "x"}}]}\n\n',
            b'data: {"choices": [{"delta": {"content": "x"}, "token_ids": [5]}]}\n\n',
            b"x" * 65_536,
        ]
    )


def odd_page(case: Mutated, draw: random.Random) -> None:
    """A page that is another program's, half, or has values of other types."""
    path = draw.choice(sorted({*case.pages, "/metrics", "/specviz/handshake"}))
    page = [case.pages.get(path, b"{}")]
    if draw.random() < 0.5 and page[0].startswith(b"{"):
        _change(page, draw, draw.choice([_replace, _drop]))
    else:
        page[0] = draw.choice([*PAGES, page[0][: len(page[0]) // 2]])
    case.pages[path] = page[0]


def odd_answer(case: Mutated, draw: random.Random) -> None:
    case.status, case.body = draw.choice(ANSWERS)


def odd_trace(case: Mutated, draw: random.Random) -> None:
    """The trace is gone, or goes on for ever."""
    case.trace_ending = draw.choice(["missing", "close", "cut", "endless", "drip"])


def odd_detokenizer(case: Mutated, draw: random.Random) -> None:
    case.detokenize = draw.choice(["missing", "stall", "odd", "huge", "half"])


Mutation = Callable[[Mutated, random.Random], None]

WEIGHTED: tuple[tuple[Mutation, float], ...] = (
    *((odd_value, 6), (missing_key, 3), (odd_record, 4), (odd_order, 3), (cut_line, 2)),
    *((odd_bytes, 3), (split_character, 2), (neighbouring_halves, 1), (odd_line, 4), (odd_end, 2)),
    *((odd_page, 3), (odd_answer, 0.7), (odd_trace, 1.5), (odd_detokenizer, 1)),
)
MUTATIONS = [mutation for mutation, _ in WEIGHTED]


def _change(
    lines: list[bytes], draw: random.Random, change: Callable[[Any, random.Random], None]
) -> None:
    """Change one place in the JSON of one line."""
    candidates = [at for at, line in enumerate(lines) if line.startswith(b"{")]
    if not candidates:
        return
    at = draw.choice(candidates)
    try:
        value = json.loads(lines[at])
    except (ValueError, RecursionError):
        return  # broken by an earlier mutation
    if places := _places(value):
        change(draw.choice(places), draw)
    lines[at] = json.dumps(value).encode()


def _places(value: Any) -> list[Any]:
    """Every object and list in a value that has something in it."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    found = [place for one in inner for place in _places(one)]
    return [value, *found] if inner else found


def _replace(place: Any, draw: random.Random) -> None:
    place[_key(place, draw)] = draw.choice(ODD)


def _drop(place: Any, draw: random.Random) -> None:
    del place[_key(place, draw)]


def _key(place: Any, draw: random.Random) -> Any:
    return draw.choice(list(place)) if isinstance(place, dict) else draw.randrange(len(place))
