"""Every broken checkpoint is named in one sentence, and the demo family is not."""

from __future__ import annotations

import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from specviz.checkpoints import check
from specviz.checkpoints.check import check_pair, first_refusal
from specviz.checkpoints.finding import Finding, Verdict
from specviz.methods import Method
from tests.support.broken_heads import (
    WEIGHTS,
    Entries,
    copied,
    edit_config,
    edit_header,
    edit_tensors,
    gguf,
    packed,
    read_entries,
    target_tokens,
    whole_numbers,
    write,
)
from tests.support.demo_models import DEMO_TARGET, DRAFTS, MODELS

LAYERS_KEY = "eagle_aux_hidden_state_layer_ids"
SPECULATORS = "demo-eagle3-speculators"
Break = Callable[[Path], None]

DEMO = ["demo-draft", "demo-eagle", "demo-eagle3", SPECULATORS, "demo-medusa"]


@pytest.mark.parametrize("name", DEMO)
def test_the_demo_family_passes(name: str) -> None:
    found = check_pair(MODELS / name, DEMO_TARGET)
    assert not refusals(found)
    assert {"format", "tensors", "dtype", "values", "tokenizer"} <= {
        one.subject for one in found if one.verdict is Verdict.OK
    }


def refusals(found: tuple[Finding, ...]) -> list[Finding]:
    return [one for one in found if one.verdict is Verdict.REFUSED]


def drop(name: str) -> Break:
    return lambda folder: edit_tensors(folder, lambda entries: entries.pop(name) and None)


def swap(one: str, other: str) -> Break:
    def edit(folder: Path) -> None:
        edit_tensors(folder, lambda all_: all_.update({one: all_[other], other: all_[one]}))

    return edit


def set_ids(name: str, place: int, value: int) -> Break:
    def edit(folder: Path) -> None:
        entries = read_entries(folder / WEIGHTS)
        entry, data = entries[name]
        step = len(data) // entry["shape"][0]
        new = value.to_bytes(step, "little", signed=step > 1)
        entries[name] = entry, data[: place * step] + new + data[(place + 1) * step :]
        write(folder / WEIGHTS, packed(entries))

    return edit


def target_twice(folder: Path) -> None:
    """Draft tokens 6 and 7 become the same target token."""
    _, data = read_entries(folder / WEIGHTS)["d2t"]
    set_ids("d2t", 7, struct.unpack_from("<q", data, 6 * 8)[0] - 1)(folder)


def target_ids(folder: Path) -> None:
    """`d2t` with the target ids themselves, a common mistake."""
    entries = read_entries(folder / WEIGHTS)
    entry, data = entries["d2t"]
    differences = struct.unpack(f"<{len(data) // 8}q", data)
    ids = [place + one for place, one in enumerate(differences)]
    entries["d2t"] = entry, whole_numbers(*ids)
    write(folder / WEIGHTS, packed(entries))


def other_tokenizer(folder: Path) -> None:
    text = (folder / "tokenizer.json").read_text(encoding="utf-8")
    tokenizer = json.loads(text)
    vocabulary = tokenizer["model"]["vocab"]
    first, second = list(vocabulary)[100:102]
    vocabulary[first], vocabulary[second] = vocabulary[second], vocabulary[first]
    write(folder / "tokenizer.json", json.dumps(tokenizer))


def other_added_token(folder: Path) -> None:
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer["added_tokens"][3]["content"] = "<|bot|>"
    write(folder / "tokenizer.json", json.dumps(tokenizer))


def truncated(folder: Path) -> None:
    write(folder / WEIGHTS, (folder / WEIGHTS).read_bytes()[:-1000])


def lying_offsets(folder: Path) -> None:
    edit_header(folder, lambda header: header["fc.weight"].update(data_offsets=[0, 1 << 40]))


def overlapping(folder: Path) -> None:
    def edit(header: dict[str, dict[str, object]]) -> None:
        norm = "midlayer.input_layernorm.weight"
        header[norm]["data_offsets"] = header["midlayer.hidden_norm.weight"]["data_offsets"]

    edit_header(folder, edit)


def twice_in_one_header(folder: Path) -> None:
    content = (folder / WEIGHTS).read_bytes()
    (count,) = struct.unpack("<Q", content[:8])
    text = content[8 : 8 + count].rstrip().replace(b'{"d2t"', b'{"t2d"', 1)
    text = text.replace(b'"d2t":', b'"t2d":', 1)
    write(folder / WEIGHTS, struct.pack("<Q", len(text)) + text + content[8 + count :])


def twice_in_two_files(folder: Path) -> None:
    (folder / "old.safetensors").symlink_to(MODELS / "demo-eagle3" / WEIGHTS)


def shard_missing(folder: Path) -> None:
    places = dict.fromkeys(read_entries(folder / WEIGHTS), "model-00002.safetensors")
    write(folder / "model.safetensors.index.json", json.dumps({"weight_map": places}))


def shard_without_tensor(folder: Path) -> None:
    places = dict.fromkeys([*read_entries(folder / WEIGHTS), "embed_tokens.weight"], WEIGHTS)
    write(folder / "model.safetensors.index.json", json.dumps({"weight_map": places}))


def shard_elsewhere(folder: Path) -> None:
    places = {"fc.weight": "../../demo-eagle3/model.safetensors"}
    write(folder / "model.safetensors.index.json", json.dumps({"weight_map": places}))


def not_a_number(folder: Path) -> None:
    def edit(entries: dict[str, tuple[dict[str, object], bytes]]) -> None:
        entry, data = entries["midlayer.mlp.down_proj.weight"]
        entries["midlayer.mlp.down_proj.weight"] = entry, data[:-2] + b"\xc0\x7f"

    edit_tensors(folder, edit)


def pickled(folder: Path) -> None:
    (folder / WEIGHTS).unlink()
    with zipfile.ZipFile(folder / "pytorch_model.bin", "w") as archive:
        archive.writestr("archive/data.pkl", b"x" * 100)
    write(folder / "pytorch_model.bin", (folder / "pytorch_model.bin").read_bytes()[:-40])


def other_lm_head(folder: Path) -> None:
    def edit(entries: dict[str, tuple[dict[str, object], bytes]]) -> None:
        entry, data = entries["lm_head.weight"]
        entries["lm_head.weight"] = {**entry, "shape": [2048, 384]}, data[: 2048 * 384 * 2]

    edit_tensors(folder, edit)


def other_verifier(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["speculators_config"]["verifier"]["architectures"] = ["Qwen3ForCausalLM"]
    edit_config(folder, speculators_config=config["speculators_config"])


def more_heads(folder: Path) -> None:
    edit_config(folder, num_heads=7)


def config(**changes: object) -> Break:
    return lambda folder: edit_config(folder, **changes)


BROKEN: list[tuple[str, str, Break, str]] = [
    (
        "wrong vocabulary",
        "demo-draft",
        config(vocab_size=5000),
        "refuses a draft of 5,000 rows for a target of 4,096",
    ),
    (
        "missing norm",
        "demo-eagle3",
        drop("midlayer.hidden_norm.weight"),
        "hidden_norm.weight is missing",
    ),
    (
        "missing layer",
        SPECULATORS,
        drop("layers.0.self_attn.o_proj.weight"),
        "o_proj.weight is missing",
    ),
    (
        "projections swapped",
        "demo-eagle3",
        swap("midlayer.self_attn.q_proj.weight", "midlayer.self_attn.k_proj.weight"),
        "q_proj.weight is [128, 768]",
    ),
    ("layers swapped", "demo-eagle3", config(**{LAYERS_KEY: [4, 2, 8]}), "in ascending order"),
    ("layer beyond the target", "demo-eagle3", config(**{LAYERS_KEY: [2, 4, 9]}), "reads layer 9"),
    ("fewer layers", "demo-eagle3", config(**{LAYERS_KEY: [2, 8]}), "fc.weight is [384, 1152]"),
    ("layers are words", "demo-eagle3", config(**{LAYERS_KEY: ["2"]}), "not a list of whole"),
    ("truncated", "demo-eagle3", truncated, "it is truncated"),
    ("no weights", "demo-eagle", lambda one: (one / WEIGHTS).unlink(), "has no *.safetensors"),
    ("pickled and truncated", "demo-eagle", pickled, "not a whole file of torch's"),
    ("other tokenizer", "demo-draft", other_tokenizer, "The tokenizers differ"),
    (
        "d2t out of range",
        "demo-eagle3",
        set_ids("d2t", 7, 90_000),
        "token 7 to target token 90,007",
    ),
    ("d2t twice", "demo-eagle3", target_twice, "leads 2 draft tokens to target"),
    ("d2t of target ids", "demo-eagle3", target_ids, "d2t holds target ids"),
    ("t2d with one more", "demo-eagle3", set_ids("t2d", 2, 1), "t2d marks 2,945 tokens"),
    ("no d2t", "demo-eagle3", drop("d2t"), "has no d2t"),
    ("wrong hidden size", "demo-eagle", config(hidden_size=512), "reads rows of 512"),
    ("other target", "demo-eagle3", config(target_hidden_size=4096), "reads rows of 4096"),
    ("size is a word", "demo-eagle", config(intermediate_size="big"), "'big', which cannot be"),
    ("size is missing", "demo-eagle", config(num_attention_heads=None), "no num_attention_heads"),
    ("missing config", "demo-eagle", lambda one: (one / "config.json").unlink(), "has no config.j"),
    (
        "config not JSON",
        "demo-eagle",
        lambda one: write(one / "config.json", "{"),
        "be read as JSON",
    ),
    (
        "config a list",
        "demo-eagle",
        lambda one: write(one / "config.json", "[]"),
        "not a JSON object",
    ),
    (
        "config too deep",
        "demo-eagle",
        lambda one: write(one / "config.json", "[" * 10**5),
        "be read",
    ),
    (
        "no architecture",
        "demo-draft",
        config(architectures=None, model_type=None),
        "neither architectures nor model_type",
    ),
    ("wrong verifier", SPECULATORS, other_verifier, "was trained on a Qwen3ForCausalLM"),
    ("no verifier", SPECULATORS, config(speculators_config={}), "no whole speculators_config"),
    ("Medusa with too few heads", "demo-medusa", more_heads, "blocks.5.layers.0.weight and 3 more"),
    (
        "lm_head of another vocabulary",
        "demo-eagle3",
        other_lm_head,
        "lm_head.weight is [2048, 384]",
    ),
    ("header that lies", "demo-eagle3", lying_offsets, "the offsets of fc.weight"),
    ("tensors that overlap", "demo-eagle3", overlapping, "overlaps another tensor"),
    ("twice in a header", "demo-eagle3", twice_in_one_header, "'t2d' is in it twice"),
    ("twice in two files", "demo-eagle3", twice_in_two_files, "is in model.safetensors and in old"),
    ("shard missing", "demo-eagle3", shard_missing, "model-00002.safetensors, which is not there"),
    ("shard without a tensor", "demo-eagle3", shard_without_tensor, "which does not have it"),
    ("shard elsewhere", "demo-eagle3", shard_elsewhere, "which is not there"),
    ("not a number", "demo-eagle3", not_a_number, "NaN"),
]


@pytest.mark.parametrize(("name", "break_it", "words"), [case[1:] for case in BROKEN], ids=[
    case[0] for case in BROKEN
])  # fmt: skip
def test_a_broken_checkpoint_is_named_in_one_sentence(
    tmp_path: Path, name: str, break_it: Break, words: str
) -> None:
    folder = copied(name, tmp_path)
    break_it(folder)
    first = refusals(check_pair(folder, DEMO_TARGET))[0].sentence
    assert words in first
    assert first.endswith(".") and "\n" not in first


def test_a_launch_is_refused_by_the_same_sentences_but_for_values(tmp_path: Path) -> None:
    method = {"demo-draft": Method.DRAFT_MODEL, "demo-medusa": Method.MEDUSA}
    for case, (label, name, break_it, words) in enumerate(BROKEN):
        (tmp_path / str(case)).mkdir()
        folder = copied(name, tmp_path / str(case))
        break_it(folder)
        used = method.get(name, Method.EAGLE if name == "demo-eagle" else Method.EAGLE3)
        refusal = first_refusal(str(folder), str(DEMO_TARGET), used)
        if label == "not a number":
            assert refusal is None  # only reading all weights shows it
        else:
            assert refusal is not None and words in refusal, label


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        (
            "demo-draft",
            {"model_type": "foo", "architectures": ["FooForCausalLM"]},
            "model type foo",
        ),
        (SPECULATORS, {"speculators_model_type": "xpress"}, "vLLM 0.33 does not open"),
        (SPECULATORS, {"norm_before_residual": None}, "vLLM takes it for true"),
        ("demo-eagle3", {"norm_before_residual": True}, "SGLang ignores norm_before_residual"),
        ("demo-eagle3", {"tie_word_embeddings": True}, "SGLang would take the embeddings"),
        (
            "demo-eagle3",
            {LAYERS_KEY: [2, 4, 6]},
            "SGLang would read the layers 2, 4, 5, not 2, 4, 6",
        ),
        ("demo-eagle3", {"norm_output": True}, "converter ignores norm_output"),
        ("demo-eagle3", {"norm_output": False}, "By norm_output SpecForge means"),
        ("demo-eagle3", {LAYERS_KEY: None}, "engines read the layers 2, 4, 5"),
        ("demo-eagle3", {LAYERS_KEY: None, "eagle_config": {LAYERS_KEY: [2, 4, 8]}}, "for outputs"),
        ("demo-eagle", {"quantization_config": {"bits": 4}}, "quantised"),
    ],
)
def test_what_an_engine_ignores_is_a_warning(
    tmp_path: Path, name: str, changes: dict[str, object], words: str
) -> None:
    folder = copied(name, tmp_path)
    before = check_pair(folder, DEMO_TARGET)
    edit_config(folder, **changes)
    found = check_pair(folder, DEMO_TARGET)
    assert not refusals(found)
    new = {one.sentence for one in found if one.verdict is Verdict.WARNING} - {
        one.sentence for one in before
    }
    assert any(words in sentence for sentence in new)


def test_another_special_token_is_a_warning(tmp_path: Path) -> None:
    folder = copied("demo-draft", tmp_path)
    other_added_token(folder)
    found = check_pair(folder, DEMO_TARGET)
    (warned,) = [one for one in found if one.verdict is not Verdict.OK]
    assert warned.verdict is Verdict.WARNING
    assert "special token '<|assistant|>'" in warned.sentence


def test_a_target_of_another_name_is_a_warning(tmp_path: Path) -> None:
    target = copied("demo-target", tmp_path)
    renamed = target.rename(tmp_path / "fine-tuned")
    found = check_pair(MODELS / SPECULATORS, renamed)
    (warned,) = [one for one in found if one.subject == "verifier"]
    assert warned.verdict is Verdict.WARNING
    assert "demo-target" in warned.sentence and "fine-tuned" in warned.sentence


def test_embeddings_that_are_not_the_targets_are_named(tmp_path: Path) -> None:
    folder = copied(SPECULATORS, tmp_path)

    def edit(entries: dict[str, tuple[dict[str, object], bytes]]) -> None:
        entry, data = entries["embed_tokens.weight"]
        entries["embed_tokens.weight"] = entry, b"\0" * 8 + data[8:]

    edit_tensors(folder, edit)
    subjects = {one.subject for one in check_pair(folder, DEMO_TARGET)}
    assert "embeddings" in subjects
    assert "embeddings" not in {
        one.subject for one in check_pair(MODELS / SPECULATORS, DEMO_TARGET)
    }


def test_a_method_takes_its_own_format_only() -> None:
    heads = [*DRAFTS.items()]
    refused = {
        (method, folder.name)
        for method, _ in heads
        for folder in {folder for _, folder in heads}
        if first_refusal(str(folder), str(DEMO_TARGET), method)
    }
    fitting = {(method, folder.name) for method, folder in heads}
    models = {(Method.DRAFT_MODEL, "demo-draft"), (Method.MIRROR, "demo-draft")}
    everything = {(method, folder.name) for method, _ in heads for _, folder in heads}
    assert refused == everything - fitting - models


def test_medusa_heads_under_their_authors_names_pass(tmp_path: Path) -> None:
    folder = copied("demo-medusa", tmp_path)

    def rename(entries: Entries) -> None:
        for head in range(5):
            block = entries.pop(f"blocks.{head}.layers.0.weight")
            entries[f"medusa_heads.{head}.0.linear.weight"] = block
            entries[f"medusa_heads.{head}.1.weight"] = entries.pop(f"lm_heads.{head}.weight")

    edit_tensors(folder, rename)
    assert not refusals(check_pair(folder, DEMO_TARGET))
    assert first_refusal(str(folder), str(DEMO_TARGET), Method.MEDUSA) is None


def test_a_head_that_loses_its_weights_on_the_way_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "model.safetensors")

    monkeypatch.setattr(check, "check_values", gone)
    (found,) = check_pair(MODELS / "demo-eagle", DEMO_TARGET)
    assert found.verdict is Verdict.REFUSED and "Permission denied" in found.sentence


def test_names_of_models_elsewhere_are_not_checked() -> None:
    assert first_refusal("org/draft", str(DEMO_TARGET), Method.DRAFT_MODEL) is None


def test_a_gguf_of_the_targets_tokenizer_passes(tmp_path: Path) -> None:
    assert not refusals(check_pair(gguf(tmp_path / "d.gguf", tokens=target_tokens()), DEMO_TARGET))


@pytest.mark.parametrize(
    ("change", "verdict", "words"),
    [
        (lambda tokens: tokens[:2000], Verdict.REFUSED, "has 2,000 tokens, the target 4,096"),
        (
            lambda tokens: [*tokens[:9], "other", *tokens[10:]],
            Verdict.REFUSED,
            "Token 9 is 'other'",
        ),
        (lambda tokens: [*tokens[:3], "other", *tokens[4:]], Verdict.WARNING, "would not say so"),
    ],
)
def test_a_gguf_of_another_tokenizer_is_named(
    tmp_path: Path, change: Callable[[list[str]], list[str]], verdict: Verdict, words: str
) -> None:
    target = gguf(tmp_path / "target.gguf", tokens=target_tokens())
    draft = gguf(tmp_path / "draft.gguf", tokens=change(target_tokens()))
    for one in (target, DEMO_TARGET):
        found = [one for one in check_pair(draft, one) if one.verdict is not Verdict.OK]
        assert [(one.verdict, words in one.sentence) for one in found] == [(verdict, True)]


def test_a_gguf_head_reads_layers_of_its_target(tmp_path: Path) -> None:
    sizes = {"arch": "eagle3", "tokens": target_tokens(), "target_hidden_size": 384}
    good = gguf(tmp_path / "good.gguf", extract_layers=[2, 4, 5], **sizes)
    bad = gguf(tmp_path / "bad.gguf", extract_layers=[2, 4, 50], **sizes)
    assert not refusals(check_pair(good, DEMO_TARGET))
    assert "50 of a target of 8" in refusals(check_pair(bad, DEMO_TARGET))[0].sentence


def test_a_truncated_gguf_is_named(tmp_path: Path) -> None:
    whole = gguf(tmp_path / "draft.gguf", tokens=target_tokens())
    whole.write_bytes(whole.read_bytes()[:-4])
    assert "is truncated" in refusals(check_pair(whole, DEMO_TARGET))[0].sentence
    whole.write_bytes(whole.read_bytes()[:2000])
    assert "not a whole GGUF" in refusals(check_pair(whole, DEMO_TARGET))[0].sentence


def test_a_folder_is_not_checked_against_a_gguf_target(tmp_path: Path) -> None:
    target = gguf(tmp_path / "target.gguf", tokens=target_tokens())
    (found,) = check_pair(MODELS / "demo-draft", target)
    assert found.verdict is Verdict.WARNING and "were not compared" in found.sentence
