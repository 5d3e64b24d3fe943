"""Every sampling parameter, from each place where it is typed to the request that a server gets."""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from specviz.cli import main
from specviz.config import EngineKind, Prompt, RunConfig
from specviz.opening import open_arm
from specviz.servers.launch.pool import ServerPool
from specviz.views.live import state as live_state
from tests.support.servers.echoing_server import echoing
from tests.support.servers.hostile_server import Says
from tests.support.servers.kind_pages import PAGES, models, page, vllm

KINDS: dict[EngineKind, dict[str, Says]] = {
    **PAGES,
    EngineKind.OPENAI: {"/v1/models": models("somebody")},
}
TYPED = {"temperature": 0.5, "top_p": 0.75, "top_k": 20, "max_tokens": 9, "seed": 11}
UNCUT = {
    EngineKind.VLLM: {"top_k": -1, "min_p": 0.0},
    EngineKind.SGLANG: {"top_k": -1, "min_p": 0.0},
    EngineKind.LLAMA_CPP: {"top_k": 0, "min_p": 0.0},
}
"""In each kind's words: all of the distribution, where a server would cut it unasked."""

CUTS = ("top_k", "min_p")

each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.value)
each_field = pytest.mark.parametrize("name", TYPED)


def command(url: str, folder: Path, *arguments: str) -> None:
    db = ("--db", str(folder / "runs.duckdb"))
    with pytest.raises(SystemExit) as ended:
        main(["run", "--prompt", "hi", "--server", url, *db, *arguments])
    assert ended.value.code == 0


def on_command_line(name: str) -> list[str]:
    return [f"--{name.replace('_', '-')}", str(TYPED[name])]


@each_kind
@each_field
def test_an_option_of_the_command(kind: EngineKind, name: str, tmp_path: Path) -> None:
    with echoing(KINDS[kind]) as (url, asked):
        command(url, tmp_path, *on_command_line(name))
    *_, sent = asked
    usual = {"temperature": 0.0, "top_p": 1.0, "max_tokens": 128, **UNCUT.get(kind, {})}
    expected = {**usual, name: TYPED[name]}
    assert {one: sent[one] for one in (*TYPED, *CUTS) if one in sent} == expected


@each_kind
async def test_a_control_of_the_page(kind: EngineKind, tmp_path: Path) -> None:
    with echoing(KINDS[kind]) as (url, asked):
        config = typed_on_live(url)
        engine, _ = await open_arm(config, ServerPool(tmp_path), lambda _: None)
        async with aclosing(engine.generate(Prompt("hi"), config.sampling)) as events:
            async for _ in events:
                pass
        await engine.close()
    assert {name: asked[-1][name] for name in TYPED} == TYPED


def typed_on_live(url: str) -> RunConfig:
    """The arm of a server as Live's controls are set."""
    test = AppTest.from_function(_live_controls, args=(url,), default_timeout=120).run()
    test.slider(key=live_state.TEMPERATURE).set_value(TYPED["temperature"])
    for key, name in (
        (live_state.TOP_P, "top_p"),
        (live_state.TOP_K, "top_k"),
        (live_state.SEED, "seed"),
        (live_state.LENGTH, "max_tokens"),
    ):
        test.number_input(key=key).set_value(TYPED[name])
    test.run()
    assert not test.exception
    config: RunConfig = test.session_state["arm"]
    return config


def _live_controls(url: str) -> None:
    import streamlit as st

    from specviz.views.live.controls import sampling_settings
    from specviz.views.shared.arm_choice import ASK, ArmChoice, Place

    sampling, _ = sampling_settings()
    st.session_state["arm"] = ArmChoice(Place.URL, ASK, url=url).config(sampling)


LOAD = """\
temperatures = [0.25, 0.5]
concurrency = [1]
"""
TRAFFIC = """\
[[traffic]]
name = "mixed"
temperatures = [0.25, 0.5]
[[traffic.phases]]
concurrency = 1
requests = 8
"""


@each_kind
@pytest.mark.parametrize("load", [LOAD, TRAFFIC], ids=["load", "traffic"])
def test_a_key_of_a_plan(kind: EngineKind, load: str, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    with echoing(KINDS[kind]) as (url, asked):
        head, _, tables = load.partition("[[")
        plan.write_text(
            f"{head}max_tokens = 9\nwarmup = 0\nrepetitions = 1\n[prompts]\ncount = 8\n"
            f'[[arms]]\nengine = "{kind.value}"\nserver_url = "{url}"\n'
            + (tables and f"[[{tables}")
        )
        with pytest.raises(SystemExit) as ended:
            main(["bench", str(plan), "--db", str(tmp_path / "runs.duckdb")])
    assert ended.value.code == 0
    assert {sent["temperature"] for sent in asked} == {0.25, 0.5}
    assert {sent["max_tokens"] for sent in asked} == {9}
    assert {sent["top_p"] for sent in asked} == {1.0}
    cuts = [{one: sent[one] for one in CUTS if one in sent} for sent in asked]
    assert cuts == [UNCUT.get(kind, {})] * len(asked)


def test_a_k_of_one_request_and_a_top_k_together(tmp_path: Path) -> None:
    handshake = {"tracing": False, "method": "ngram", "num_speculative_tokens": 4, "policy": True}
    pages = vllm(**{"/specviz/handshake": page(handshake)})
    with echoing(pages) as (url, asked):
        command(url, tmp_path, "--spec-k", "2", "--top-k", "20")
    assert asked[-1]["vllm_xargs"] == {"spec_k": 2}
    assert asked[-1]["top_k"] == 20
