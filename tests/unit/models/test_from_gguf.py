"""A GGUF file as a Hugging Face folder and back: the same weights, tokens and template."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gguf import GGUFReader, dequantize
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from specviz.checkpoints.files.gguf import MOST_NUMBERS, read_gguf
from specviz.checkpoints.folder import open_checkpoint
from specviz.errors import UsageError
from specviz.models.from_gguf import write_model
from specviz.servers.llama_cpp.conversion.gguf_file import write_gguf
from specviz.servers.llama_cpp.conversion.weights import tensors
from tests.support.broken_heads import gguf as write_gguf_header
from tests.support.models.tiny_package import (
    HEADS,
    HIDDEN,
    KV_HEADS,
    TEMPLATE,
    TOKENS,
    write_tiny_gguf,
)

TEXTS = [
    "hello hell 123",
    " 12\n\n\t12",
    "안녕 ٣٤ ½",
    "<|im_start|>user\nhe<|im_end|>",
    "👩‍👧 naïve",
]


def written(source: Path, folder: Path) -> Path:
    folder.mkdir()
    write_model(source, folder)
    return folder


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_gguf(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


@pytest.fixture(scope="module")
def folder(source: Path) -> Path:
    return written(source, source.parent / "tiny")


def test_every_weight_is_the_dequantised_one_rounded_to_bfloat16(
    source: Path, folder: Path
) -> None:
    given = {one.name: dequantize(one.data, one.tensor_type) for one in GGUFReader(source).tensors}
    found = {name: weights.float32() for name, weights in tensors(folder)}
    assert len(found) == len(given)
    assert {tensor.dtype for tensor in (open_checkpoint(folder).tensors or {}).values()} == {"BF16"}

    def close(ours: np.ndarray[Any, Any], theirs: np.ndarray[Any, Any]) -> None:
        assert ours.shape == theirs.shape
        assert np.all(np.abs(ours - theirs) <= np.abs(theirs) * 2.0**-8)

    close(found["model.embed_tokens.weight"], given["token_embd.weight"])
    close(found["model.layers.1.mlp.down_proj.weight"], given["blk.1.ffn_down.weight"])
    close(found["model.layers.0.self_attn.v_proj.weight"], given["blk.0.attn_v.weight"])
    size = HIDDEN // HEADS
    for letter, heads in (("q", HEADS), ("k", KV_HEADS)):
        halves = found[f"model.layers.0.self_attn.{letter}_proj.weight"].reshape(heads, size, -1)
        pairs = given[f"blk.0.attn_{letter}.weight"].reshape(heads, size, -1)
        close(halves[:, : size // 2], pairs[:, ::2])
        close(halves[:, size // 2 :], pairs[:, 1::2])


def test_the_configuration_is_the_files(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    assert config["rms_norm_eps"] == 1e-5 and config["rope_parameters"]["rope_theta"] == 1e5
    assert (config["num_attention_heads"], config["num_key_value_heads"]) == (HEADS, KV_HEADS)
    assert config["tie_word_embeddings"] and config["vocab_size"] == len(TOKENS)
    generation = json.loads((folder / "generation_config.json").read_text())
    assert generation == {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 2}
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    assert settings["chat_template"] == TEMPLATE and settings["eos_token"] == "<|im_end|>"


def test_there_and_back_again(source: Path, folder: Path, tmp_path: Path) -> None:
    write_gguf(folder, tmp_path / "again.gguf", as_stored=True)
    again = written(tmp_path / "again.gguf", tmp_path / "again")
    for name in ("model.safetensors", "tokenizer.json", "generation_config.json"):
        assert (again / name).read_bytes() == (folder / name).read_bytes(), name
    assert json.loads((again / "config.json").read_text()) == json.loads(
        (folder / "config.json").read_text()
    )
    write_gguf(folder, tmp_path / "float32.gguf")
    whole = {one.name: one.data for one in GGUFReader(tmp_path / "float32.gguf").tensors}
    for one in GGUFReader(tmp_path / "again.gguf").tensors:
        assert np.array_equal(dequantize(one.data, one.tensor_type), whole[one.name]), one.name
    sizes = [(tmp_path / name).stat().st_size for name in ("again.gguf", "float32.gguf")]
    assert sizes[0] < 0.75 * sizes[1]


def test_digits_stand_alone_and_special_tokens_are_one(folder: Path) -> None:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    encoded = tokenizer.encode("hell<|im_end|> hell 12", add_special_tokens=True)
    assert encoded.tokens == ["hell", "<|im_end|>", "Ġhell", "Ġ", "1", "2"]
    assert encoded.ids == [TOKENS.index(token) for token in encoded.tokens]
    assert tokenizer.decode(encoded.ids) == "hell hell 12"


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text() | st.sampled_from(TEXTS))
def test_every_text_comes_back(folder: Path, text: str) -> None:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert tokenizer.decode(tokenizer.encode(text).ids, skip_special_tokens=False) == text


def test_the_model_answers_as_transformers_does(folder: Path) -> None:
    torch = pytest.importorskip("torch")
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from specviz.config import EngineKind, Prompt, RunConfig, Sampling
    from specviz.engines.embedded.opening import open_engine
    from specviz.methods import Method
    from specviz.trace import fold

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    message = [{"role": "user", "content": "hello 12"}]
    ids = tokenizer.apply_chat_template(
        message, add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    theirs = model.generate(**ids, max_new_tokens=12, do_sample=False)
    config = RunConfig(
        EngineKind.EMBEDDED, Method.BASELINE, model=str(folder), options={"dtype": "float32"}
    )
    engine, _ = open_engine(config)
    trace = fold(list(engine.events(Prompt("hello 12"), Sampling(max_tokens=12))))
    assert list(trace.prompt_token_ids) == ids["input_ids"][0].tolist()
    ours = list(trace.token_ids)
    assert ours and theirs[0, len(trace.prompt_token_ids) :].tolist()[: len(ours)] == ours


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"architecture": "qwen2"}, "is not a plain Llama"),
        ({"splits": "llama-bpe"}, "a tokenizer of the kind gpt2, llama-bpe"),
        ({"merges": ["x yz"]}, "has no complete tokenizer"),
        ({"merges": ["nothing"]}, "has no complete tokenizer"),
        ({"tensors": {"rope_freqs.weight": np.ones(4, np.float32)}}, "the tensor rope_freqs.wei"),
        ({"tensors": {"blk.0.attn_q.bias": np.ones(32, np.float32)}}, "the tensor blk.0.attn_q.b"),
        ({"tensors": {"output.weight": np.ones((8, 4), np.int32)}}, "output.weight in .* cannot"),
    ],
)
def test_another_model_is_refused_by_name(
    tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    other = write_tiny_gguf(tmp_path / "other.gguf", **changes)
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match=reason):
        write_model(other, tmp_path / "folder")


def test_a_file_that_does_not_say_its_sizes_is_refused(tmp_path: Path) -> None:
    file = write_gguf_header(tmp_path / "bare.gguf", tokens=["a"], block_count=2)
    with pytest.raises(UsageError, match=r"does not say its attention\.head_count"):
        write_model(file, tmp_path)


def test_a_long_list_of_numbers_is_read(tmp_path: Path) -> None:
    numbers = [number % 7 for number in range(MOST_NUMBERS + 1)]
    file = read_gguf(write_gguf_header(tmp_path / "long.gguf", tokens=["a"], types=numbers))
    assert list(file.metadata["llama.types"]) == numbers
    assert struct.unpack("<32f", file.read("output_norm.weight")) == (0.0,) * 32
