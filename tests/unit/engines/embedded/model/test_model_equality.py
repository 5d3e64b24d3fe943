"""Our decoder gives the logits that transformers gives, for every kind of checkpoint it reads."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, LlamaForCausalLM
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

from specviz.engines.embedded.checkpoint import read_config
from specviz.engines.embedded.model import load_model
from specviz.engines.embedded.options import MOST_ROWS
from specviz.errors import UsageError
from tests.support.demo_models import DEMO_DRAFT, DEMO_TARGET
from tests.support.embedded.model_checks import assert_close, tokens
from tests.support.embedded.tiny_models import CPU, KINDS, load_tiny, save_tiny, tiny_model

LENGTHS = (1, 31, MOST_ROWS, MOST_ROWS + 1, 100)


@pytest.fixture(scope="module", params=KINDS)
def pair(request, tmp_path_factory: pytest.TempPathFactory):
    """Our model and transformers' of the same checkpoint."""
    folder = tmp_path_factory.mktemp("model")
    theirs = tiny_model(request.param, seed=3)
    theirs.save_pretrained(folder)
    return load_tiny(folder), theirs


@pytest.mark.parametrize("length", LENGTHS)
def test_prompt_gives_the_same_logits(pair, length: int) -> None:
    ours, theirs = pair
    ids = tokens(length)
    forward = ours.forward(ids, ours.new_cache())
    assert_close(forward.logits, theirs(torch.tensor([ids])).logits[0])


def test_token_by_token_gives_the_same_logits(pair) -> None:
    ours, theirs = pair
    ids = tokens(70)
    cache = ours.new_cache()
    rows = [ours.forward(ids[:40], cache).logits]
    rows += [ours.forward([token], cache).logits for token in ids[40:]]
    assert_close(torch.cat(rows), theirs(torch.tensor([ids])).logits[0])
    assert cache.length == 70


def test_only_the_rows_asked_for_get_logits(pair) -> None:
    ours, _ = pair
    ids = tokens(10)
    everything = ours.forward(ids, ours.new_cache())
    last = ours.forward(ids, ours.new_cache(), logits_from=9)
    assert last.logits.shape == (1, 48) and last.hidden.shape == everything.hidden.shape
    assert_close(last.logits, everything.logits[9:])


def test_hidden_states_and_taps_are_transformers_own(pair) -> None:
    """`hidden` is the normed last state, tap i the input of layer i, the last tap the output."""
    ours, theirs = pair
    ids = tokens(12)
    layers = ours.config.layers
    states: list[torch.Tensor] = []
    hooks = [
        layer.register_forward_hook(lambda _, __, out: states.append(_first(out)[0]))
        for layer in theirs.model.layers
    ]
    normed = theirs.model(torch.tensor([ids])).last_hidden_state[0]
    for hook in hooks:
        hook.remove()
    forward = ours.forward(ids, ours.new_cache(), taps=tuple(range(layers + 1)))
    embedded = theirs.model.embed_tokens(torch.tensor(ids))
    assert_close(forward.hidden, normed)
    assert forward.taps is not None
    assert_close(forward.taps, torch.cat([embedded, *states], -1))


def _first(out: torch.Tensor | tuple[torch.Tensor, ...]) -> torch.Tensor:
    return out[0] if isinstance(out, tuple) else out


def test_long_text_outgrows_the_first_cache(tmp_path: Path) -> None:
    theirs = tiny_model(seed=4)
    theirs.save_pretrained(tmp_path)
    ours = load_tiny(tmp_path)
    ids = tokens(700)
    cache = ours.new_cache()
    rows = [ours.forward(ids[start : start + 50], cache).logits for start in range(0, 700, 50)]
    assert_close(torch.cat(rows), theirs(torch.tensor([ids])).logits[0])


@pytest.mark.parametrize("folder", [DEMO_TARGET, DEMO_DRAFT], ids=lambda folder: folder.name)
def test_demo_models_are_as_in_transformers(folder: Path) -> None:
    theirs = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    ours = load_model(folder, torch.float32, CPU)
    ids = tokens(90, ours.config.vocabulary)
    assert_close(ours.forward(ids, ours.new_cache()).logits, theirs(torch.tensor([ids])).logits[0])


@pytest.mark.parametrize(
    "written",
    [
        {"rope_parameters": {"rope_type": "default", "rope_theta": 5000.0}},
        {"rope_theta": 5000.0},
        {"rope_theta": 5000.0, "rope_scaling": None},
        {"rope_theta": 5000.0, "rope_scaling": {"type": "linear", "factor": 2.0}},
        {},
    ],
)
def test_every_way_to_write_the_rotary_embedding_is_read(tmp_path: Path, written: dict) -> None:
    save_tiny(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    del config["rope_parameters"]
    (tmp_path / "config.json").write_text(json.dumps(config | written))
    theirs = LlamaRotaryEmbedding(AutoConfig.from_pretrained(tmp_path))
    assert torch.equal(read_config(tmp_path).inverse_frequencies, theirs.inv_freq)


@pytest.mark.slow
def test_a_plain_rotary_embedding_needs_no_transformers() -> None:
    """Importing its configurations would take as long as importing torch."""
    code = (
        "import sys; from specviz.engines.embedded.checkpoint import read_config; "
        f"read_config(__import__('pathlib').Path({str(DEMO_TARGET)!r})); "
        "sys.exit('transformers' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_end_tokens_of_the_generation_config_count(tmp_path: Path) -> None:
    save_tiny(tmp_path)
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": [3, 5]}')
    assert load_tiny(tmp_path).config.eos_ids == {3, 5}
    (tmp_path / "generation_config.json").unlink()
    assert load_tiny(tmp_path).config.eos_ids == {1}


def test_weights_can_be_spread_over_files(tmp_path: Path) -> None:
    theirs = tiny_model(seed=5)
    theirs.save_pretrained(tmp_path, max_shard_size="20KB")
    assert len(list(tmp_path.glob("*.safetensors"))) > 1
    ids = tokens(9)
    ours = load_tiny(tmp_path)
    assert_close(ours.forward(ids, ours.new_cache()).logits, theirs(torch.tensor([ids])).logits[0])


def change_config(folder: Path, **changes: object) -> Path:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    return folder


def test_unknown_architecture_is_named_with_what_runs(tmp_path: Path) -> None:
    change_config(save_tiny(tmp_path), model_type="mamba")
    with pytest.raises(UsageError, match="llama, qwen2, qwen3, not mamba"):
        load_tiny(tmp_path)


def test_sliding_window_is_refused(tmp_path: Path) -> None:
    change_config(save_tiny(tmp_path, "qwen2"), use_sliding_window=True)
    with pytest.raises(UsageError, match="sliding window"):
        load_tiny(tmp_path)


def test_missing_folder_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="name a folder with"):
        load_tiny(tmp_path / "nowhere")


def test_broken_config_is_a_usage_error(tmp_path: Path) -> None:
    save_tiny(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(UsageError, match="is not a model folder"):
        load_tiny(tmp_path)


def test_missing_weights_are_a_usage_error(tmp_path: Path) -> None:
    save_tiny(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(UsageError, match=r"no \*.safetensors"):
        load_tiny(tmp_path)


def test_another_activation_is_refused(tmp_path: Path) -> None:
    """Computed as SiLU it gives wrong logits without a word."""
    save_tiny(tmp_path, hidden_act="gelu")
    with pytest.raises(UsageError):
        load_tiny(tmp_path)


def test_quantised_checkpoint_is_refused(tmp_path: Path) -> None:
    change_config(save_tiny(tmp_path), quantization_config={"quant_method": "gptq", "bits": 4})
    with pytest.raises(UsageError):
        load_tiny(tmp_path)


def test_missing_tensor_is_a_usage_error(tmp_path: Path) -> None:
    save_tiny(tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    del weights["model.norm.weight"]
    save_file(weights, tmp_path / "model.safetensors")
    with pytest.raises(UsageError):
        load_tiny(tmp_path)


def test_missing_size_is_a_usage_error(tmp_path: Path) -> None:
    path = save_tiny(tmp_path) / "config.json"
    config = json.loads(path.read_text())
    del config["num_hidden_layers"]
    path.write_text(json.dumps(config))
    with pytest.raises(UsageError):
        load_tiny(tmp_path)


def test_truncated_weights_are_a_usage_error(tmp_path: Path) -> None:
    path = save_tiny(tmp_path) / "model.safetensors"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(UsageError):
        load_tiny(tmp_path)
