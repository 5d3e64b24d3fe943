"""A draft packed into a file of 8 bits a weight, and the folder that is written of it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from scripts.pack_draft import pack
from specviz.checkpoints.check import first_refusal
from specviz.methods import Method
from specviz.models import drafts
from specviz.models.drafts import is_current, is_for, shipped_drafts, write_draft
from tests.support.demo_models import DEMO_DRAFT, DEMO_TARGET, DRAFTS


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data/drafts with its README."""
    folder = tmp_path / "drafts"
    folder.mkdir()
    (folder / "README.md").write_text("---\nlicense: mit\n---\n")
    monkeypatch.setattr(drafts, "DRAFTS", folder)
    return folder


def unpacked(draft: Path, shipped: Path) -> Path:
    file = shipped / "demo-target-draft.gguf"
    pack(draft, DEMO_TARGET, file)
    assert file.stat().st_size < 0.6 * (draft / "model.safetensors").stat().st_size
    folder = shipped / "written"
    folder.mkdir()
    write_draft(file, DEMO_TARGET, folder)
    assert shipped_drafts("demo-target") == [file] and is_current(file, folder)
    assert is_for(file, DEMO_TARGET) and not is_for(file, DEMO_DRAFT)
    return folder


@pytest.mark.parametrize("method", [Method.DRAFT_MODEL, Method.MEDUSA, Method.EAGLE, Method.EAGLE3])
def test_a_draft_comes_back_rounded_and_fits(method: Method, shipped: Path) -> None:
    draft = DRAFTS[method]
    folder = unpacked(draft, shipped)
    before, after = (load_file(one / "model.safetensors") for one in (draft, folder))
    assert before.keys() == after.keys()
    for name, tensor in before.items():
        assert after[name].dtype == tensor.dtype
        if not tensor.is_floating_point() or tensor.ndim == 1:
            assert torch.equal(after[name], tensor)
        else:
            largest = tensor.float().abs().max()
            assert (after[name].float() - tensor.float()).abs().max() <= largest / 100
    assert first_refusal(str(folder), str(DEMO_TARGET), method) is None
    config = json.loads((folder / "config.json").read_text())
    assert config.pop(drafts.MADE)
    assert config == json.loads((draft / "config.json").read_text())
    assert (folder / "tokenizer.json").exists() == (draft / "tokenizer.json").exists()


def test_what_is_the_targets_own_is_not_in_the_file(shipped: Path, tmp_path: Path) -> None:
    own = load_file(DEMO_TARGET / "model.safetensors")
    rows = torch.tensor([3, 0, 77, 78])
    draft = Path(shutil.copytree(DEMO_DRAFT, tmp_path / "draft"))
    table = own["model.embed_tokens.weight"]
    tensors = {"table": table, "rows": table[rows].contiguous(), "token_map": rows}
    tensors["own"] = torch.ones(4, 64, dtype=torch.bfloat16)
    save_file(tensors, draft / "model.safetensors")
    folder = unpacked(draft, shipped)
    after = load_file(folder / "model.safetensors")
    assert torch.equal(after["table"], table) and torch.equal(after["rows"], table[rows])
    assert (shipped / "demo-target-draft.gguf").stat().st_size < table.nbytes / 10


def test_another_version_is_noticed(shipped: Path) -> None:
    folder = unpacked(DRAFTS[Method.EAGLE], shipped)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {drafts.MADE: "earlier"}))
    assert not is_current(shipped / "demo-target-draft.gguf", folder)
    (folder / "config.json").unlink()
    assert not is_current(shipped / "demo-target-draft.gguf", folder)


def test_every_shipped_file_is_a_draft_with_its_licence() -> None:
    for file in shipped_drafts("smollm2"):
        assert json.loads(drafts.read_gguf(file).metadata["specviz.config"])
    assert "license: apache-2.0" in (drafts.DRAFTS / "README.md").read_text()
    assert sum(file.stat().st_size for file in drafts.DRAFTS.iterdir()) <= 35_000_000
