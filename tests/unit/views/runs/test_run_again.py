"""A stored run as a command, read back by a shell and by the real command line; and as Live's
controls."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Sequence
from dataclasses import replace

import pytest

from specviz import cli
from specviz.commands import single_run
from specviz.config import EngineKind, Prompt, RunConfig, Sampling
from specviz.methods import Method
from specviz.views.live.prefill import arm_choice, model_of
from specviz.views.live.prefill import on_live as on_live_with
from specviz.views.runs.rerun import (
    Circumstances,
    asked,
    command_differences,
    command_of,
    live_differences,
    quoted,
)
from specviz.views.shared.arm_choice import ASK, ArmChoice, Place
from tests.support.demo_models import DEMO_TARGET

HOSTILE = (
    "'; rm -rf / #",
    '$(touch /tmp/x) `id` \\ "q" $HOME !! %s',
    "\x1b]0;title\x07\x1b[2J red",
    "line one\nline two\r\n\ttab\x7f",
    "\u202eevil\u202c \u200b\ufeff",
    "-rf --prompt x",
    "한국어 👩‍👩‍👧 é",
    "\\n \\x41 \\'",
    "\x80\x9b31m",
)
AT = Circumstances("a prompt")


def on_live(config: RunConfig) -> RunConfig:
    """What Live asks for once the run is put back into its controls."""
    return on_live_with(config, model_of([config]))


SAMPLINGS = [
    Sampling(temperature, top_p, max_tokens, seed, top_k)
    for temperature in (0.0, 0.7, 1 / 3, 2.0)
    for top_p, top_k in ((1.0, 0), (2 / 3, 40), (1.0, 5000))
    for max_tokens in (1, 5000)
    for seed in (None, 0, -(2**40))
]
EMBEDDED = [
    RunConfig(
        EngineKind.EMBEDDED, method, k, model=model, draft=draft, traced=traced, options=options,
        server_version="torch 2.13", hardware="a machine", git_revision="abc",
    )
    for method, k in ((Method.DRAFT_MODEL, 5), (Method.MEDUSA, 12), (Method.SWIFT, None))
    for model, draft in (("demo-target", "demo-draft"), ("demo-target", "/d/a b"),
                         ("/models/it's mine", None))
    for traced in (True, False)
    for options in ({}, {"shape": "tree", "dtype": "float32"}, {"device": "cpu"})
]  # fmt: skip
SERVED = [
    RunConfig(
        EngineKind.VLLM, method, k, model=model, draft="EAGLE3", server_url=url, traced=k is None,
        concurrency=64, options=options,
    )
    for method, k in ((None, None), (Method.NGRAM, None), (Method.EAGLE3, 32))
    for model in (str(DEMO_TARGET), "meta-llama/Llama 3")
    for url in ("http://127.0.0.1:8000", "http://gpu:8000/a?b=c&d='x'")
    for options in ({}, {"vllm_flags": "--enforce-eager"})
]  # fmt: skip
CONFIGS = [
    replace(config, sampling=SAMPLINGS[place % len(SAMPLINGS)])
    for place, config in enumerate(EMBEDDED + SERVED)
]
SIGNS = "a \\'\"$`!\n\r\t\x1b\x00\x07\x9b\u202e\u2069\ufeff\u200b-=#*?~&|;<>()[]{}%한é👩"


def some_text(number: int) -> str:
    """Of all signs that a shell or a terminal takes for its own; a NUL is none of a command's."""
    rng = random.Random(number)
    return "x" + "".join(rng.choices(SIGNS, k=rng.randrange(12))).replace("\0", "")


def words_of(lines: Sequence[str]) -> list[list[str]]:
    """What bash makes of command lines, in one shell."""
    script = "specviz() { printf '%s\\0' \"$@\"; printf '\\0'; }\n" + "\n".join(lines)
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True)
    return [chunk.split("\0") for chunk in done.stdout.decode().split("\0\0")[:-1]]


def read_back(monkeypatch: pytest.MonkeyPatch, words: list[str]) -> tuple[RunConfig, Prompt]:
    """What `specviz run` would do."""
    seen: list[tuple[RunConfig, Prompt]] = []

    def run_once(config: RunConfig, prompt: Prompt, *others: object, **options: object) -> int:
        seen.append((config, prompt))
        return 0

    monkeypatch.setattr(single_run, "run_once", run_once)
    with pytest.raises(SystemExit) as end:
        cli.main(words)
    assert end.value.code == 0
    return seen[0]


def test_the_command_asks_for_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [(config, some_text(place)) for place, config in enumerate(CONFIGS[::3])]
    cases += [(RunConfig(EngineKind.EMBEDDED, Method.BASELINE), text) for text in HOSTILE]
    lines = [command_of(config, prompt) for config, prompt in cases]
    assert all(line.isprintable() for line in lines)
    for (config, prompt), words in zip(cases, words_of(lines), strict=True):
        assert words[0] == "run"
        assert read_back(monkeypatch, words) == (asked(config), Prompt(prompt))


def test_a_plain_command_is_as_one_would_type_it() -> None:
    config = RunConfig(
        EngineKind.EMBEDDED, Method.EAGLE3, 5, Sampling(0.7, 1.0, 128, 7), model="demo-target",
        draft="demo-eagle3", options={"shape": "chain"},
    )  # fmt: skip
    assert command_of(config, "Say hi") == (
        "specviz run --engine embedded --method eagle3 --k 5 --temperature 0.7 --max-tokens 128 "
        "--seed 7 --option shape=chain --prompt 'Say hi'"
    )


def test_a_run_stored_without_its_dtype_is_repeated_in_bfloat16() -> None:
    new = RunConfig(EngineKind.EMBEDDED, Method.NGRAM, 5)
    old = replace(new, server_version="torch 2.13.0, bfloat16, cpu")
    assert "dtype" not in command_of(new, "Say hi")
    assert "--option dtype=bfloat16" in command_of(old, "Say hi")
    assert arm_choice(old).dtype == "bfloat16" and arm_choice(new).dtype == "auto"
    assert "dtype" not in " ".join(live_differences(old, on_live(old), AT))


@pytest.mark.parametrize("text", ["plain", "two words", "한국어"])
def test_what_is_harmless_stays_readable(text: str) -> None:
    assert text in quoted(text)


def test_the_demo_server_is_started_again_and_another_one_is_asked_again() -> None:
    config = RunConfig(
        EngineKind.VLLM, Method.DRAFT_MODEL, 5, model="/elsewhere/demo-target",
        server_url="http://127.0.0.1:41234",
    )  # fmt: skip
    assert "--engine vllm --method draft_model" in command_of(config, "x")
    assert "--server" not in command_of(config, "x")
    there = replace(config, server_url="http://gpu-7:8000")
    assert "--server http://gpu-7:8000" in command_of(there, "x")
    assert "--model /elsewhere/demo-target" in command_of(there, "x")


def said(config: RunConfig, at: Circumstances = AT) -> str:
    return " ".join(command_differences(config, at))


def test_what_a_command_cannot_repeat_is_said() -> None:
    plain = RunConfig(EngineKind.EMBEDDED, Method.NGRAM, 4, model="demo-target")
    assert said(plain) == ""
    assert "put its path in place of my-model" in said(replace(plain, model="my-model"))
    assert "No seed was set" in said(replace(plain, sampling=Sampling(0.5)))
    assert "64 requests were in flight" in said(replace(plain, concurrency=64))
    rate = replace(plain, concurrency=0, request_rate=2.5)
    assert "2.5 requests came per second" in said(rate)
    served_there = RunConfig(EngineKind.VLLM, None, server_url="http://a:1", model="m")
    assert "A server must answer at http://a:1" in said(served_there)
    with_flags = replace(served_there, options={"vllm_flags": "--x"})
    assert "vllm_flags" in said(with_flags) and "vllm_flags" not in command_of(with_flags, "x")
    machines = Circumstances("p", this_machine="this one")
    assert "It ran on that one; here is this one" in said(
        replace(plain, hardware="that one"), machines
    )
    assert said(replace(plain, hardware="this one"), machines) == ""
    many = Circumstances("p\0", category="qa", num_requests=7, is_of_benchmark=True)
    for part in ("of 7 in the run", "In the benchmark", "category qa", "NUL"):
        assert part in said(plain, many)


def test_a_k_that_was_asked_for_is_asked_for_again_or_missed() -> None:
    sampling = Sampling(spec_k=0)
    asked_for = RunConfig(EngineKind.VLLM, None, sampling=sampling, server_url="http://a:1")
    assert "--spec-k 0" in command_of(asked_for, "x")
    assert "Live has K asked for unset instead of 0" in " ".join(
        live_differences(asked_for, on_live(asked_for), AT)
    )


@pytest.mark.parametrize("config", CONFIGS)
def test_live_asks_for_the_same_or_says_what_not(config: RunConfig) -> None:
    live, wanted = on_live(config), asked(config)
    assert (live.engine, live.method, live.server_url) == (
        wanted.engine, wanted.method, wanted.server_url
    )  # fmt: skip
    found = " ".join(live_differences(config, live, AT))
    assert ("Live has K" in found) == (live.k != wanted.k)
    assert ("Live has top-k" in found) == (config.sampling.top_k > 1000)
    assert live.sampling.top_p == config.sampling.top_p
    at_url = wanted.server_url is not None
    assert ("Live has model" in found) == (at_url and wanted.model is not None)
    assert at_url or live.model == wanted.model
    assert ("Live has tracing on" in found) == (not config.traced)
    assert ("Live has device" in found) == ("device" in config.options)
    assert ("Live has longest" in found) == (config.sampling.max_tokens > 4096)
    drafts_no_tree = wanted.options.get("shape") == "tree" and "shape" not in live.options
    assert ("Live has shape" in found) == drafts_no_tree
    assert live.options.get("dtype") == wanted.options.get("dtype")
    assert live.sampling.temperature == config.sampling.temperature


def test_controls_of_an_arm() -> None:
    options = {"dtype": "float32", "shape": "tree", "acceptance": "typical"}
    medusa = RunConfig(
        EngineKind.EMBEDDED, Method.MEDUSA, 12, model="demo-target", draft="demo-medusa",
        options=options,
    )  # fmt: skip
    expected = ArmChoice(Place.EMBEDDED, "medusa", 12, "", "tree", "typical", "float32")
    assert arm_choice(medusa) == expected
    suffix = RunConfig(EngineKind.EMBEDDED, Method.SUFFIX, 8, options={"shape": "tree"})
    assert on_live(suffix).options["shape"] == "tree"
    assert "shape" not in " ".join(live_differences(suffix, on_live(suffix), AT))
    server = RunConfig(EngineKind.VLLM, None, server_url="http://a:1", model="m")
    assert arm_choice(server).place is Place.URL and arm_choice(server).method == ASK
    assert arm_choice(server).url == "http://a:1"
    demo = RunConfig(EngineKind.VLLM, Method.NGRAM, 4)
    assert arm_choice(demo).place is Place.VLLM
