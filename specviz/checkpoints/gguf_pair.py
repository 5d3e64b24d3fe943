"""A GGUF draft against its target, which is GGUF too or the folder that it was converted from.

llama.cpp, common/speculative.cpp: sizes of vocabulary may differ by 128, and tokens are compared
from id 5 on; conversion/llama.py writes `extract_layers` of an EAGLE-3 head.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from specviz.checkpoints.config import size_of
from specviz.checkpoints.files.gguf import GgufFile, read_gguf
from specviz.checkpoints.finding import Finding, ok, refused, warning
from specviz.checkpoints.folder import open_checkpoint
from specviz.checkpoints.format import Format
from specviz.checkpoints.tokenizers import TOKENIZER, tokens_by_id

MOST_OTHER_TOKENS = 128
FIRST_COMPARED = 5
SOURCE = "llama.cpp, common/speculative.cpp: common_speculative_are_compatible"
CONVERTER = "llama.cpp 0274f0f, conversion/llama.py"
CONVERT_AGAIN = "convert it again with its own target"


def gguf_in(path: Path) -> Path | None:
    """The GGUF file that a path names: itself, or the only weights of a folder."""
    if path.suffix == ".gguf":
        return path
    if not path.is_dir() or (path / "config.json").exists():
        return None
    return next(iter(sorted(path.glob("*.gguf"))), None)


def check_gguf(draft: Path, target: Path) -> list[Finding]:
    """Raises UsageError for a file that is broken."""
    file = read_gguf(draft)
    found = [
        ok(
            "format",
            f"{draft.name} is in the format {Format.GGUF}, architecture {file.architecture}.",
        ),
        ok("engines", "Only llama.cpp and what is built on it open it."),
    ]
    found += _vocabulary(file, target)
    if file.architecture == "eagle3":
        found += _eagle3(file, target)
    return found


def _vocabulary(file: GgufFile, target: Path) -> Iterator[Finding]:
    ours, count = _tokens_of(target)
    theirs = file.tokens
    if theirs is None or ours is None:
        which = file.path.name if theirs is None else target.name
        yield warning("tokenizer", f"{which} has no tokenizer here: compare the two yourself.")
        return
    if abs(len(theirs) - count) > MOST_OTHER_TOKENS:
        yield refused(
            "vocabulary",
            f"{file.path.name} has {len(theirs):,} tokens, the target {count:,}: llama.cpp takes a "
            f"difference of {MOST_OTHER_TOKENS} at most, so use a draft with the target's "
            "tokenizer.",
            SOURCE,
        )
        return
    other = [place for place, token in enumerate(theirs) if ours.get(place, token) != token]
    if not other:
        yield ok("tokenizer", f"The {len(theirs):,} tokens are the target's.", SOURCE)
        return
    place = other[0]
    sentence = (
        f"Token {place:,} is {theirs[place][:40]!r} in {file.path.name} and {ours[place][:40]!r} "
        "in the target: use a draft with the target's tokenizer"
    )
    if other[-1] < FIRST_COMPARED:
        yield warning(
            "tokenizer",
            f"{sentence}; llama.cpp compares from token {FIRST_COMPARED} on and would not say so.",
            SOURCE,
        )
    else:
        yield refused("tokenizer", f"{sentence}.", SOURCE)


def _tokens_of(target: Path) -> tuple[dict[int, str] | None, int]:
    """The target's tokens by id and the size of its vocabulary."""
    if file := gguf_in(target):
        tokens = read_gguf(file).tokens
        return (None, 0) if tokens is None else (dict(enumerate(tokens)), len(tokens))
    count = size_of(open_checkpoint(target, weights=False).config, "vocab_size", target.name)
    return (tokens_by_id(target) if (target / TOKENIZER).exists() else None), count


def _eagle3(file: GgufFile, target: Path) -> Iterator[Finding]:
    hidden, layers = _sizes_of(target)
    own = file.size("target_hidden_size")
    if own is not None and hidden is not None and own != hidden:
        yield refused(
            "tensors",
            f"{file.path.name} reads rows of {own}, the target has {hidden}: {CONVERT_AGAIN}.",
            CONVERTER,
        )
    taken = file.metadata.get("eagle3.extract_layers")
    if not isinstance(taken, list) or not all(type(one) is int for one in taken):
        yield refused(
            "aux layers",
            f"{file.path.name} names no eagle3.extract_layers: {CONVERT_AGAIN}.",
            CONVERTER,
        )
    elif layers is not None and any(not 0 <= one <= layers for one in taken):
        yield refused(
            "aux layers",
            f"{file.path.name} reads the layers {', '.join(map(str, taken))} of a target of "
            f"{layers}: {CONVERT_AGAIN}.",
            CONVERTER,
        )


def _sizes_of(target: Path) -> tuple[int | None, int | None]:
    if path := gguf_in(target):
        file = read_gguf(path)
        return file.size("embedding_length"), file.size("block_count")
    config = open_checkpoint(target, weights=False).config
    return (
        size_of(config, "hidden_size", target.name),
        size_of(config, "num_hidden_layers", target.name),
    )
