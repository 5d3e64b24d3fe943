"""The compiled kernels compute what torch does, and every row as if it were alone."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from specviz.engines.embedded.compiled import library as library_module
from specviz.engines.embedded.compiled.library import OFF, library
from specviz.engines.embedded.compiled.product import Product
from specviz.engines.embedded.model import Llama, load_model
from specviz.engines.embedded.norm import rms_norm
from specviz.trace import ROOT
from tests.support.demo_models import DEMO_TARGET
from tests.support.embedded.model_checks import assert_close, branch, tokens, trees
from tests.support.embedded.tiny_models import CPU, KINDS, load_tiny, save_tiny
from tests.support.properties import share

compiled = pytest.mark.skipif(library() is None, reason="no g++ here")


@compiled
@given(
    rows=st.integers(1, 40),
    inputs=st.integers(1, 12).map(lambda many: 8 * many),
    outputs=st.integers(1, 100),
    halved=st.booleans(),
    biased=st.booleans(),
    seed=st.integers(0, 99),
)
def test_products_are_torchs(
    rows: int, inputs: int, outputs: int, halved: bool, biased: bool, seed: int
) -> None:
    torch.manual_seed(seed)
    weight, x = torch.randn(outputs, inputs), torch.randn(rows, inputs)
    weight = weight.bfloat16().float() if halved else weight
    bias = torch.randn(outputs) if biased else None
    product = Product(weight, bias)
    assert_close(product(x), torch.nn.functional.linear(x, weight, bias))
    padded = -(-outputs // 32) * 32
    assert product.nbytes == padded * inputs * (2 if halved else 4)


@compiled
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_norms_are_torchs(scale: float) -> None:
    x, weight = scale * torch.randn(5, 48), torch.randn(48)
    theirs = torch.nn.functional.rms_norm(x, (48,), weight, 1e-6)
    assert_close(rms_norm(x, weight, 1e-6), theirs)


@compiled
@pytest.mark.parametrize("kind", KINDS)
def test_compiled_models_are_those_of_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    save_tiny(tmp_path, kind, seed=7)
    ours = load_tiny(tmp_path)
    monkeypatch.setattr(library_module, "library", lambda: None)
    torchs = load_tiny(tmp_path)
    assert ours.compiled and not torchs.compiled
    for mine, theirs in zip(_some_rows(ours), _some_rows(torchs), strict=True):
        assert_close(mine, theirs)


def _some_rows(model: Llama) -> list[torch.Tensor]:
    """Of a prompt, of a tree after it, and of a token after a branch that was kept."""
    cache = model.new_cache()
    prompt = model.forward(tokens(41), cache).logits
    tree = model.forward(tokens(7), cache, parents=(ROOT, ROOT, 0, 1, 1, 3)).logits
    cache.keep(41, [0, 2, 4])
    return [prompt, tree, model.forward([5], cache).logits]


@pytest.fixture(scope="module")
def demo_target() -> Llama:
    return load_model(DEMO_TARGET, torch.float32, CPU)


@compiled
@share(0.15)
@given(trees(), st.integers(0, 90))
def test_rows_of_a_tree_are_those_of_plain_decoding(demo_target: Llama, tree, before: int) -> None:
    """Bit for bit, on one thread and on two, and so is what is kept of a tree."""
    parents, ids = tree
    node = len(parents) - 1
    path = branch(parents, node)
    together, alone = demo_target.new_cache(), demo_target.new_cache()
    context = tokens(before)
    for cache in (together, alone):
        if context:
            demo_target.forward(context, cache)
    torch.set_num_threads(2)
    rows = demo_target.forward(ids, together, parents=parents).logits
    torch.set_num_threads(1)
    together.keep(before, [0, *(above + 1 for above in path)])
    for place in (ROOT, *path):
        row = demo_target.forward([ids[place + 1]], alone).logits[0]
        assert torch.equal(row, rows[place + 1])
    end = alone.length
    assert together.length == end
    assert torch.equal(together.keys[:, :, :end], alone.keys[:, :, :end])
    assert torch.equal(together.values[:, :, :end], alone.values[:, :, :end])


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """`library` as a process meets it that has nothing cached."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv(OFF, raising=False)
    return library_module.library.__wrapped__


@compiled
def test_a_library_is_built_once(build, tmp_path: Path) -> None:
    assert build() is not None
    (file,) = tmp_path.rglob("*.*")
    written = file.stat().st_mtime_ns
    assert build() is not None
    assert [*tmp_path.rglob("*.*")] == [file] and file.stat().st_mtime_ns == written


def test_without_a_compiler_there_is_none(build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert build() is None


def test_it_can_be_switched_off(build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OFF, "1")
    assert build() is None and not [*tmp_path.iterdir()]


def test_a_compiler_that_fails_is_logged(
    build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken = tmp_path / "g++"
    broken.write_text("#!/bin/sh\necho no such option >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda name: str(broken))
    with caplog.at_level(logging.WARNING):
        assert build() is None
    assert "no such option" in caplog.text
