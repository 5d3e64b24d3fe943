"""A draft or head against its target, before anything is launched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from specviz.checkpoints.aux_layers import check_aux_layers
from specviz.checkpoints.config import architectures, size_of
from specviz.checkpoints.finding import Finding, Verdict, ok, refused, warning
from specviz.checkpoints.folder import Checkpoint, open_checkpoint
from specviz.checkpoints.format import DRAFTS_WITH, EAGLE3_FORMATS, Format
from specviz.checkpoints.frameworks import (
    EMBEDDED,
    ENGINES,
    LLAMA_CPP,
    SGLANG,
    VLLM,
    ignored,
    opened_by,
)
from specviz.checkpoints.gguf_pair import MOST_OTHER_TOKENS, check_gguf, gguf_in
from specviz.checkpoints.gguf_pair import SOURCE as LLAMA_CPP_SOURCE
from specviz.checkpoints.tensors import check_tensors, drafts_of, unchecked
from specviz.checkpoints.tokenizers import TOKENIZER, first_difference
from specviz.checkpoints.verifier import check_verifier
from specviz.checkpoints.vocabulary import check_maps
from specviz.checkpoints.weights import check_dtype, check_values
from specviz.errors import UsageError
from specviz.methods import Method

SIZES_SOURCE = "vLLM 0.33, config/speculative.py: verify_equal_vocab_size_if_draft_model"
SIZE_CHECKS = {
    VLLM: SIZES_SOURCE,
    SGLANG: "SGLang, pull request 23838",
    EMBEDDED: "specviz, engines/embedded/proposers/factory.py",
}
"""Engines that compare the sizes of two vocabularies, and where."""


def check_pair(
    draft: Path, target: Path, *, method: Method | None = None, values: bool = True
) -> tuple[Finding, ...]:
    """What a draft or head folder (or GGUF file) is, and whether it fits its target.

    `method`: what it is to draft with, where that is known. `values`: also read all weights of the
    draft and the target's headers. Whatever is broken is a finding; nothing is raised.
    """
    try:
        if file := gguf_in(draft):
            return tuple(check_gguf(file, target))
        if gguf_in(target):
            return (_gguf_target(draft, target),)
        return tuple(_check(open_checkpoint(draft), target, method, values=values))
    except UsageError as error:
        return (refused("files", str(error)),)
    except OSError as error:
        sentence = f"{error.filename} cannot be read ({error.strerror}): see who may read it."
        return (refused("files", sentence),)


def first_refusal(draft: str, target: str, method: Method, engine: str | None = None) -> str | None:
    """Why a pair must not be launched, in one sentence; None where nothing is known against it.

    `engine`, one of `ENGINES`: what the others refuse does not matter. Reads headers only. Names
    that are no folders here are not checked.
    """
    folders = [Path(name).expanduser() for name in (draft, target)]
    if not all(folder.exists() for folder in folders):
        return None
    found = check_pair(*folders, method=method, values=False)
    others = ENGINES - {engine} if engine else frozenset()
    wrong = (one for one in found if one.verdict is Verdict.REFUSED and one.subject not in others)
    return next((one.sentence for one in wrong), None)


def is_refused(found: Iterable[Finding]) -> bool:
    """Whether no engine can use the draft; what one alone refuses is not counted."""
    return any(one.verdict is Verdict.REFUSED and one.subject not in ENGINES for one in found)


def _gguf_target(draft: Path, target: Path) -> Finding:
    return warning(
        "format",
        f"{target.name} is GGUF and {draft.name} is not, so they were not compared; llama.cpp "
        "needs both as GGUF.",
    )


def _check(
    draft: Checkpoint, folder: Path, method: Method | None, *, values: bool
) -> list[Finding]:
    target = open_checkpoint(folder, weights=values)
    found = [_format(draft, method)]
    if engines := opened_by(draft):
        found.append(engines)
    if reason := unchecked(draft):
        found.append(warning("tensors", reason))
    found += _sizes(draft, target)
    if not reason and not is_refused(found):
        found += _contents(draft, target, values=values)
    elif draft.tensors is None:
        found += _of_pickled(draft, target)
    if draft.unlisted:
        found.append(
            warning(
                "files",
                f"{draft.unlisted[0]} is not in the index: vLLM skips it, the embedded engine "
                "reads it, so remove it.",
            )
        )
    if draft.format is Format.SPECULATORS:
        found.append(check_verifier(draft, target))
    return [*found, _tokenizer(draft, target)]


def _format(draft: Checkpoint, method: Method | None) -> Finding:
    kinds = architectures(draft.config)
    if not kinds and "model_type" not in draft.config:
        return refused(
            "format",
            f"config.json of {draft.name} names neither architectures nor model_type: restore the "
            "model's own file.",
        )
    wanted = DRAFTS_WITH.get(method, ()) if method else ()
    if wanted and draft.format not in wanted and _is_certain(draft):
        other = (
            "give vLLM its own --speculative-config with the method dflash"
            if draft.format is Format.DFLASH
            else "choose another method or folder"
        )
        return refused(
            "format",
            f"{draft.name} holds {draft.format.value} weights, and the method {method} takes "
            f"{' or '.join(one.value for one in wanted)}: {other}.",
        )
    named = f", architecture {kinds[0][:80]}" if kinds else ""
    return ok("format", f"{draft.name} is in the format {draft.format.value}{named}.")


def _is_certain(draft: Checkpoint) -> bool:
    """Whether the format is known, also where the tensors cannot be held against a list."""
    pickled_head = draft.tensors is None and draft.format is not Format.MODEL
    return draft.format is Format.DFLASH or pickled_head or unchecked(draft) is None


def _sizes(draft: Checkpoint, target: Checkpoint) -> list[Finding]:
    """Vocabulary and width against the target's, as far as the configurations say."""
    found: list[Finding] = []
    own, theirs = draft.config.get("vocab_size"), target.config.get("vocab_size")
    if type(own) is int and type(theirs) is int and own != theirs:
        if draft.format is Format.MODEL and _share_tokenizer(draft, target):
            found += _padded(draft, own, theirs)
        else:
            sentence = (
                f"The draft {draft.name} has {own:,} tokens, the target {theirs:,}: use a draft "
                "with the target's tokenizer."
            )
            found.append(refused("vocabulary", sentence, SIZES_SOURCE))
    if draft.format is Format.MODEL:
        return found
    key = "target_hidden_size" if draft.format in EAGLE3_FORMATS else "hidden_size"
    width, needed = draft.config.get(key), target.config.get("hidden_size")
    if type(width) is int and type(needed) is int and width != needed:
        found.append(
            refused(
                "tensors",
                f"{draft.name} reads rows of {width}, the hidden size of {target.name} is "
                f"{needed}: name the target that it was trained on.",
            )
        )
    return found


def _share_tokenizer(draft: Checkpoint, target: Checkpoint) -> bool:
    paths = [one.folder / TOKENIZER for one in (target, draft)]
    if not all(path.exists() for path in paths):
        return False
    ours, theirs = (path.read_bytes() for path in paths)
    return ours == theirs or first_difference(target.folder, draft.folder) is None


def _padded(draft: Checkpoint, own: int, theirs: int) -> Iterator[Finding]:
    """Findings on one tokenizer in matrices of two sizes, as Qwen2.5 has: more rows are padding.

    https://github.com/vllm-project/vllm/issues/7252
    """
    yield warning(
        "vocabulary",
        f"{draft.name} has {own:,} rows for the tokens of one tokenizer, the target {theirs:,}: "
        "the rest is padding.",
    )
    change = "pad" if own < theirs else "cut"
    for engine, source in SIZE_CHECKS.items():
        name = f"The {engine}" if engine == EMBEDDED else engine
        sentence = (
            f"{name} refuses a draft of {own:,} rows for a target of {theirs:,}: {change} its "
            f"embed_tokens and lm_head to {theirs:,} rows, new ones of zeros, and write that as "
            "vocab_size."
        )
        yield refused(engine, sentence, source)
    if abs(own - theirs) <= MOST_OTHER_TOKENS:
        sentence = f"llama.cpp takes a difference of up to {MOST_OTHER_TOKENS}."
        yield ok(LLAMA_CPP, sentence, LLAMA_CPP_SOURCE)
    else:
        sentence = f"llama.cpp takes a difference of {MOST_OTHER_TOKENS} at most."
        yield refused(LLAMA_CPP, sentence, LLAMA_CPP_SOURCE)


def _of_pickled(draft: Checkpoint, target: Checkpoint) -> list[Finding]:
    """Findings from names and configuration, for weights that are not read. Raises UsageError."""
    found = [warning(EMBEDDED, "The embedded engine reads safetensors only.")]
    if draft.format is Format.MODEL or draft.format is Format.DFLASH:
        return found
    layers = size_of(target.config, "num_hidden_layers", target.name)
    if draft.format in EAGLE3_FORMATS:
        found.append(check_aux_layers(draft.config, layers))
    return [*found, *ignored(draft, layers)]


def _contents(draft: Checkpoint, target: Checkpoint, *, values: bool) -> list[Finding]:
    """Of a format whose tensors are known. Raises UsageError for sizes that are missing."""
    layers, hidden = (
        size_of(target.config, key, target.name) for key in ("num_hidden_layers", "hidden_size")
    )
    found = check_tensors(draft, layers, hidden)
    whole = not is_refused(found)
    assert draft.tensors is not None
    if draft.format in EAGLE3_FORMATS:
        found.append(check_aux_layers(draft.config, layers))
        if whole:
            vocabulary = size_of(target.config, "vocab_size", target.name)
            found += check_maps(draft.tensors, drafts_of(draft), vocabulary)
    found.append(check_dtype(draft, target.config))
    if values and whole:
        found += check_values(draft, target)
    return [*found, *ignored(draft, layers)]


def _tokenizer(draft: Checkpoint, target: Checkpoint) -> Finding:
    subject = "tokenizer"
    paths = [one.folder / TOKENIZER for one in (target, draft)]
    if not paths[1].exists() and draft.format is not Format.MODEL:
        return ok(subject, "The head has no tokenizer of its own and takes the target's.")
    missing = [path.parent.name for path in paths if not path.exists()]
    if missing:
        return warning(
            subject, f"{missing[0]} has no {TOKENIZER}: the two tokenizers were not compared."
        )
    if paths[0].read_bytes() == paths[1].read_bytes():
        return ok(subject, f"{TOKENIZER} is the target's, byte for byte.")
    difference = first_difference(target.folder, draft.folder)
    if difference is None:
        return ok(subject, "The tokenizers give the same ids.")
    verdict, means = (
        (Verdict.REFUSED, "use a draft with the target's tokenizer")
        if difference.of_vocabulary
        else (Verdict.WARNING, "expect fewer accepted drafts there")
    )
    sentence = f"The tokenizers differ, which vLLM would not notice ({difference.words}): {means}."
    return Finding(verdict, subject, sentence, SIZES_SOURCE)
