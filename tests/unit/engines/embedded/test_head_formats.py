"""A head drafts the same from every format, and has its norms where its configuration says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from specviz.checkpoints.check import check_pair
from specviz.checkpoints.convert import convert
from specviz.checkpoints.finding import Verdict
from specviz.checkpoints.format import Format
from specviz.config import EngineKind, RunConfig, Sampling
from specviz.engines.embedded.opening import open_engine
from specviz.errors import UsageError
from specviz.methods import Method
from specviz.trace import Step, TokenDecision
from tests.support.demo_models import DEMO_TARGET, MODELS, known_prompts
from tests.support.embedded.tiny_models import KINDS, save_tiny

OWN, SPECULATORS = MODELS / "demo-eagle3", MODELS / "demo-eagle3-speculators"
WEIGHTS = "model.safetensors"


def drafted(folder: Path) -> list[tuple[int, float | None]]:
    """Every drafted token of a sampled answer, with the probability that the head gave it."""
    config = RunConfig(
        EngineKind.EMBEDDED,
        Method.EAGLE3,
        4,
        draft=str(folder),
        options={"dtype": "float32", "shape": "chain", "draft_sampling": "sampled"},
    )
    engine, _ = open_engine(config)
    sampling = Sampling(0.7, max_tokens=40, seed=5)
    events = engine.events(known_prompts("creative_writing")[1], sampling)
    steps = [event for event in events if isinstance(event, Step)]
    decisions: list[TokenDecision] = [one for step in steps for one in step.drafted]
    assert len(decisions) > 20
    return [(one.token_id, one.draft_prob) for one in decisions]


@pytest.fixture(scope="module")
def reference() -> list[tuple[int, float | None]]:
    return drafted(OWN)


def test_a_speculators_folder_drafts_bit_for_bit_the_same(
    reference: list[tuple[int, float | None]],
) -> None:
    assert drafted(SPECULATORS) == reference


def test_converted_there_and_back_it_drafts_bit_for_bit_the_same(
    tmp_path: Path, reference: list[tuple[int, float | None]]
) -> None:
    there, back = tmp_path / "there", tmp_path / "back"
    convert(OWN, Format.SPECULATORS, str(DEMO_TARGET), there)
    convert(there, Format.SPECFORGE, str(DEMO_TARGET), back)
    assert drafted(there) == drafted(back) == reference
    for made, shipped in ((there, SPECULATORS), (back, OWN)):
        assert (made / WEIGHTS).read_bytes() == (shipped / WEIGHTS).read_bytes()
        assert not [one for one in check_pair(made, DEMO_TARGET) if one.verdict == "refused"]
    for made in (there, back):  # as safetensors itself reads it
        assert load_file(made / WEIGHTS).keys() > {"d2t", "t2d", "fc.weight"}


def test_converted_for_sglang_its_layers_are_counted_both_ways(tmp_path: Path) -> None:
    head = tmp_path / "head"
    convert(SPECULATORS, Format.SPECFORGE, str(DEMO_TARGET), head)
    config = json.loads((head / "config.json").read_text(encoding="utf-8"))
    assert "norm_output" not in config  # another thing to SpecForge
    key = "eagle_aux_hidden_state_layer_ids"
    assert config[key] == [2, 4, 8]
    assert config["eagle_config"][key] == [1, 3, 7]
    assert config["architectures"] == ["LlamaForCausalLMEagle3"]
    assert "transformer_layer_config" not in config and "speculators_config" not in config


@pytest.mark.parametrize(
    ("name", "words"), [("demo-medusa", "has no EAGLE-3 head"), ("demo-draft", "has no EAGLE-3")]
)
def test_other_drafts_are_not_converted(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        convert(MODELS / name, Format.SPECULATORS, str(DEMO_TARGET), tmp_path / "head")


def test_what_is_there_is_not_overwritten(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is there already"):
        convert(OWN, Format.SPECULATORS, str(DEMO_TARGET), tmp_path)


def with_norms(folder: Path, **flags: bool) -> Path:
    """The demo head with norms of ones before its fc, and these flags."""
    folder.mkdir()
    config = json.loads((OWN / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, **flags}), encoding="utf-8")
    tensors = load_file(OWN / WEIGHTS)
    if flags.get("norm_before_fc"):
        tensors["input_norm.weight"] = torch.ones(3 * 384, dtype=torch.bfloat16)
    if flags.get("fc_norm"):
        tensors |= {f"fc_norm.{i}.weight": torch.ones(384, dtype=torch.bfloat16) for i in range(3)}
    save_file(tensors, folder / WEIGHTS)
    return folder


@pytest.mark.parametrize(
    "flag", ["norm_before_residual", "norm_before_fc", "fc_norm", "norm_output"]
)
def test_a_norm_of_the_configuration_is_not_ignored(
    tmp_path: Path, flag: str, reference: list[tuple[int, float | None]]
) -> None:
    folder = with_norms(tmp_path / "head", **{flag: True})
    refused = [one for one in check_pair(folder, DEMO_TARGET) if one.verdict is Verdict.REFUSED]
    assert not refused
    assert drafted(folder) != reference


@pytest.mark.parametrize("kind", KINDS)
def test_what_transformers_saves_has_all_its_tensors(tmp_path: Path, kind: str) -> None:
    folder = save_tiny(tmp_path / "model", kind)
    found = {one.subject: one.verdict for one in check_pair(folder, folder)}
    assert found["tensors"] is Verdict.OK
    assert Verdict.REFUSED not in found.values()


def test_a_broken_head_is_refused_before_models_are_loaded(tmp_path: Path) -> None:
    folder = with_norms(tmp_path / "head", norm_before_fc=True)
    tensors = load_file(folder / WEIGHTS)
    del tensors["input_norm.weight"]
    save_file(tensors, folder / WEIGHTS)
    with pytest.raises(UsageError, match=r"input_norm\.weight is missing"):
        open_engine(RunConfig(EngineKind.EMBEDDED, Method.EAGLE3, 3, draft=str(folder)))
