"""The model field: what was typed, what it offers the arms, and why it cannot be used."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from specviz.methods import Method
from specviz.models.pair import default_model
from specviz.servers.llama_cpp.conversion.gguf_file import write_gguf
from specviz.views.shared.arm_choice import Place, default_arms
from specviz.views.shared.model_field import (
    Kind,
    kind_of,
    model_name,
    offer_of,
    problem_of,
    recent,
    title,
    typed,
)
from tests.support.demo_models import DEMO_TARGET, MODELS


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder with a target of another name and one head for it."""
    shutil.copytree(DEMO_TARGET, tmp_path / "own")
    shutil.copytree(MODELS / "demo-eagle3", tmp_path / "own-eagle3")
    return tmp_path / "own"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("smollm2", Kind.NAME),
        ("SmolLM2", Kind.NAME),
        ("/models/my-llama", Kind.FOLDER),
        ("my.llama", Kind.FOLDER),
        ("owner/not-fetched", Kind.FOLDER),
        ("/models/a b.Q8_0.GGUF", Kind.GGUF),
        ("http://127.0.0.1:8000/v1", Kind.SERVER),
        ("HTTPS://gpu", Kind.SERVER),
        ("gpu-7:8000", Kind.SERVER),
    ],
)
def test_what_kind_of_thing_was_typed(text: str, kind: Kind) -> None:
    assert kind_of(text) is kind


def test_what_is_pasted_is_a_model_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert typed(" '/models/my llama' ") == "/models/my llama"
    assert typed("~/llama") == "/home/me/llama"
    assert typed(None) == typed(" ") == typed(DEMO_TARGET.name) == default_model()
    monkeypatch.setenv("SPECVIZ_MODEL", "smollm2")
    assert typed("SMOLLM2") == "smollm2" and title("smollm2") == "SmolLM2"
    assert [model_name(one) for one in ("smollm2", "/m", "gpu:8000")] == [None, "/m", None]


def test_a_folder_offers_the_drafts_beside_it(own: Path) -> None:
    offer = offer_of(str(own))
    assert offer.places == tuple(Place)
    assert offer.usual == {Method.EAGLE3: "own-eagle3"}
    assert offer.drafts_at(Place.EMBEDDED, "eagle3") == ("",)
    on = [(arm.place, arm.method) for arm in default_arms(offer) if arm.is_on]
    assert on == [(Place.EMBEDDED, "baseline"), (Place.EMBEDDED, "eagle3")]


def test_a_typed_draft_is_offered_where_it_fits(own: Path) -> None:
    typed_ones = (str(MODELS / "demo-draft"), str(MODELS / "demo-medusa"), "/nowhere")
    offer = offer_of(str(own), typed_ones)
    assert offer.drafts_at(Place.VLLM, "draft_model") == (typed_ones[0],)
    assert offer.drafts_at(Place.EMBEDDED, "medusa") == (typed_ones[1],)
    assert offer.drafts_at(Place.EMBEDDED, "eagle") == ()


def test_a_gguf_opens_llama_cpp(own: Path, tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.gguf" for name in ("target", "draft")]
    for folder, file in zip((own, MODELS / "demo-draft"), files, strict=True):
        write_gguf(folder, file)
    target, draft = map(str, files)
    assert problem_of(target) is None
    offer = offer_of(target, (draft,))
    assert offer.places == (Place.OFF, Place.LLAMA_CPP, Place.URL)
    on = [(arm.place, arm.method) for arm in default_arms(offer) if arm.is_on]
    assert on == [(Place.LLAMA_CPP, "baseline"), (Place.LLAMA_CPP, "draft_model")]
    assert offer_of(str(own), (draft,)).drafts_at(Place.EMBEDDED, "draft_model") == ()


def test_why_a_model_cannot_be_used(own: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "half.gguf"
    damaged.write_bytes(b"GGUF\3\0\0\0")
    config = json.loads((own / "config.json").read_text())
    (own / "config.json").write_text(json.dumps(config | {"model_type": "gemma3"}))
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "m.gguf").touch()
    found = {
        str(tmp_path / "nowhere"): "There is no folder",
        "owner/not-fetched": "specviz models get owner/not-fetched",
        str(own): "is gemma3: start it on vLLM",
        str(MODELS / "demo-eagle3"): "draft for a target",
        str(damaged): "is not a whole GGUF file",
        str(bare): "name its file m.gguf",
        str(tmp_path / "no.gguf"): "cannot be read",
        "http://": "is not a server URL",
        "/" + "x" * 300: "check the path",
    }
    for text, sentence in found.items():
        problem = problem_of(text)
        assert problem is not None and sentence in problem and "\n" not in problem
    assert problem_of(default_model()) is None
    assert problem_of("http://gpu:8000") is None


def test_recent_models_are_those_that_are_here(own: Path) -> None:
    stored = [str(own), "demo-target", "own", "/gone", str(own), str(DEMO_TARGET), "a/hub-name"]
    assert recent(stored) == [str(own)]
