"""The form of a server: started here or as a command, its problems, its files, its refusals."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from specviz.deploy.request import Request
from specviz.errors import UsageError
from specviz.methods import Method
from specviz.views.servers.launch_form import state
from specviz.views.servers.launch_form.spec import spec_of
from tests.support.demo_models import DEMO_DRAFT, DEMO_TARGET, MODELS

VLLM_VERSION = state.version_key("vllm", None)


def drawn(**answers: Any) -> AppTest:
    def script() -> None:
        from pathlib import Path

        from specviz.servers.launch.pool import ServerPool
        from specviz.views.servers.launch_form.view import start_one

        start_one(ServerPool(Path("never-used")))

    test = AppTest.from_function(script, default_timeout=120)
    for key, value in answers.items():
        name = VLLM_VERSION if key == "VERSION" else getattr(state, key)
        test.session_state[name] = value
    test.run()
    assert not test.exception
    return test


def markdown(test: AppTest) -> str:
    return " ".join(one.value for one in test.markdown)


def starts(test: AppTest) -> bool:
    """Whether the form can start the server here."""
    return not test.button(key="launch_start").disabled


def test_it_begins_with_a_command_that_says_what_to_replace():
    test = drawn()
    assert test.code[0].value.startswith("vllm serve TARGET \\\n")
    assert "Replace TARGET and DRAFT. *Start here* takes" in test.caption[0].value
    assert starts(test)
    assert "github.com/vllm-project/vllm/issues/42744" in markdown(test)


def test_answers_become_the_command_and_its_files():
    test = drawn(FRAMEWORK="triton", TARGET="meta/Llama", DRAFT="head", K=5, TENSOR=2)
    assert test.code[0].value.startswith("tritonserver \\\n")
    config = next(one.value for one in test.code if "speculative_config" in one.value)
    assert '"num_speculative_tokens": 5' in config and '"tensor_parallel_size": 2' in config
    assert not any(one.value.startswith("Replace") for one in test.caption)
    assert not starts(test)


def test_what_does_not_exist_is_a_sentence_in_place_of_the_command():
    test = drawn(METHOD="medusa", TARGET="<b>T</b>", DRAFT="D")
    assert not test.code
    assert "medusa" in test.info[0].value and "0\\.32" in test.info[0].value


def test_a_version_can_be_typed_and_what_requests_use_chosen():
    typed = drawn(METHOD="ngram", VERSION="0.12")
    assert "was checked against" in markdown(typed)
    chosen = drawn(METHOD="ngram", USES=["logprobs"])
    assert "min\\_p" not in markdown(chosen)


def test_folders_of_this_machine_are_held_against_each_other() -> None:
    eagle3, medusa = str(MODELS / "demo-eagle3"), str(MODELS / "demo-medusa")
    fits = markdown(drawn(METHOD="eagle3", TARGET=str(DEMO_TARGET), DRAFT=eagle3))
    assert "The draft fits: format, engines, tensors" in fits
    sglang = markdown(drawn(FRAMEWORK="sglang", TARGET=str(DEMO_TARGET), DRAFT=eagle3))
    assert "cannot read layer 8" in sglang and "cannot read layer 8" not in fits
    refused = markdown(drawn(METHOD="draft_model", TARGET=str(DEMO_DRAFT), DRAFT=medusa))
    assert ":red[:material/block:]" in refused
    assert ":material/block:" not in markdown(drawn(TARGET="OWNER/T", DRAFT=medusa))


def test_ngram_comes_first_where_no_draft_fits_or_is_named() -> None:
    def offered(**answers: Any) -> str:
        return str(drawn(**answers).selectbox(key=state.METHOD).value)

    assert offered() == offered(TARGET=str(DEMO_TARGET)) == Method.DRAFT_MODEL
    assert offered(TARGET="org/target") == offered(TARGET=str(DEMO_DRAFT)) == Method.NGRAM
    assert offered(TARGET="org/target", DRAFT="org/draft") == Method.DRAFT_MODEL


def test_a_method_without_its_draft_gives_way_once_a_target_is_typed() -> None:
    test = drawn()
    assert test.selectbox(key=state.METHOD).value == Method.DRAFT_MODEL
    test.text_input(key=state.TARGET).input("org/target").run()
    assert test.selectbox(key=state.METHOD).value == Method.NGRAM
    chosen = drawn(METHOD="baseline")
    chosen.text_input(key=state.TARGET).input("org/target").run()
    assert chosen.selectbox(key=state.METHOD).value == Method.BASELINE, "what was chosen stays"


def test_the_form_starts_the_default_model_unless_models_are_named() -> None:
    unnamed = Request(
        "vllm", "TARGET", draft="DRAFT", k=5, port=8123, extra=("--max-model-len", "9")
    )
    default = spec_of(unnamed)
    assert (default.model, default.draft) == (str(DEMO_TARGET), str(DEMO_DRAFT))
    assert (default.k, default.port, default.extra_args) == (5, 8123, ("--max-model-len", "9"))
    own = spec_of(Request("vllm", "org/target", "eagle3", "org/head", k=3))
    assert (own.model, own.draft, own.k) == ("org/target", "org/head", 3)
    gguf = spec_of(Request("llama.cpp", "TARGET.gguf", draft="DRAFT.gguf"))
    assert (gguf.model, gguf.draft) == (default.model, default.draft)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (Request("vllm", "org/target", "eagle3", "DRAFT"), "org/target is not a model folder here"),
        (Request("sglang", "org/target", "ngram"), "cannot start a server for the engine sglang"),
        (Request("vllm", "org/target", "mtp"), "cannot be started here with mtp: choose from base"),
        (Request("vllm", "org/target", "ngram", tensor_parallel=2), "copy the command"),
        (Request("vllm", "org/t", draft="d", k=8, topk=2, depth=3), "copy the command"),
    ],
)
def test_what_cannot_be_started_here_says_what_can(asked: Request, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        spec_of(asked)


def test_flags_that_are_no_command_line_are_a_sentence() -> None:
    assert "no command line" in drawn(FLAGS="--x 'unfinished").info[0].value
