"""SmolLM2 out of its package: the text that transformers has for it, drafted or not."""

from __future__ import annotations

import json
from importlib.metadata import distribution
from pathlib import Path

import pytest

from specviz.models.kept import get
from specviz.models.listed import list_models
from specviz.models.packaged import ORIGIN, PACKAGE

pytestmark = pytest.mark.slow

PROMPT = "Explain what a KV cache is."
TEXTS = [
    *("The year 2024, in 3.5 words.", "def f(x):\n\treturn x ** 2  # 1,000", "안녕하세요 세계"),
    *(
        "Straße, naïve, Ærø",
        "👩‍👩‍👧 🦉",
        "٣٤ ½ Ⅳ",
        "  two\r\n\n three ",
        "<|im_start|>user\nhi<|im_end|>",
    ),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Written from the installed package; half a gigabyte would be too much for the real cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        found = get("smollm2")
        (listed,) = [one for one in list_models() if one.name == "smollm2"]
    assert (listed.written, listed.licence) == (True, "apache-2.0")
    assert ORIGIN in (found / "README.md").read_text()
    return found


def test_the_tokenizer_is_that_of_the_file_with_each_digit_alone(folder: Path) -> None:
    """transformers reads the same file and forgets its pre-tokeniser, which keeps digits apart."""
    transformers = pytest.importorskip("transformers")
    from tokenizers.pre_tokenizers import Digits, Sequence

    package = distribution(PACKAGE)
    (source,) = [file for file in package.files or () if file.suffix == ".gguf"]
    place = Path(str(package.locate_file(source)))
    ours = transformers.AutoTokenizer.from_pretrained(folder)
    theirs = transformers.AutoTokenizer.from_pretrained(place.parent, gguf_file=place.name)
    inner = theirs.backend_tokenizer
    inner.pre_tokenizer = Sequence([Digits(individual_digits=True), inner.pre_tokenizer])
    for text in TEXTS:
        assert ours(text).input_ids == theirs(text).input_ids, text
    assert ours.get_vocab() == theirs.get_vocab()
    assert ours.chat_template == theirs.chat_template


def test_greedy_text_is_that_of_transformers_with_and_without_drafts(folder: Path) -> None:
    torch = pytest.importorskip("torch")
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from specviz.config import EngineKind, Prompt, RunConfig, Sampling
    from specviz.engines.embedded.opening import open_engine
    from specviz.methods import Method
    from specviz.trace import fold

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    ids = tokenizer.apply_chat_template(
        [{"role": "user", "content": PROMPT}],
        add_generation_prompt=True,
        return_tensors="pt",
        return_dict=True,
    )
    begin = ids["input_ids"].shape[1]
    theirs = model.generate(**ids, max_new_tokens=40, do_sample=False)[0, begin:].tolist()
    for method in (Method.BASELINE, Method.NGRAM):
        config = RunConfig(
            EngineKind.EMBEDDED, method, model=str(folder), options={"dtype": "float32"}
        )
        engine, _ = open_engine(config)
        trace = fold(list(engine.events(Prompt(PROMPT), Sampling(max_tokens=40))))
        assert list(trace.token_ids) == theirs, method
    assert "cache" in tokenizer.decode(theirs)
    assert json.loads((folder / "generation_config.json").read_text())["eos_token_id"] == 2
