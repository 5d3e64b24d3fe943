"""From the Benchmark page's fields to a plan file and back."""

from __future__ import annotations

import pytest

from specviz.bench.load.load import Load
from specviz.bench.plan.plan import Plan
from specviz.bench.plan.toml import parse_plan
from specviz.config import EngineKind
from specviz.errors import UsageError
from specviz.methods import Method
from specviz.paths import PLANS
from specviz.views.benchmark.form import (
    FormArm,
    FormPlan,
    NotInForm,
    Where,
    arm_toml,
    form_of,
    plan_for,
    rows_for,
    toml_of,
)
from specviz.views.shared.arm_choice import ASK, Offer, Place

BASELINE = FormArm(method="baseline")


def plan_of(form: FormPlan) -> Plan:
    return parse_plan(toml_of(form))


@pytest.mark.parametrize("path", sorted(PLANS.glob("*.toml")), ids=lambda path: path.stem)
def test_shipped_plans_pass_through_the_form_unchanged(path) -> None:
    plan = parse_plan(path.read_text(encoding="utf-8"))
    if plan.traffic:
        with pytest.raises(NotInForm, match="edit this plan as TOML"):
            form_of(plan)
        return
    assert plan_of(form_of(plan)) == plan


def test_what_the_form_has_no_field_for_is_never_dropped() -> None:
    arm = "[[arms]]\nengine = 'vllm'\nmethod = 'ngram'\nk = 2\n"
    with pytest.raises(NotInForm):
        form_of(parse_plan(f"{arm}schedule = [[1, 256, 1]]"))


def test_a_list_of_ks_is_one_row_and_one_arm_per_k() -> None:
    form = FormPlan(arms=(BASELINE, FormArm(method="eagle3", ks="1-3, 8")))
    assert "k = [1, 2, 3, 8]" in toml_of(form)
    plan = plan_of(form)
    assert [arm.config.k for arm in plan.arms] == [None, 1, 2, 3, 8]
    assert form_of(plan).arms[1].ks == "1-3, 8"


def test_rows_that_differ_in_more_than_k_stay_apart() -> None:
    form = FormPlan(
        arms=(
            FormArm(method="medusa", ks="5", extras="shape=tree, dtype=float32"),
            FormArm(method="medusa", ks="6", extras="shape=chain"),
        )
    )
    back = form_of(plan_of(form))
    assert [arm.ks for arm in back.arms] == ["5", "6"]
    assert back.arms[0].extras == "shape=tree, dtype=float32"


def test_only_what_applies_is_written() -> None:
    left_over = FormArm(
        Where.APP.value, "baseline", ks="7", draft="d", url="http://h:1", extras="dtype=float32"
    )
    (arm,) = plan_of(FormPlan(arms=(left_over,))).arms
    assert (arm.config.k, arm.config.draft, arm.config.server_url) == (None, None, None)
    assert arm.config.options == {"dtype": "float32"}
    server = FormArm(Where.URL.value, ASK, url=" http://h:1 ", extras="--flag")
    (arm,) = plan_of(FormPlan(arms=(server,))).arms
    assert (arm.config.method, arm.config.server_url) == (None, "http://h:1")
    assert arm.config.options == {}
    started = FormArm(Where.VLLM.value, "ngram", ks="4", extras="--max-model-len 512")
    (arm,) = plan_of(FormPlan(arms=(started,))).arms
    assert arm.config.options == {"vllm_flags": "--max-model-len 512"}


def test_loads_prompts_and_limits_arrive_in_the_plan() -> None:
    form = FormPlan(
        arms=(BASELINE,),
        count=12,
        weights={"short_qa": 2.0, "translation": 1.0},
        temperatures="0, 0.7",
        concurrency="1-2, 8",
        request_rates="2.5",
        tpot_ms=20.0,
        time_budget_minutes=1.5,
        servers_at_once=2,
    )
    plan = plan_of(form)
    assert plan.loads == (
        *(Load(concurrency=value) for value in (1, 2, 8)),
        Load(request_rate=2.5),
    )
    assert plan.temperatures == (0.0, 0.7)
    assert (plan.prompts.count, plan.prompts.weights["short_qa"]) == (12, 2.0)
    assert (plan.slo.tpot_ms, plan.slo.ttft_ms) == (20.0, None)
    assert (plan.time_budget_s, plan.servers_at_once) == (90.0, 2)
    assert plan_of(form_of(plan)) == plan


def test_request_rates_alone_need_no_concurrency() -> None:
    plan = plan_of(FormPlan(arms=(BASELINE,), concurrency="", request_rates="1, 2"))
    assert [load.request_rate for load in plan.loads] == [1.0, 2.0]


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        (FormPlan(), "no arms"),
        (FormPlan(arms=(BASELINE,), temperatures="warm"), "Temperatures cannot be 'warm'"),
        (FormPlan(arms=(BASELINE,), temperatures=" "), "Temperatures are empty"),
        (FormPlan(arms=(BASELINE,), concurrency="1.5"), "Concurrency cannot be '1.5'"),
        (FormPlan(arms=(FormArm(ks="9-1"),)), "K of arm 1: 9-1 runs backwards, write 1-9"),
        (
            FormPlan(arms=(FormArm(ks="1-99999999"),)),
            "K of arm 1: 1-99999999 is 99,999,999 values; a range may have 64",
        ),
        (FormPlan(arms=(FormArm(Where.URL.value, ASK),)), "Arm 1 is at a server's URL"),
        (FormPlan(arms=(FormArm(Where.NAMED.value, ASK),)), "Arm 1 is a named server: choose one"),
        (FormPlan(arms=(FormArm(extras="tree"),)), "write name=value"),
    ],
)
def test_a_wrong_value_is_one_sentence(form: FormPlan, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        plan_of(form)


def test_an_empty_k_is_left_to_the_method() -> None:
    (arm,) = plan_of(FormPlan(arms=(FormArm(ks=" "),))).arms
    assert arm.config.k is None


def test_text_stays_text() -> None:
    name = 'a "quote"\n[[arms]]\n    1,\n] \\ <b>'
    assert plan_of(FormPlan(name=name, arms=(BASELINE,))).name == name


def test_every_method_can_be_written() -> None:
    for method in Method:
        (arm,) = plan_of(FormPlan(arms=(FormArm(method=method.value, ks="2"),))).arms
        assert arm.config.method is method


def test_an_arm_on_llama_cpp_is_written_and_read_back() -> None:
    row = FormArm(Where.LLAMA_CPP.value, "ngram", ks="4", extras="left over")
    plan = plan_of(FormPlan(arms=(row,)))
    assert plan.arms[0].config.engine is EngineKind.LLAMA_CPP
    assert plan.arms[0].config.options == {}
    assert form_of(plan).arms[0].where == Where.LLAMA_CPP.value


def test_a_named_server_passes_through_the_form() -> None:
    row = FormArm(Where.NAMED.value, Method.NGRAM.value, "3, 5", url="http://kept", server="gpu-1")
    plan = plan_of(FormPlan(arms=(row, FormArm(Where.NAMED.value, ASK, server="plain"))))
    assert [(arm.server, arm.config.k) for arm in plan.arms] == [
        ("gpu-1", 3),
        ("gpu-1", 5),
        ("plain", None),
    ]
    assert plan_of(form_of(plan)) == plan
    assert parse_plan(arm_toml(row)).arms == plan.arms[:2]


def test_the_model_is_that_of_every_arm_that_opens_one() -> None:
    server = FormArm(Where.URL.value, ASK, url="http://h:1", model="its-own")
    form = FormPlan(model="/m", arms=(BASELINE, FormArm(Where.VLLM.value, "ngram"), server))
    plan = plan_of(form)
    assert [arm.config.model for arm in plan.arms] == ["/m", "/m", "its-own"]
    assert form_of(plan).model == "/m" and plan_of(form_of(plan)) == plan
    mixed = '[[arms]]\nmethod = "ngram"\n[[arms]]\nmethod = "ngram"\nmodel = "/m"\n'
    with pytest.raises(NotInForm, match="one model for all arms"):
        form_of(parse_plan(mixed))


def test_a_shipped_plan_is_made_for_a_model_with_the_drafts_that_it_has() -> None:
    shipped = parse_plan((PLANS / "technique.toml").read_text(encoding="utf-8"))

    def made(offer: Offer, model: str | None = "/m") -> list[tuple[EngineKind, str, str | None]]:
        configs = [arm.config for arm in plan_for(shipped, model, offer).arms]
        return [(one.engine, str(one.method), one.model) for one in configs]

    app, cpp = EngineKind.EMBEDDED, EngineKind.LLAMA_CPP
    assert made(Offer(drafts={Method.EAGLE3: ("",)})) == [
        (app, "baseline", "/m"),
        (app, "ngram", "/m"),
        (app, "eagle3", "/m"),
    ]
    gguf = Offer((Place.OFF, Place.LLAMA_CPP, Place.URL), Place.LLAMA_CPP)
    assert made(gguf, "/m.gguf") == [(cpp, "baseline", "/m.gguf"), (cpp, "ngram", "/m.gguf")]
    both = {Method.EAGLE3: ("",), Method.DRAFT_MODEL: ("",)}
    assert plan_for(shipped, None, Offer(drafts=both)) == shipped


def test_rows_follow_the_model_to_a_server_and_back() -> None:
    server = Offer((Place.OFF, Place.URL), Place.OFF, server="http://h:1")
    (row,) = rows_for([BASELINE, FormArm()], server)
    assert (row.where, row.method, row.url) == (Where.URL.value, ASK, "http://h:1")
    usual = rows_for([], Offer())
    assert [(row.where, row.method) for row in usual] == [("app", "baseline"), ("app", "ngram")]
    named = FormArm(Where.NAMED.value, ASK, server="gpu-1")
    assert rows_for([named], Offer()) == (named,)
