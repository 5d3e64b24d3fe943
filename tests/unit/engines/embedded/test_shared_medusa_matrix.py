"""Medusa heads that share a vocabulary matrix draft as if each had it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from specviz.checkpoints.check import check_pair
from specviz.checkpoints.finding import Verdict
from specviz.config import Sampling
from specviz.engines.embedded.draft import Draft, Outcome
from specviz.engines.embedded.model import Llama
from specviz.engines.embedded.proposers.medusa import load_medusa
from specviz.engines.embedded.sampler import Sampler
from tests.support.embedded.tiny_models import CPU, load_tiny, save_medusa, save_tiny

SOME = torch.arange(3, 43, 2)
"""The tokens that are drafted where not all are."""


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Llama:
    return load_tiny(save_tiny(tmp_path_factory.mktemp("target") / "target"))


def drafted(folder: Path, target: Llama) -> Draft:
    heads = load_medusa(folder, target, tree=True)
    heads.reset((), Sampler(Sampling(), CPU))
    heads.observe(Outcome((1,), (), 2, _hidden(target), None))
    return heads.propose((1, 2), 12)


def saved(folder: Path, target: Llama, matrix: Tensor | None, **more: Tensor) -> Path:
    """Heads without matrices of their own, and `matrix` for all of them."""
    save_medusa(folder, target)
    named = load_file(folder / "model.safetensors")
    own = {name: tensor for name, tensor in named.items() if not name.startswith("lm_heads")}
    shared = {} if matrix is None else {"lm_head.weight": matrix}
    save_file(own | shared | more, folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    config |= {"original_lm_head": True}
    if "token_map" in more:
        config["truncated_vocab_size"] = len(more["token_map"])
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def repeated(folder: Path, target: Llama, matrix: Tensor) -> Path:
    """The same heads, each with the matrix."""
    save_medusa(folder, target)
    named = load_file(folder / "model.safetensors")
    each = {name: matrix.clone() for name in named if name.startswith("lm_heads")}
    save_file(named | each, folder / "model.safetensors")
    return folder


def test_a_matrix_for_all_is_one_for_each(target: Llama, tmp_path: Path) -> None:
    matrix = torch.randn(48, 32, generator=torch.Generator().manual_seed(1))
    each = drafted(repeated(tmp_path / "each", target, matrix), target)
    assert drafted(saved(tmp_path / "shared", target, matrix), target) == each
    own = drafted(repeated(tmp_path / "own", target, target.embeddings), target)
    assert drafted(saved(tmp_path / "target's", target, None), target) == own


@pytest.mark.parametrize("rows", ["some", "all"])
def test_only_tokens_of_the_map_are_drafted(target: Llama, tmp_path: Path, rows: str) -> None:
    matrix = torch.randn(48, 32, generator=torch.Generator().manual_seed(1))
    kept = matrix[SOME] if rows == "some" else matrix
    folder = saved(tmp_path / "some", target, kept, token_map=SOME)
    found = drafted(folder, target)
    assert found.token_ids and set(found.token_ids) <= set(SOME.tolist())
    heads = load_medusa(repeated(tmp_path / "each", target, matrix), target, tree=True)
    logits = torch.cat([head.logits(_hidden(target)) for head in heads._heads])
    best = SOME[logits[:, SOME].argmax(-1)].tolist()
    firsts = {}
    for token, depth in zip(found.token_ids, _depths(found), strict=True):
        firsts.setdefault(depth, token)
    assert [firsts[depth] for depth in sorted(firsts)] == best[: len(firsts)]


def test_the_written_form_passes_the_check(target: Llama, tmp_path: Path) -> None:
    matrix = torch.randn(len(SOME), 32)
    folder = saved(tmp_path / "some", target, matrix, token_map=SOME)
    found = check_pair(folder, save_tiny(tmp_path / "target"))
    assert not [one for one in found if one.verdict is Verdict.REFUSED], found


def _hidden(target: Llama) -> Tensor:
    return torch.randn(1, target.config.hidden, generator=torch.Generator().manual_seed(2))


def _depths(draft: Draft) -> list[int]:
    depths: list[int] = []
    for parent in draft.parents:
        depths.append(1 if parent < 0 else depths[parent] + 1)
    return depths
