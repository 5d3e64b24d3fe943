"""The target's own answers: what a draft learns from, written down batch by batch.

A draft is judged by how often it guesses the target, so it is trained on what the target says, not
on what others answered (arXiv 2406.16858, 3; 2503.01840, 4). Batches are the same in every run of
the same prompts and seed: a stopped run goes on behind the last whole batch in the file.
"""

from __future__ import annotations

import json
import threading
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor

from specviz.config import Prompt
from specviz.engines.embedded.model import Llama
from specviz.engines.embedded.tokenizer import ChatTokenizer
from specviz.errors import UsageError
from specviz.training.target import RowsCache, add_token, padded, read
from specviz.training.workers import in_order, worker_count, workers

TEMPERATURES = (0.0, 0.7)
"""Half of the prompts is answered greedily, half at a usual temperature: a draft that has only
read greedy answers guesses worse where a sampled one goes another way."""
LONGEST_ANSWER = 256
LONGEST_PROMPT = 1024
ROWS = {"cpu": 96, "cuda": 256}
"""Answers that are generated together."""
SORTED_BATCHES = 8
"""So many batches' prompts are sorted by length, because the longest of a batch pads the others."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt as the target reads it."""

    key: str
    temperature: float
    prompt_ids: list[int]


@dataclass(frozen=True, slots=True)
class Answer:
    """A prompt and its answer, whose end token is included if it ended."""

    key: str
    temperature: float
    prompt_ids: list[int]
    answer_ids: list[int]


@dataclass(frozen=True, slots=True)
class Generation:
    """Everything that decides what the answers are."""

    target: Llama
    tokenizer: ChatTokenizer
    prompts: tuple[Prompt, ...]
    seed: int
    rows: int
    longest: int


def answers(
    work: Generation, file: Path, tokens: int, progress: Callable[[str], None]
) -> list[Answer]:
    """At least `tokens` answer tokens, or the answers to all prompts; those in `file` are kept.

    Raises UsageError if the file has answers to other prompts.
    """
    found, batches = _kept(work, file)
    count = sum(len(one.answer_ids) for one in found)
    if count >= tokens:
        return found
    missing = islice(_batches(work), batches, None)
    with file.open("a", encoding="utf-8") as lines, closing(_generated(work, missing)) as fresh:
        for batch in fresh:
            found += batch
            lines.write("".join(json.dumps(asdict(one)) + "\n" for one in batch))
            lines.flush()
            count += sum(len(one.answer_ids) for one in batch)
            progress(f"answers: {len(found)}, {count:,} of {tokens:,} tokens")
            if count >= tokens:
                break
    return found


def _kept(work: Generation, file: Path) -> tuple[list[Answer], int]:
    """The answers of the whole batches in the file, from which all others are removed, and how many
    batches these are."""
    lines = file.read_bytes().splitlines(keepends=True) if file.exists() else []
    if lines and not lines[-1].endswith(b"\n"):
        lines.pop()
    found: list[Answer] = []
    batches = 0
    for batch in _batches(work) if lines else ():
        if len(found) + len(batch) > len(lines):
            break
        answered = [_parsed(file, line) for line in lines[len(found) : len(found) + len(batch)]]
        if [one.key for one in answered] != [asked.key for asked in batch]:
            raise UsageError(
                f"{file} has answers to other prompts: name another folder with --out."
            )
        found, batches = found + answered, batches + 1
    if lines:
        with file.open("rb+") as kept:
            kept.truncate(sum(map(len, lines[: len(found)])))
    return found, batches


def _parsed(file: Path, line: bytes) -> Answer:
    try:
        return Answer(**json.loads(line))
    except (ValueError, TypeError) as error:
        raise UsageError(
            f"{file} is damaged ({error}): remove it, or name another folder with --out."
        ) from error


def _batches(work: Generation) -> Iterator[list[Asked]]:
    """All prompts that are short enough, those of similar length together, in whole batches."""
    room = min(LONGEST_PROMPT, work.target.config.max_positions - work.longest)
    encoded = (_asked(work, number, prompt) for number, prompt in enumerate(work.prompts))
    fitting = (asked for asked in encoded if len(asked.prompt_ids) <= room)
    while window := list(islice(fitting, work.rows * SORTED_BATCHES)):
        window.sort(key=lambda asked: len(asked.prompt_ids))
        for start in range(0, len(window), work.rows):
            yield window[start : start + work.rows]


def _asked(work: Generation, number: int, prompt: Prompt) -> Asked:
    temperature = TEMPERATURES[number % len(TEMPERATURES)]
    return Asked(prompt.prompt_id or "", temperature, work.tokenizer.encode_chat(prompt.messages))


def _generated(
    work: Generation, batches: Iterator[list[Asked]]
) -> Generator[list[Answer], None, None]:
    """The answers to each batch, several batches at a time; closing it stops all of them."""
    stop = threading.Event()
    count = worker_count(work.target.device)
    with workers(count) as pool:
        try:
            yield from in_order(
                pool, lambda batch: answer_together(work, batch, stop), batches, count
            )
        finally:
            stop.set()


@torch.inference_mode()
def answer_together(
    work: Generation, batch: Sequence[Asked], stop: threading.Event | None = None
) -> list[Answer]:
    """Answer all prompts of a batch, a token each at a time, until every answer has ended.

    Once `stop` is set the answers are cut off, and nobody should use them.
    """
    target, ends = work.target, work.target.config.eos_ids
    generator = torch.Generator(target.device)
    generator.manual_seed(work.seed + zlib.crc32(batch[0].key.encode()))
    found: list[list[int]] = [[] for _ in batch]
    temperatures = torch.tensor([asked.temperature for asked in batch], device=target.device)
    cache, logits = _start(target, batch, work.longest)
    rows = list(range(len(batch)))  # whose answer is where in the cache
    while rows and not (stop and stop.is_set()):
        chosen = choose(logits, temperatures[rows], generator)
        for row, token in zip(rows, chosen.tolist(), strict=True):
            found[row].append(token)
        for place in reversed(range(len(rows))):
            answer = found[rows[place]]
            if answer[-1] in ends or len(answer) == work.longest:
                cache.drop(place)
                chosen[place] = chosen[cache.count]
                rows[place] = rows[-1]
                rows.pop()
        if rows:
            logits = add_token(target, chosen[: len(rows)], cache)
    return [
        Answer(asked.key, asked.temperature, asked.prompt_ids, ids)
        for asked, ids in zip(batch, found, strict=True)
    ]


def _start(target: Llama, batch: Sequence[Asked], longest: int) -> tuple[RowsCache, Tensor]:
    """The prompts, read, and the logits [n, vocabulary] of the answers' first tokens."""
    ids = padded([asked.prompt_ids for asked in batch], target.device)
    cache = RowsCache(target, len(batch), ids.shape[1] + longest)
    hidden = read(target, ids, cache=cache).hidden
    cache.lengths[:] = torch.tensor([len(asked.prompt_ids) for asked in batch])
    last = hidden[torch.arange(len(batch), device=target.device), cache.lengths - 1]
    return cache, target.head(last)


def choose(logits: Tensor, temperatures: Tensor, generator: torch.Generator) -> Tensor:
    """The next token [n] of every row of logits [n, vocabulary]; at temperature 0 the best."""
    chosen = logits.argmax(-1)
    drawn = temperatures > 0
    if drawn.any():
        scaled = logits[drawn].float() / temperatures[drawn, None]
        ends = scaled.softmax(-1).cumsum(-1)
        # one number a row: torch.multinomial draws one for every token, half of all the time
        point = torch.rand(len(ends), 1, generator=generator, device=ends.device) * ends[:, -1:]
        found = torch.searchsorted(ends, point, right=True)[:, 0]
        chosen[drawn] = found.clamp(max=ends.shape[1] - 1)
    return chosen
