"""The sublayers that a model can best do without, searched once per model and kept.

Zhang et al., Draft & Verify (arXiv 2309.08168, 4.1), search for the set that decodes fastest. Here
every sublayer is left out alone on a text of the model's own, and those that it does worst without
stay: a pass for each sublayer, in place of hundreds.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from specviz.engines.embedded.faster_dtype import keep_json
from specviz.engines.embedded.model import Llama, Sublayers
from specviz.engines.embedded.tokenizer import ChatTokenizer
from specviz.paths import cache_folder

PROMPT = "Explain how a computer adds two numbers, then write a short function that does it."
TOKENS = 96
"""Length of the model's own answer, on which sets are compared."""
USUALLY_RIGHT = 0.5
"""A set skips as much as leaves more than this share of the tokens right."""

Slot = tuple[str, int]
"""A sublayer: attention or mlp, and the number of its layer."""

_log = logging.getLogger(__name__)


def skipped_layers(
    folder: Path, target: Llama, tokenizer: ChatTokenizer, note: Callable[[str], None]
) -> Sublayers:
    """The set for the model in a folder, searched now if that has not been done; `note` gets how
    far it is."""
    file = cache_folder("layers") / f"{folder.name}-{_key(folder)}.json"
    try:
        skipped = [(kind, layer) for kind, layer in json.loads(file.read_text(encoding="utf-8"))]
        return _without(target, skipped)
    except FileNotFoundError:
        pass
    except (OSError, ValueError, TypeError) as error:
        _log.warning("The layers to skip are searched again: %s cannot be read (%r).", file, error)
    skipped = search(target, tokenizer.encode_chat([{"role": "user", "content": PROMPT}]), note)
    try:
        keep_json(file, skipped)
    except OSError as error:
        _log.warning("The layers to skip will be searched again next time: %s", error)
    return _without(target, skipped)


@torch.inference_mode()
def search(
    target: Llama, prompt_ids: Sequence[int], note: Callable[[str], None] = lambda text: None
) -> list[Slot]:
    """The sublayers to skip, those that are missed least first."""
    text = _own_text(target, prompt_ids)
    slots = [
        (kind, layer) for kind in ("attention", "mlp") for layer in range(target.config.layers)
    ]
    losses = {}
    for number, slot in enumerate(slots):
        note(f"searching the layers to skip, once: {100 * number // len(slots)} %")
        losses[slot] = _loss_and_share(target, text, len(prompt_ids), [slot])[0]
    slots.sort(key=losses.__getitem__)
    skipped = slots[:1]
    for slot in slots[1:-1]:
        if _loss_and_share(target, text, len(prompt_ids), [*skipped, slot])[1] <= USUALLY_RIGHT:
            break
        skipped.append(slot)
    return skipped


def _own_text(target: Llama, prompt_ids: Sequence[int]) -> list[int]:
    """The prompt and the beginning of the model's greedy answer; it goes on behind an end."""
    cache, text = target.new_cache(), list(prompt_ids)
    for _ in range(TOKENS):
        logits = target.forward(text[cache.length :], cache, logits_from=-1).logits
        text.append(int(logits[-1].argmax()))
    return text


def _loss_and_share(
    target: Llama, text: Sequence[int], start: int, skipped: Sequence[Slot]
) -> tuple[float, float]:
    """Without some sublayers: the mean negative log-probability of the tokens of `text` from
    `start` on, in nats, and the share of them that would be picked."""
    run, cache = _without(target, skipped), target.new_cache()
    logits = target.forward(text[:-1], cache, run=run, logits_from=start - 1).logits.float()
    wanted = torch.tensor(text[start:], device=logits.device)
    loss = torch.nn.functional.cross_entropy(logits, wanted)
    return float(loss), float((logits.argmax(-1) == wanted).float().mean())


def _without(target: Llama, skipped: Sequence[Slot]) -> Sublayers:
    layers, left_out = range(target.config.layers), set(skipped)
    return Sublayers(
        tuple(("attention", layer) not in left_out for layer in layers),
        tuple(("mlp", layer) not in left_out for layer in layers),
    )


def _key(folder: Path) -> str:
    """Hash of the configuration, and of every weight file's size and time of change."""
    found = hashlib.sha256((folder / "config.json").read_bytes())
    for file in sorted(folder.glob("*.safetensors")):
        about = file.stat()
        found.update(f"\0{file.name} {about.st_size} {about.st_mtime_ns}".encode())
    return found.hexdigest()[:16]
