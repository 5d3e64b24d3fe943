"""The form of a launch: its command, its problems, its files, and what it refuses."""

from __future__ import annotations

from typing import Any

from streamlit.testing.v1 import AppTest

from specviz.views.servers.launch_form import state
from tests.support.demo_models import DEMO_DRAFT, DEMO_TARGET, MODELS

VLLM_VERSION = state.version_key("vllm", None)


def drawn(**answers: Any) -> AppTest:
    def script() -> None:
        from specviz.views.servers.launch_form.view import before_you_start_one

        before_you_start_one()

    test = AppTest.from_function(script, default_timeout=120)
    for key, value in answers.items():
        name = VLLM_VERSION if key == "VERSION" else getattr(state, key)
        test.session_state[name] = value
    test.run()
    assert not test.exception
    return test


def markdown(test: AppTest) -> str:
    return " ".join(one.value for one in test.markdown)


def test_it_begins_with_a_command_that_says_what_to_replace():
    test = drawn()
    assert test.code[0].value.startswith("vllm serve TARGET \\\n")
    assert "Replace TARGET and DRAFT." in [one.value for one in test.caption]
    assert "github.com/vllm-project/vllm/issues/42744" in markdown(test)


def test_answers_become_the_command_and_its_files():
    test = drawn(FRAMEWORK="triton", TARGET="meta/Llama", DRAFT="head", K=5, TENSOR=2)
    assert test.code[0].value.startswith("tritonserver \\\n")
    config = next(one.value for one in test.code if "speculative_config" in one.value)
    assert '"num_speculative_tokens": 5' in config and '"tensor_parallel_size": 2' in config
    assert not any(one.value.startswith("Replace") for one in test.caption)


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
