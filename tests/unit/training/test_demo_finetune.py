"""Fine-tuning the draft: what a user's file may look like, and where the result may go."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from specviz.errors import UsageError
from specviz.paths import DEMO_TARGET, MODELS
from specviz.training import finetune
from specviz.training.domain import Exchange, read_domain
from specviz.training.evaluate import load_model, load_target
from specviz.training.family import DRAFT_NAME, TARGET_NAME, export_model
from specviz.training.finetune import check_out, finetune_draft, mix, readings, split
from specviz.training.generate import answers
from specviz.training.stream.encoding import Encoded

GOOD = [{"prompt": f"Name the number {n}.", "answer": f"It is {n}."} for n in range(15)]


def _write(folder: Path, lines: list[object], name: str = "domain.jsonl") -> Path:
    file = folder / name
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    file.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return file


def test_every_fifth_prompt_is_held_out_with_all_its_answers(tmp_path: Path) -> None:
    again = {"prompt": "Name the number 5.", "answer": "Five."}
    domain = read_domain(_write(tmp_path, [*GOOD, again]))
    assert [e.prompt for e in domain.held_out] == [
        f"Name the number {n}." for n in (0, 5, 10, 5)
    ]  # fmt: skip
    assert not {e.prompt for e in domain.held_out} & {e.prompt for e in domain.learnt}
    assert len(domain.learnt) == 12


def test_paragraphs_of_plain_text_are_prompts(tmp_path: Path) -> None:
    file = tmp_path / "domain.txt"
    file.write_text("\n\n".join(f"Prompt {n}\nsecond line" for n in range(10)))
    domain = read_domain(file)
    first = domain.held_out[0]
    assert (first.prompt, first.answer, first.line) == ("Prompt 0\nsecond line", None, 1)
    assert [e.line for e in domain.learnt[:2]] == [4, 7]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{no json", "line 16 is not JSON"),
        ("[1, 2]", "line 16 is not an object"),
        ({"answer": "x"}, 'line 16 needs "prompt"'),
        ({"prompt": "  "}, 'line 16 needs "prompt"'),
        ({"prompt": 5}, 'line 16 needs "prompt"'),
        ({"prompt": "x", "answer": ""}, 'line 16 needs "answer"'),
        ({"prompt": "x", "completion": "y"}, "line 16 has the key 'completion'"),
    ],
)
def test_bad_line_is_named(tmp_path: Path, line: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_domain(_write(tmp_path, [*GOOD, line]))


def test_unreadable_and_short_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read as UTF-8"):
        read_domain(tmp_path / "missing.jsonl")
    (tmp_path / "binary.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="cannot be read as UTF-8"):
        read_domain(tmp_path / "binary.txt")
    with pytest.raises(UsageError, match="has 9 different prompts: at least 10"):
        read_domain(_write(tmp_path, list(GOOD[:9])))


def test_shipped_models_are_never_overwritten(tmp_path: Path) -> None:
    for name in ("demo-draft", "demo-target", "demo-eagle3", "../models/demo-draft"):
        with pytest.raises(UsageError, match="is a model of the family"):
            check_out(MODELS / name, MODELS)
    (tmp_path / "letters.txt").write_text("")
    with pytest.raises(UsageError, match="has other files in it"):
        check_out(tmp_path, MODELS)
    check_out(tmp_path / "new", MODELS)


def test_every_reading_is_complete_and_in_another_order() -> None:
    learnt = [Encoded([2, n, n, 1], 1) for n in range(10, 20)]
    batches = list(readings(learnt, seed=1, pad=0))
    seen = [t for batch in batches for row in batch.ids.tolist() for t in row if t >= 10]
    assert sorted(seen) == sorted([*range(10, 20)] * 2 * finetune.PASSES)
    assert seen[:20] != seen[20:40]
    again = list(readings(learnt, seed=1, pad=0))
    assert all(torch.equal(a.ids, b.ids) for a, b in zip(batches, again, strict=True))


def test_mixture_is_chosen_on_prompts_that_are_not_learnt() -> None:
    exchanges = [Exchange(f"prompt {n % 12}", None, n) for n in range(20)]
    learnt, checked = split(exchanges)
    assert {e.prompt for e in checked} == {"prompt 0", "prompt 6"}
    assert not {e.prompt for e in learnt} & {e.prompt for e in checked}
    assert len(learnt) + len(checked) == 20


@pytest.mark.slow
def test_harmful_training_is_undone(family: Path) -> None:
    """The old weights are the target's own and cannot be beaten."""
    target, tokenizer = load_target(family)
    draft = load_model(family / DRAFT_NAME)
    old = target.state_dict()
    texts = list(answers(target, tokenizer, ["One.", "Two."], max_new_tokens=12))
    assert mix(draft, old, texts, tokenizer) == 0.0
    assert all(torch.equal(old[name], tensor) for name, tensor in draft.state_dict().items())


@pytest.fixture
def family(tmp_path: Path) -> Path:
    """A pair of models with the real tokenizer and next to no weights."""
    tokenizer = PreTrainedTokenizerFast.from_pretrained(DEMO_TARGET)
    for seed, name in enumerate((TARGET_NAME, DRAFT_NAME)):
        torch.manual_seed(seed)
        config = LlamaConfig(
            vocab_size=4096, hidden_size=16, intermediate_size=16, num_hidden_layers=1,
            num_attention_heads=2, num_key_value_heads=1, head_dim=8, tie_word_embeddings=True,
            pad_token_id=0, eos_token_id=1, bos_token_id=None,
        )  # fmt: skip
        export_model(LlamaForCausalLM(config), tokenizer, tmp_path / name)
    return tmp_path


@pytest.mark.slow
def test_new_draft_is_written_and_the_shipped_one_stays(
    family: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finetune, "PASSES", 2)
    monkeypatch.setattr(finetune, "ANSWER_TOKENS", 12)
    weights = family / DRAFT_NAME / "model.safetensors"
    before = weights.read_bytes()
    lines: list[object] = [*GOOD[:10], {"prompt": "And now?"}]
    report = finetune_draft(
        _write(family, lines), out=family / "mine", models=family, progress=lambda line: None
    )
    assert weights.read_bytes() == before
    changed = (family / "mine" / "model.safetensors").read_bytes() != before
    assert changed == (report.mixture > 0)
    assert (report.learnt, report.held_out) == (8, 3)
    assert report.before.proposed > 0
    assert "before" in report.sentence() and "mine" in report.sentence()


@pytest.mark.slow
def test_too_long_an_exchange_is_named(family: Path) -> None:
    lines: list[object] = [*GOOD, {"prompt": "word " * 900, "answer": "x"}]
    with pytest.raises(UsageError, match=r"line 16 is [0-9]+ tokens too long"):
        finetune_draft(_write(family, lines), models=family, progress=lambda line: None)
