"""From the Live page's controls to a configuration."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.config import EngineKind, Sampling
from specviz.engines.embedded.options import parse_options
from specviz.errors import UsageError
from specviz.live import job
from specviz.methods import Method
from specviz.views.shared import arm_choice
from specviz.views.shared.arm_choice import (
    ACCEPTANCES,
    ASK,
    DTYPES,
    MAX_ARMS,
    SHAPES,
    ArmChoice,
    Offer,
    Place,
    arms_for,
    default_arms,
    methods_at,
    startable,
    usual_shape,
)

SAMPLING = Sampling(0.0, 1.0, 128, 7)


HEAD, SMALL, FILE = "/m/head", "/m/small", "/m/small.gguf"
GGUF = Offer((Place.OFF, Place.LLAMA_CPP, Place.URL), Place.LLAMA_CPP)
SERVER = Offer((Place.OFF, Place.URL), Place.OFF, server="http://h:1")


@pytest.mark.parametrize(
    ("drafts", "best"),
    [
        ({Method.EAGLE3: ("",), Method.DRAFT_MODEL: (SMALL,)}, Method.EAGLE3),
        ({Method.DRAFT_MODEL: (SMALL,), Method.EAGLE3: ()}, Method.DRAFT_MODEL),
        ({Method.DRAFT_MODEL: (FILE,), Method.MEDUSA: ("",)}, Method.NGRAM),
    ],
)
def test_plain_decoding_runs_next_to_the_best_draft_that_fits(
    drafts: dict[Method, tuple[str, ...]], best: Method
) -> None:
    arms = default_arms(Offer(drafts=drafts))
    configs = [arm.config(SAMPLING, "m") for arm in arms if arm.is_on]
    assert [(one.engine, one.method, one.k, one.model) for one in configs] == [
        (EngineKind.EMBEDDED, Method.BASELINE, None, "m"),
        (EngineKind.EMBEDDED, best, 5, "m"),
    ]
    assert len(arms) == MAX_ARMS == job.MAX_ARMS
    assert len({arm.method for arm in arms}) == len(arms)


def test_methods_without_a_draft_are_not_offered_unless_one_was_typed() -> None:
    offer = Offer(drafts={Method.EAGLE3: (HEAD,), Method.DRAFT_MODEL: (FILE,)})
    in_app = offer.methods_at(Place.EMBEDDED)
    assert "eagle3" in in_app and "ngram" in in_app
    assert not {"draft_model", "mirror", "medusa", "eagle"} & set(in_app)
    assert "draft_model" in offer.methods_at(Place.LLAMA_CPP)  # the draft is a GGUF file
    assert offer.methods_at(Place.URL) == methods_at(Place.URL)  # the server has its own
    assert "medusa" not in offer.methods_of(ArmChoice(Place.EMBEDDED, "medusa"))
    assert "medusa" in offer.methods_of(ArmChoice(Place.EMBEDDED, "medusa", draft="/typed"))


def test_arms_move_to_what_another_model_can_be_asked_for() -> None:
    arms = (
        ArmChoice(Place.EMBEDDED, "eagle3", 7, draft=HEAD),
        ArmChoice(Place.VLLM, "ngram", 3),
        ArmChoice(Place.URL, "medusa", url="http://other"),
        ArmChoice(Place.EMBEDDED, "swift", 3),
    )
    moved = arms_for(GGUF, arms)
    assert moved == (
        ArmChoice(Place.LLAMA_CPP, "ngram", 7),
        ArmChoice(Place.LLAMA_CPP, "ngram", 3),
        arms[2],
        ArmChoice(Place.OFF, "ngram", 3),  # or there were two of one kind
    )
    first, second, third, last = arms_for(SERVER, arms)
    assert (first.place, first.method, first.url) == (Place.URL, ASK, "http://h:1")
    assert (second.is_on, last.is_on) == (False, False) and third == arms[2]
    assert [arm.is_on for arm in default_arms(SERVER)] == [True, False, False, False]


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
    arm = ArmChoice(Place.LLAMA_CPP, "draft_model", shape="tree", draft=" d ")
    config = arm.config(SAMPLING, "m")
    assert (config.model, config.draft) == ("m", "d")
    assert (config.engine, config.k, config.options) == (EngineKind.LLAMA_CPP, 5, {})
    assert config.starts_server


def test_options_that_do_not_apply_are_left_out() -> None:
    arm = ArmChoice(Place.EMBEDDED, "ngram", shape="tree", acceptance="typical", dtype="float32")
    assert arm.options() == {"dtype": "float32"}
    medusa = ArmChoice(Place.EMBEDDED, "medusa", shape="tree", acceptance="typical")
    assert medusa.config(SAMPLING).title == "medusa · K 5 · tree · typical, not lossless"
    assert ArmChoice(Place.VLLM, "eagle3", shape="tree").config(SAMPLING).options == {}


def test_a_server_gets_its_url_and_decides_when_asked() -> None:
    config = ArmChoice(Place.URL, ASK, url=" http://host:1 ", draft="d").config(SAMPLING, "m")
    assert (config.model, config.draft) == (None, None)
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
