"""Which parts of the family are trained, what is kept of earlier runs, and where text begins."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from specviz.errors import UsageError
from specviz.paths import DEMO_TARGET
from specviz.training import record, train
from specviz.training.family import (
    DRAFT_NAME,
    TARGET_NAME,
    draft_config,
    export_model,
    target_config,
)
from specviz.training.fit import Outcome
from specviz.training.heads import train as heads
from specviz.training.heads.train import (
    TRAININGS,
    frequent_tokens,
    open_shop,
    tap_sizes,
    train_head,
)
from specviz.training.held_out import evaluation_documents, tuning_documents
from specviz.training.train import PARTS, Minutes, forget, train_family


def _train(out: Path, parts: list[str]) -> None:
    train_family(
        out, device="cpu", minutes=Minutes(), seed=20, progress=lambda line: None, parts=parts
    )


def test_every_head_has_its_minutes() -> None:
    assert set(Minutes().heads) == set(TRAININGS) == set(PARTS) - {"pair"}
    shorter = Minutes(target=3.0).with_heads(0.5)
    assert shorter.heads == {name: time / 2 for name, time in Minutes().heads.items()}
    assert shorter.target == 3.0


def test_unknown_part_and_missing_target_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no part 'mamba' of the family: use pair, eagle3"):
        _train(tmp_path, ["mamba"])
    with pytest.raises(UsageError, match="A head needs a trained target"):
        _train(tmp_path, ["medusa"])


def test_an_unknown_device_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no device 'tpu' to train on here"):
        train_family(tmp_path, device="tpu", minutes=Minutes(), seed=20, progress=lambda line: None)


def test_beginning_again_forgets_a_part_and_with_the_pair_everything(tmp_path: Path) -> None:
    names = ("target", "draft-start", "eagle", "eagle3", "eagle3-start", "medusa")
    for name in names:
        (tmp_path / f"{name}.pt").write_text("")
    forget(tmp_path, ["eagle3"])
    assert sorted(p.stem for p in tmp_path.iterdir()) == [
        "draft-start",
        "eagle",
        "medusa",
        "target",
    ]
    forget(tmp_path, ["pair", "medusa"])
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_tuning_prompts_are_held_out_and_not_evaluated_on() -> None:
    for category in ("short_qa", "translation"):
        evaluated = {document.prompt for document in evaluation_documents(category)}
        tuned = {document.prompt for document in tuning_documents(category)}
        assert tuned and not tuned & evaluated


@pytest.fixture
def small_family(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A target of the shipped shape, untrained, that reads few documents at a time."""
    torch.manual_seed(0)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(DEMO_TARGET)
    export_model(LlamaForCausalLM(target_config()), tokenizer, tmp_path / TARGET_NAME)
    outcome = Outcome("target", 1, 1, 1.0, 1.0, next_document=40)
    record.begin(tmp_path, seed=20, device="cpu", outcomes=[outcome])
    monkeypatch.setattr(heads, "DOCUMENTS", {"cpu": 20})
    monkeypatch.setattr(heads, "VOCABULARY_DOCUMENTS", 30)
    return tmp_path


@pytest.mark.slow
def test_a_pair_goes_on_with_text_that_it_has_not_read(
    small_family: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train, "DOCUMENTS", {"cpu": 10})
    tokenizer = PreTrainedTokenizerFast.from_pretrained(DEMO_TARGET)
    export_model(LlamaForCausalLM(draft_config()), tokenizer, small_family / DRAFT_NAME)
    was = (small_family / TARGET_NAME / "model.safetensors").read_bytes()
    step = Minutes(target=0.0001, draft=0.0001)
    shop = train.Workshop(small_family, small_family, "cpu", 20, tokenizer, lambda line: None)
    for times in (1, 2):
        begun = record.next_document(small_family)
        learnt = train.train_pair_further(shop, step)
        assert [one.name for one in learnt] == ["target-further", "draft-further"]
        assert begun < learnt[0].next_document < learnt[1].next_document
        record.go_on(small_family, learnt)
        for one in learnt:
            train.checkpoint(small_family, one.name).unlink()
        phases = {phase["name"]: phase for phase in record.read(small_family)["phases"]}
        assert [phases[one.name]["steps"] for one in learnt] == [times, times]
    assert (small_family / TARGET_NAME / "model.safetensors").read_bytes() != was


@pytest.mark.slow
def test_only_what_was_trained_with_the_same_text_goes_on(small_family: Path) -> None:
    def further(out: Path, seed: int) -> None:
        train_family(out, device="cpu", minutes=Minutes(), seed=seed, progress=print, further=True)

    with pytest.raises(UsageError, match="use --seed 20"):
        further(small_family, 21)
    with pytest.raises(UsageError, match="train without --further"):
        further(small_family / "nothing", 20)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(TRAININGS))
def test_head_is_trained_on_what_target_and_draft_have_not_read(
    name: str, small_family: Path
) -> None:
    shop = open_shop(
        small_family, scratch=small_family, device="cpu", seed=20, progress=lambda line: None
    )
    outcomes = train_head(shop, name, 0.0001, start=record.next_document(small_family))
    assert all(o.steps == 1 for o in outcomes)
    reads = [o.next_document for o in outcomes]
    assert reads[0] > 40 and reads == sorted(set(reads))
    assert [o.name for o in outcomes][-1].startswith(name)
    again = train_head(shop, name, 0.0001, start=40)
    assert [o.steps for o in again] == [1] * len(outcomes)
    assert (small_family / f"demo-{name}" / "model.safetensors").exists()


@pytest.mark.slow
def test_frequent_tokens_are_those_of_the_answers(small_family: Path) -> None:
    shop = open_shop(
        small_family, scratch=small_family, device="cpu", seed=20, progress=lambda line: None
    )
    ids = frequent_tokens(shop).tolist()
    assert ids == sorted(set(ids)) and len(ids) == heads.DRAFT_VOCABULARY
    assert shop.tokenizer.eos_token_id in ids
    assert list(tap_sizes(shop, (1, 8))) == [1, 8]
