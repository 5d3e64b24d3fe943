"""From the Live page's controls to a configuration."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.config import EngineKind, Sampling
from specviz.engines.embedded.options import parse_options
from specviz.errors import UsageError
from specviz.live.job import MAX_ARMS
from specviz.methods import Method
from specviz.views.shared import arm_choice
from specviz.views.shared.arm_choice import (
    ACCEPTANCES,
    ASK,
    DEFAULT_ARMS,
    DTYPES,
    SHAPES,
    ArmChoice,
    Place,
    methods_at,
    startable,
    usual_shape,
)

SAMPLING = Sampling(0.0, 1.0, 128, 7)


def test_without_a_choice_two_arms_run_in_the_app() -> None:
    configs = [arm.config(SAMPLING) for arm in DEFAULT_ARMS if arm.is_on]
    assert [(config.engine, config.method, config.k) for config in configs] == [
        (EngineKind.EMBEDDED, Method.BASELINE, None),
        (EngineKind.EMBEDDED, Method.DRAFT_MODEL, 5),
    ]
    assert len(DEFAULT_ARMS) == MAX_ARMS


def test_the_app_offers_every_method() -> None:
    assert set(methods_at(Place.EMBEDDED)) == {method.value for method in Method}


def test_a_url_offers_what_vllm_has_and_to_leave_it_to_the_server() -> None:
    offered = methods_at(Place.URL)
    assert ASK in offered and Method.SUFFIX in offered
    assert Method.SWIFT not in offered


@pytest.mark.parametrize("installed", [True, False])
def test_the_demo_server_offers_suffix_only_with_its_package(
    monkeypatch: pytest.MonkeyPatch, installed: bool
) -> None:
    monkeypatch.setattr(arm_choice, "find_spec", lambda name: installed or None)
    offered = startable()
    assert (Method.SUFFIX in offered) is installed
    assert {Method.BASELINE, Method.DRAFT_MODEL, Method.NGRAM} <= set(offered)


def test_a_llama_cpp_demo_server_offers_what_it_drafts_with() -> None:
    assert methods_at(Place.LLAMA_CPP) == ("baseline", "draft_model", "ngram")
    config = ArmChoice(Place.LLAMA_CPP, "draft_model", shape="tree").config(SAMPLING)
    assert (config.engine, config.k, config.options) == (EngineKind.LLAMA_CPP, 5, {})
    assert config.starts_server


def test_options_that_do_not_apply_are_left_out() -> None:
    arm = ArmChoice(Place.EMBEDDED, "ngram", shape="tree", acceptance="typical", dtype="float32")
    assert arm.options() == {"dtype": "float32"}
    medusa = ArmChoice(Place.EMBEDDED, "medusa", shape="tree", acceptance="typical")
    assert medusa.config(SAMPLING).title == "medusa · K 5 · tree · typical, not lossless"
    assert ArmChoice(Place.VLLM, "eagle3", shape="tree").config(SAMPLING).options == {}


def test_a_server_gets_its_url_and_decides_when_asked() -> None:
    config = ArmChoice(Place.URL, ASK, url=" http://host:1 ").config(SAMPLING)
    assert (config.engine, config.method, config.k) == (EngineKind.VLLM, None, None)
    assert config.server_url == "http://host:1"
    demo = ArmChoice(Place.VLLM, "ngram", url="http://left.over").config(SAMPLING)
    assert demo.server_url is None


def test_a_url_is_needed_where_one_was_announced() -> None:
    with pytest.raises(UsageError, match="needs that URL"):
        ArmChoice(Place.URL, "baseline", url="  ").config(SAMPLING)


def test_medusa_usually_drafts_a_tree() -> None:
    assert [usual_shape(method) for method in ("medusa", "eagle3")] == ["tree", "chain"]


@pytest.mark.parametrize("method", Method)
def test_the_shape_is_a_choice_where_the_method_has_more_than_one(method: Method) -> None:
    arm = ArmChoice(Place.EMBEDDED, method.value, shape="tree")
    has_trees = method in ("suffix", "medusa", "eagle", "eagle3")
    assert arm.has_shape is has_trees
    assert ("tree" in arm.config(SAMPLING).title) is has_trees


@given(
    st.sampled_from([Place.EMBEDDED, Place.VLLM]).flatmap(
        lambda place: st.builds(
            ArmChoice,
            st.just(place),
            st.sampled_from(methods_at(place)),
            st.integers(1, 32),
            st.text(max_size=3),
            st.sampled_from(SHAPES),
            st.sampled_from(ACCEPTANCES),
            st.sampled_from(DTYPES),
        )
    )
)
def test_whatever_the_controls_offer_is_a_configuration(arm: ArmChoice) -> None:
    config = arm.config(SAMPLING)
    assert config.method is not None and config.method.value == arm.method
    parse_options(config.options)
    assert config.is_lossless is (config.options.get("acceptance") != "typical")
