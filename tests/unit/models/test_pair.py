"""Which target and which draft an arm gets that names none, or only one of them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from specviz.config import EngineKind
from specviz.errors import UsageError
from specviz.methods import METHODS, Method
from specviz.models.kept import place_of
from specviz.models.pair import (
    Pair,
    default_draft,
    default_folder,
    default_model,
    default_name,
    draft_for,
    is_default,
    pair_of,
    usual_method,
)
from specviz.servers.kinds import default_spec
from tests.support.demo_models import DEMO_DRAFT, DEMO_TARGET, DRAFTS, MODELS


def test_smollm2_answers_unless_the_setting_names_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPECVIZ_MODEL")
    assert (default_model(), default_name()) == ("smollm2", "smollm2")
    assert default_folder() == place_of("smollm2")
    assert is_default(None) and is_default("/anywhere/smollm2") and not is_default("llama")
    monkeypatch.setenv("SPECVIZ_MODEL", "~/models/llama-8b")
    assert default_folder() == Path.home() / "models" / "llama-8b"
    assert is_default("llama-8b") and not is_default("smollm2")


@pytest.mark.parametrize("method", Method)
def test_every_method_gets_what_it_needs(method: Method) -> None:
    draft = DRAFTS.get(method)
    assert (draft is not None) == METHODS[method].needs_draft
    assert pair_of(None, None, method) == Pair(str(DEMO_TARGET), draft and str(draft))
    assert default_draft(method) == draft


def test_a_server_gets_the_same_pair() -> None:
    spec = default_spec(Method.DRAFT_MODEL, 4, engine=EngineKind.LLAMA_CPP)
    assert (spec.model, spec.draft) == (str(DEMO_TARGET), str(DEMO_DRAFT))


def test_a_named_draft_is_taken_and_judged_later() -> None:
    assert pair_of(None, "/my/head", Method.EAGLE3) == Pair(str(DEMO_TARGET), "/my/head")


def test_a_draft_that_lies_beside_its_target_is_found(tmp_path: Path) -> None:
    target = Path(shutil.copytree(DEMO_TARGET, tmp_path / "llama"))
    assert draft_for(target, Method.EAGLE) is None
    with pytest.raises(UsageError, match="No EAGLE head for llama is here, and eagle needs one"):
        pair_of(str(target), None, Method.EAGLE)
    beside = Path(shutil.copytree(MODELS / "demo-eagle", tmp_path / "llama-eagle"))
    assert pair_of(str(target), None, Method.EAGLE) == Pair(str(target), str(beside))
    assert draft_for(target, Method.EAGLE3) is None


def test_what_does_not_fit_or_is_no_smaller_is_not_taken(tmp_path: Path) -> None:
    target = Path(shutil.copytree(DEMO_TARGET, tmp_path / "llama"))
    shutil.copytree(DEMO_TARGET, tmp_path / "another")
    assert draft_for(target, Method.DRAFT_MODEL) is None
    narrow = Path(shutil.copytree(DEMO_DRAFT, tmp_path / "narrow"))
    assert draft_for(target, Method.DRAFT_MODEL) == narrow
    shutil.copytree(MODELS / "demo-eagle3", tmp_path / "head")
    assert draft_for(narrow, Method.EAGLE3) is None  # it reads rows of another width


def test_a_target_that_is_not_here_has_no_draft() -> None:
    with pytest.raises(UsageError, match="org/target is not a model folder here, so no Medusa"):
        pair_of("org/target", None, Method.MEDUSA)
    assert pair_of("org/target", None, Method.NGRAM) == Pair("org/target", None)


def test_the_method_that_nobody_names_is_one_that_runs(tmp_path: Path) -> None:
    assert usual_method(None, None, None) is Method.DRAFT_MODEL
    assert usual_method("org/target", "org/draft", "vllm") is Method.DRAFT_MODEL
    target = str(shutil.copytree(DEMO_TARGET, tmp_path / "llama"))
    assert usual_method(target, None, "vllm") is Method.NGRAM
    shutil.copytree(MODELS / "demo-eagle3", tmp_path / "head")
    assert usual_method(target, None, None) is Method.EAGLE3
    assert usual_method(target, None, "vllm") is Method.EAGLE3
    assert usual_method(target, None, "llama.cpp") is Method.NGRAM
