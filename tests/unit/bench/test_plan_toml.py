"""Plans as files: what is written is read back, and what is no plan is one sentence."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given

from specviz.bench.plan.check import check_arms
from specviz.bench.plan.plan import Grid, Plan
from specviz.bench.plan.toml import parse_plan, plan_to_toml, read_plan
from specviz.config import EngineKind
from specviz.errors import UsageError
from specviz.methods import Method
from specviz.paths import PLANS
from specviz.prompts.sets import load_conversations
from tests.support.bench.plans import plans

SHIPPED = sorted(path.stem for path in PLANS.glob("*.toml"))
ARM = '[[arms]]\nmethod = "baseline"\n'


def shipped(name: str) -> Plan:
    return read_plan(PLANS / f"{name}.toml")


@given(plans)
def test_a_plan_is_read_back_as_it_was(plan: Plan) -> None:
    assert parse_plan(plan_to_toml(plan)) == plan


def test_what_is_left_out_is_the_default() -> None:
    plan = parse_plan(ARM)
    assert plan == Plan("Benchmark", plan.arms)
    (only,) = plan.arms
    assert (only.config.engine, only.config.method) == (EngineKind.EMBEDDED, Method.BASELINE)
    assert not only.config.traced and not only.base_only


def test_a_list_of_k_is_an_arm_each_and_rates_alone_are_no_closed_loop() -> None:
    plan = parse_plan('request_rate = [2, 0.5]\n[[arms]]\nmethod = "ngram"\nk = [3, 5, 8]')
    assert [arm.config.k for arm in plan.arms] == [3, 5, 8]
    assert [(load.concurrency, load.request_rate) for load in plan.loads] == [
        (None, 2),
        (None, 0.5),
    ]
    assert len(set(plan.arm_names)) == 3


def test_folders_and_files_are_found_next_to_the_plan(tmp_path: Path) -> None:
    (tmp_path / "weights").mkdir()
    path = tmp_path / "plan.toml"
    path.write_text(
        '[prompts]\nfile = "mine.jsonl"\n'
        '[[arms]]\nmethod = "draft_model"\nmodel = "weights"\ndraft = "org/name"'
    )
    plan = read_plan(path)
    assert plan.prompts.file == str(tmp_path / "mine.jsonl")
    assert plan.arms[0].config.model == str(tmp_path / "weights")
    assert plan.arms[0].config.draft == "org/name"


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_plan_can_be_run_and_is_read_back(name: str) -> None:
    plan = shipped(name)
    assert parse_plan(plan_to_toml(plan)) == plan
    assert plan.has_baseline
    check_arms(plan)
    assert len(load_conversations(plan.prompts)) == plan.prompts.count


def test_the_documents_plan_says_what_the_documents_say() -> None:
    plan = shipped("documents")
    drawn = Counter(prompt.category for prompt in load_conversations(plan.prompts))
    assert drawn == {
        "short_qa": 150,
        "summarization": 100,
        "code_generation": 80,
        "creative_writing": 50,
        "translation": 70,
        "structured_output": 50,
    }
    assert plan.repetitions == 3
    assert [load.concurrency for load in plan.loads] == [1, 2, 4, 8, 16, 32, 64]
    assert plan.temperatures == (0.0, 0.3, 0.5, 0.7, 1.0, 1.2, 1.5)
    assert plan.grid is Grid.AXES
    ks = {arm.config.k for arm in plan.arms if arm.config.method is Method.EAGLE3}
    assert (min(ks), max(ks)) == (1, 15)
    methods = {arm.config.method for arm in plan.arms}
    assert methods >= {Method.DRAFT_MODEL, Method.MEDUSA, Method.EAGLE, Method.EAGLE3}


def test_the_k_plan_covers_one_to_fifteen() -> None:
    ks = {arm.config.k for arm in shipped("k-sweep").arms if arm.config.method is Method.EAGLE3}
    assert ks == set(range(1, 16))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"wramup = 3\n{ARM}", "wramup"),
        (f"[prompts]\nfiles = 'a'\n{ARM}", "'files'"),
        (f"[slo]\nttft = 3\n{ARM}", "'ttft'"),
        (f"{ARM}K = 3", "'K'"),
        (f'warmup = "5"\n{ARM}', "warmup must be a whole number"),
        (f"warmup = -1\n{ARM}", "warmup must be at least 0"),
        (f"repetitions = 0\n{ARM}", "repetitions must be at least 1"),
        (f"repetitions = true\n{ARM}", "repetitions must be a whole number"),
        (f"repetitions = 1.5\n{ARM}", "repetitions must be a whole number"),
        (f"max_tokens = 0\n{ARM}", "max_tokens"),
        (f"servers_at_once = 0\n{ARM}", "servers_at_once"),
        (f"time_budget_minutes = 0\n{ARM}", "time_budget_minutes"),
        (f"time_budget_minutes = nan\n{ARM}", "time_budget_minutes"),
        (f'time_budget_minutes = "5"\n{ARM}', "time_budget_minutes must be a number"),
        (f"name = 3\n{ARM}", "name must be text"),
        (f'name = " "\n{ARM}', "name must be text"),
        (f'grid = "half"\n{ARM}', "full, axes"),
        (f"temperatures = 0.5\n{ARM}", "temperatures must be a list"),
        (f"temperatures = []\n{ARM}", "temperatures are empty"),
        (f"temperatures = [3]\n{ARM}", "temperature must be between 0 and 2"),
        (f"temperatures = [nan]\n{ARM}", "temperature must be between 0 and 2"),
        (f"temperatures = [false]\n{ARM}", "temperatures must be a number"),
        (f"temperatures = [0, 0.0]\n{ARM}", "temperatures twice"),
        (f"temperatures = [1{'0' * 400}]\n{ARM}", "temperatures"),
        (f"concurrency = 4\n{ARM}", "concurrency must be a list"),
        (f"concurrency = []\n{ARM}", "loads are empty"),
        (f"concurrency = [0]\n{ARM}", "concurrency must be from 1"),
        (f"concurrency = [2000]\n{ARM}", "concurrency must be from 1"),
        (f"concurrency = [1.5]\n{ARM}", "concurrency must be"),
        (f"concurrency = [true]\n{ARM}", "concurrency must be"),
        (f"request_rate = [-1]\n{ARM}", "request_rate must be above 0"),
        (f"request_rate = [nan]\n{ARM}", "request_rate must be above 0"),
        (f"request_rate = [inf]\n{ARM}", "request_rate must be above 0"),
        (f'request_rate = ["2"]\n{ARM}', "request_rate must be a number"),
        (f"prompts = 5\n{ARM}", "prompts must be a table"),
        (f"[prompts]\ncount = 2.5\n{ARM}", "count of prompts must be a whole number"),
        (f"[prompts]\ncount = true\n{ARM}", "count of prompts must be a whole number"),
        (f'[prompts]\nseed = "x"\n{ARM}', "seed of prompts must be a whole number"),
        (f"[prompts]\nformat = 3\n{ARM}", "format of prompts must be text"),
        (f"[prompts]\nfile = 3\n{ARM}", "file of prompts must be text"),
        (f'[prompts.weights]\nshort_qa = "1"\n{ARM}', "weight of short_qa must be a number"),
        (f'[slo]\nttft_ms = "1"\n{ARM}', "ttft_ms must be a number"),
        (f"[slo]\ntpot_ms = -1\n{ARM}", "tpot_ms of slo must be above 0"),
        ("arms = 3", "arms must be a list"),
        ("arms = [3]", "arm 1 must be a table"),
        ("", "no arms"),
        ("arms = []", "no arms"),
        (ARM + ARM, "are the same"),
        ("[[arms]]\nmethod = 'ngram'\nk = [3, 3]", "are the same"),
        ("[[arms]]\nk = 3", "arm 1 names no method"),
        (f"{ARM}[[arms]]\nmethod = 'telepathy'", "method of arm 2 cannot be 'telepathy'"),
        ("[[arms]]\nmethod = 3", "method of arm 1 cannot be 3"),
        ("[[arms]]\nmethod = 'ngram'\nengine = 'cloud'", "engine of arm 1"),
        ("[[arms]]\nmethod = 'ngram'\nk = 0", "K = 0"),
        ("[[arms]]\nmethod = 'ngram'\nk = []", "k of arm 1 is an empty list"),
        ("[[arms]]\nmethod = 'ngram'\nk = '3'", "k of arm 1 must be a whole number"),
        ("[[arms]]\nmethod = 'ngram'\nk = [true]", "k of arm 1 must be a whole number"),
        ("[[arms]]\nmethod = 'ngram'\nk = 99", "K = 99"),
        (f"{ARM}k = 3", "leave K out"),
        (f"{ARM}server_url = 'http://x'", 'engine = "vllm", or another kind'),
        (f"{ARM}vllm_flags = '--seed 1'", 'engine = "vllm"'),
        (f"{ARM}base_only = 1", "base_only of arm 1 must be true or false"),
        (f"{ARM}options = 'x'", "options of arm 1 must be a table"),
        (f"{ARM}model = 5", "model and draft must be text"),
        ("name = ", "not TOML"),
        ("[[arms]\n", "not TOML"),
    ],
)
def test_what_is_no_plan_is_one_sentence_that_names_the_setting(text: str, says: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_plan(text)
    assert says in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("arm", "says"),
    [
        ("engine = 'embedded'\nmethod = 'ngram'\noptions = {shape = 'tree'}", "drafts no trees"),
        ("engine = 'embedded'\nmethod = 'ngram'\noptions = {speed = 'high'}", "speed"),
        ("engine = 'vllm'\nmethod = 'swift'", "vLLM does not have"),
        ("engine = 'vllm'\nmethod = 'ngram'\noptions = {dtype = 'float32'}", "vllm_flags"),
        ("engine = 'vllm'\nserver_url = 'http://x'\nvllm_flags = '--seed 1'", "server_url"),
        ("engine = 'llama.cpp'\nmethod = 'eagle3'", "llama.cpp does not have"),
        ("engine = 'llama.cpp'\nmethod = 'ngram'\nvllm_flags = '--seed 1'", "vllm_flags is vLLM's"),
    ],
)
def test_an_arm_that_cannot_run_is_named_before_anything_starts(arm: str, says: str) -> None:
    plan = parse_plan(f"[[arms]]\n{arm}")
    with pytest.raises(UsageError, match=f"The arm {plan.arm_names[0]} cannot run") as refused:
        check_arms(plan)
    assert says in str(refused.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path, content in ((tmp_path / "none.toml", None), (tmp_path / "bad.toml", b"\xff\xfe")):
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(UsageError, match=f"The plan {path} cannot be read"):
            read_plan(path)


def test_an_arm_on_a_named_server_needs_no_method_and_starts_none() -> None:
    plan = parse_plan(
        '[[arms]]\nserver = "gpu-1"\n[[arms]]\nserver = "b"\nmethod = "ngram"\nk = [3, 5]'
    )
    assert plan.arm_names == ("gpu-1", "b · ngram · K 3", "b · ngram · K 5")
    assert not any(arm.starts_server or arm.config.starts_server for arm in plan.arms)


@pytest.mark.parametrize("setting", ['engine = "vllm"', 'server_url = "http://x"', 'draft = "d"'])
def test_a_named_server_decides_what_it_was_started_with(setting: str) -> None:
    with pytest.raises(UsageError, match=f"runs already: leave {setting.split()[0]} out"):
        parse_plan(f'[[arms]]\nserver = "gpu-1"\n{setting}')
