"""Formats are judged by all their signs, as public heads and drafts mix them."""

from __future__ import annotations

import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from specviz.checkpoints.check import check_pair, first_refusal, is_refused
from specviz.checkpoints.convert import convert
from specviz.checkpoints.finding import Finding, Verdict
from specviz.checkpoints.folder import open_checkpoint
from specviz.checkpoints.format import Format
from specviz.checkpoints.frameworks import EMBEDDED, LLAMA_CPP, SGLANG, VLLM
from specviz.errors import UsageError
from specviz.methods import Method
from tests.support.broken_heads import WEIGHTS, Entries, copied, edit_config, edit_tensors
from tests.support.demo_models import DEMO_TARGET


def renamed(old: str, new: str) -> Callable[[Entries], None]:
    def edit(entries: Entries) -> None:
        for name in list(entries):
            entries[name.replace(old, new)] = entries.pop(name)

    return edit


def modelopt(folder: Path) -> Path:
    """As NVIDIA's Model-Optimizer exports it (hf_spec_export.py): SpecForge's architecture over
    `layers.0.*`, `d2t` without `t2d`, the layers in `eagle_config`."""
    head = copied("demo-eagle3", folder)
    edit_tensors(head, renamed("midlayer.", "layers.0."))
    edit_tensors(head, lambda entries: entries.pop("t2d", None) and None)
    return head


def pickled(head: Path, *, folder: str = "archive/") -> Path:
    """The head's tensors by name in a file of torch's, with nothing behind the names."""
    names = dict.fromkeys(open_checkpoint(head).names)
    (head / WEIGHTS).unlink()
    with zipfile.ZipFile(head / "pytorch_model.bin", "w") as archive:
        archive.writestr(f"{folder}data.pkl", pickle.dumps(names, protocol=2))
        archive.writestr(f"{folder}data/0", b"\0" * 64)
    return head


def sentence(found: tuple[Finding, ...], subject: str) -> str:
    return " ".join(one.sentence for one in found if one.subject == subject)


def test_a_head_of_modelopt_is_served(tmp_path: Path) -> None:
    head = modelopt(tmp_path)
    assert open_checkpoint(head).format is Format.EAGLE3
    found = check_pair(head, DEMO_TARGET)
    assert not is_refused(found) and "are there in their shapes" in sentence(found, "tensors")
    engines = sentence(found, "engines")
    assert "vLLM and the embedded engine open it, llama.cpp once it is GGUF" in engines
    assert "SGLang skips layers.0 without a word" in engines
    assert first_refusal(str(head), str(DEMO_TARGET), Method.EAGLE3, VLLM) is None


def test_a_head_of_modelopt_is_converted_for_sglang(tmp_path: Path) -> None:
    out = tmp_path / "out"
    convert(modelopt(tmp_path), Format.SPECFORGE, str(DEMO_TARGET), out)
    assert open_checkpoint(out).format is Format.SPECFORGE
    assert "midlayer.hidden_norm.weight" in open_checkpoint(out).names


def two_layers(folder: Path) -> Path:
    """Speculators issue 166; AngelSlim saves them so, too."""
    head = modelopt(folder)
    config = open_checkpoint(head).config
    hidden, rows = config["hidden_size"], config["num_attention_heads"] * config["head_dim"]
    keys = config["num_key_value_heads"] * config["head_dim"]

    def add(entries: Entries) -> None:
        for name in [one for one in entries if one.startswith("layers.0.")]:
            if "hidden_norm" in name:
                continue
            entry, data = entries[name]
            shape = entry["shape"]
            if name.endswith(("q_proj.weight", "k_proj.weight", "v_proj.weight")):
                shape = [rows if "q_proj" in name else keys, hidden]
                data = data[: len(data) // 2]
            entries[name.replace("layers.0.", "layers.1.")] = {**entry, "shape": shape}, data

    edit_tensors(head, add)
    edit_config(head, num_hidden_layers=2)
    return head


def test_a_head_of_two_layers_is_vllms(tmp_path: Path) -> None:
    head = two_layers(tmp_path)
    found = check_pair(head, DEMO_TARGET)
    assert not is_refused(found)
    assert sentence(found, "engines") == (
        "vLLM opens it; the heads of SGLang, llama.cpp and the embedded engine have one layer."
    )
    with pytest.raises(UsageError, match="heads of one layer, demo-eagle3 has 2: serve it"):
        convert(head, Format.SPECFORGE, str(DEMO_TARGET), tmp_path / "out")


@pytest.mark.parametrize("name", ["demo-eagle3", "demo-eagle"])
def test_a_configuration_of_more_layers_than_there_are(tmp_path: Path, name: str) -> None:
    """EAGLE3-Vicuna1.3-13B says 40 (BaldEagle issue 6)."""
    head = copied(name, tmp_path)
    edit_config(head, num_hidden_layers=40)
    found = check_pair(head, DEMO_TARGET)
    assert is_refused(found)
    assert "says 40 layers and the weights have 1" in sentence(found, "tensors")


@pytest.mark.parametrize(
    ("name", "form", "engines"),
    [
        ("demo-eagle", Format.EAGLE, "vLLM opens it; llama.cpp does not have EAGLE-1 and 2."),
        ("demo-eagle3", Format.SPECFORGE, "vLLM and SGLang open it, llama.cpp once it is GGUF."),
        ("demo-draft", Format.MODEL, "vLLM and SGLang open it, llama.cpp once it is GGUF."),
    ],
)
@pytest.mark.parametrize("inside", ["archive/", "pytorch_model/", ""])
def test_a_pickled_head_is_known_by_its_names(
    tmp_path: Path, name: str, form: Format, engines: str, inside: str
) -> None:
    """The authors' own heads (Speculators pull request 23, EAGLE issue 60, TensorRT-LLM issue
    6158): a plain Llama by their configuration, in pytorch_model.bin."""
    head = pickled(copied(name, tmp_path), folder=inside)
    edit_config(head, architectures=["LlamaForCausalLM"])
    found = check_pair(head, DEMO_TARGET)
    assert open_checkpoint(head).format is form and not is_refused(found)
    assert sentence(found, "engines") == engines
    assert "reads safetensors only" in sentence(found, EMBEDDED)
    if form is not Format.MODEL:
        assert "SGLang does not take LlamaForCausalLM" in sentence(found, SGLANG)
        assert "takes the target's" in sentence(found, "tokenizer")


def test_a_pickled_head_of_another_method_is_refused(tmp_path: Path) -> None:
    head = pickled(copied("demo-eagle", tmp_path))
    refusal = first_refusal(str(head), str(DEMO_TARGET), Method.DRAFT_MODEL, VLLM)
    assert refusal is not None and "holds EAGLE weights, and the method draft_model" in refusal
    assert first_refusal(str(head), str(DEMO_TARGET), Method.EAGLE, VLLM) is None


def test_nothing_in_a_pickle_is_run(tmp_path: Path) -> None:
    mark = tmp_path / "unpickled"

    class Trap:
        def __reduce__(self) -> tuple[object, ...]:
            return Path.touch, (mark,)

    head = copied("demo-eagle", tmp_path)
    (head / WEIGHTS).unlink()
    with zipfile.ZipFile(head / "pytorch_model.bin", "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps({"fc.weight": Trap()}))
    assert open_checkpoint(head).format is Format.EAGLE
    assert not mark.exists()


def test_dflash_is_not_eagle(tmp_path: Path) -> None:
    """z-lab's heads and Model-Optimizer's export of them."""
    head = copied("demo-eagle", tmp_path)
    edit_config(
        head,
        architectures=["DFlashDraftModel"],
        model_type="qwen3",
        num_hidden_layers=5,
        dflash_config={"mask_token_id": 9, "target_layer_ids": [1, 2, 3]},
    )
    found = check_pair(head, DEMO_TARGET)
    assert not is_refused(found)
    assert sentence(found, "engines").startswith("vLLM and SGLang open it as their method dflash")
    assert sentence(found, "tensors") == "DFlash is not known here: its tensors were not checked."
    refusal = first_refusal(str(head), str(DEMO_TARGET), Method.EAGLE3, VLLM)
    assert refusal is not None and "--speculative-config with the method dflash" in refusal


def test_a_head_of_2024_has_its_configuration_in_model(tmp_path: Path) -> None:
    """As vLLM's converter of that year wrote it (vLLM issue 11126)."""
    head = copied("demo-eagle", tmp_path)
    layer = json.loads((head / "config.json").read_text(encoding="utf-8"))
    (head / "config.json").write_text(json.dumps({"model_type": "eagle", "model": layer}))
    found = check_pair(head, DEMO_TARGET)
    assert not is_refused(found) and "are there in their shapes" in sentence(found, "tensors")


def shortened(folder: Path, rows: int) -> Path:
    """The demo draft with the target's tokenizer and another number of rows."""
    draft = copied("demo-draft", folder)

    def cut(entries: Entries) -> None:
        entry, data = entries["model.embed_tokens.weight"]
        width = 2 * entry["shape"][1]
        new = {**entry, "shape": [rows, entry["shape"][1]]}
        entries["model.embed_tokens.weight"] = new, data.ljust(rows * width, b"\0")[: rows * width]

    edit_tensors(draft, cut)
    edit_config(draft, vocab_size=rows)
    return draft


@pytest.mark.parametrize(
    ("rows", "change", "llama_cpp"),
    [
        (4096 - 128, "pad", Verdict.OK),
        (4096 + 128, "cut", Verdict.OK),
        (4096 + 129, "cut", Verdict.REFUSED),
    ],
)
def test_a_padded_vocabulary_is_named_as_padding(
    tmp_path: Path, rows: int, change: str, llama_cpp: Verdict
) -> None:
    """Qwen2.5: 151,936 and 152,064 rows for one tokenizer (vLLM issues 7252 and 10913)."""
    draft = shortened(tmp_path, rows)
    found = check_pair(draft, DEMO_TARGET)
    verdicts = {one.subject: one.verdict for one in found}
    assert not is_refused(found) and "the rest is padding" in sentence(found, "vocabulary")
    assert [verdicts[one] for one in (VLLM, SGLANG, EMBEDDED)] == [Verdict.REFUSED] * 3
    assert f"{change} its embed_tokens and lm_head to 4,096 rows" in sentence(found, VLLM)
    assert verdicts[LLAMA_CPP] is llama_cpp
    for engine, refused in ((VLLM, True), (LLAMA_CPP, llama_cpp is Verdict.REFUSED)):
        refusal = first_refusal(str(draft), str(DEMO_TARGET), Method.DRAFT_MODEL, engine)
        assert (refusal is not None) == refused


def test_another_tokenizer_is_no_padding(tmp_path: Path) -> None:
    draft = shortened(tmp_path, 4000)
    tokenizer = json.loads((draft / "tokenizer.json").read_text(encoding="utf-8"))
    first, second = list(tokenizer["model"]["vocab"])[100:102]
    vocabulary = tokenizer["model"]["vocab"]
    vocabulary[first], vocabulary[second] = vocabulary[second], vocabulary[first]
    (draft / "tokenizer.json").unlink()
    (draft / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    found = check_pair(draft, DEMO_TARGET)
    assert is_refused(found) and "use a draft with the target's" in sentence(found, "vocabulary")
