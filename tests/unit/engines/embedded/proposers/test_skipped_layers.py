"""The search for what a model can do without, and where its result is kept."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from specviz.engines.embedded.model import Sublayers
from specviz.engines.embedded.opening import loaded_model, tokenizer_in
from specviz.engines.embedded.proposers.self_draft import SelfDrafter
from specviz.engines.embedded.proposers.skipped_layers import (
    TOKENS,
    USUALLY_RIGHT,
    Slot,
    search,
    skipped_layers,
)
from specviz.paths import cache_folder
from tests.support.demo_models import DEMO_TARGET
from tests.support.embedded.random_models import decode, random_llama

PROMPT = [3, 1, 4, 1, 5, 9, 2, 6]


@pytest.mark.parametrize("seed", range(3))
def test_all_that_is_skipped_leaves_most_tokens_right(seed: int) -> None:
    target = random_llama(5, seed=seed)
    found = search(target, PROMPT)
    assert len(set(found)) == len(found) < 10
    text = PROMPT + decode(target, None, PROMPT, TOKENS)
    cache = target.new_cache()
    with torch.inference_mode():
        target.forward(text[:-1], cache)
        drafter = SelfDrafter(target, cache)
        for count in range(2, len(found) + 1):
            run = without(5, found[:count])
            share = drafter.matchness(text, len(PROMPT), len(text), run)
            assert share > USUALLY_RIGHT


def without(layers: int, skipped: list[Slot]) -> Sublayers:
    attention, mlp = (
        tuple((kind, layer) not in skipped for layer in range(layers))
        for kind in ("attention", "mlp")
    )
    return Sublayers(attention, mlp)


def test_the_set_is_searched_once_and_leaves_the_draft_usually_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    target = loaded_model(DEMO_TARGET, "float32", torch.device("cpu"))
    tokenizer = tokenizer_in(DEMO_TARGET)
    notes: list[str] = []
    found = skipped_layers(DEMO_TARGET, target, tokenizer, notes.append)
    assert found.skipped and notes[0] == "searching the layers to skip, once: 0 %"
    (file,) = cache_folder("layers").iterdir()
    notes.clear()
    assert skipped_layers(DEMO_TARGET, target, tokenizer, notes.append) == found and not notes
    file.write_text("[[1")  # as a full disk leaves it
    assert skipped_layers(DEMO_TARGET, target, tokenizer, notes.append) == found and notes
    assert isinstance(found, Sublayers) and len(found.attention) == target.config.layers
