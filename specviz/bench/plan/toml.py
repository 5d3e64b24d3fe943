"""Plans as TOML: what the command line reads, and what the form in the browser writes.

```toml
name = "Two methods"
temperatures = [0.0]
concurrency = [1, 4]        # closed loop; request_rate = [2.0] adds Poisson arrivals
                            # [[traffic]] adds a load that changes: `load/toml.py`
repetitions = 3

[prompts]                   # without `file` the shipped ones
count = 24

[[arms]]
engine = "embedded"
method = "baseline"

[[arms]]
engine = "embedded"
method = "eagle3"
k = [3, 5, 8]               # one arm per K

[[arms]]
server = "gpu-1"            # a server of the fleet; server_url names one by its address
```
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import tomli_w

from specviz.analysis.benchmark.results import Slo
from specviz.bench.load import toml_values as toml
from specviz.bench.load.load import Load
from specviz.bench.load.toml import traffic_of, traffic_table
from specviz.bench.load.toml_values import Table
from specviz.bench.plan.plan import Grid, Plan, PlanArm
from specviz.config import EngineKind, RunConfig
from specviz.errors import UsageError
from specviz.methods import Method
from specviz.prompts.sets import PromptSource
from specviz.servers.kinds import is_started
from specviz.servers.launch.schedule import checked_schedule

MAX_CHARACTERS = 64 * 1024
MAX_DOTS = 1_000
"""Per line: tomllib's time grows with the square of the parts of a dotted key."""

_WHOLE_NUMBERS = ("warmup", "repetitions", "max_tokens", "seed", "servers_at_once")
_PLAN_KEYS = {
    *("name", "arms", "prompts", "slo", "concurrency", "request_rate", "temperatures", "grid"),
    *("time_budget_minutes", "traffic"),
    *_WHOLE_NUMBERS,
}
_ARM_KEYS = {
    *("engine", "method", "k", "model", "draft", "server_url", "vllm_flags", "options"),
    *("base_only", "server", "schedule", "policy"),
}
_STARTED_OR_ADDRESSED = {
    *("engine", "server_url", "draft", "vllm_flags", "options", "schedule", "policy"),
}
"""What an arm on a named server does not decide."""
_PROMPT_KEYS = {"file", "format", "count", "weights", "seed"}
_SLO_KEYS = {"ttft_ms", "tpot_ms", "e2el_ms"}


def read_plan(path: Path) -> Plan:
    """The plan in a file; relative paths start at its folder. Raises UsageError."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The plan {path} cannot be read: {error}.") from error
    return parse_plan(text, path.parent)


def parse_plan(text: str, folder: Path | None = None) -> Plan:
    """The plan that TOML text describes. `folder`: where relative paths start.

    Raises UsageError with a sentence for anything that is not a plan.
    """
    if len(text) > MAX_CHARACTERS or any(line.count(".") > MAX_DOTS for line in text.splitlines()):
        raise UsageError(f"A plan has at most {MAX_CHARACTERS:,} characters of TOML, in lines.")
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"The plan is not TOML: {error}.") from error
    except RecursionError as error:
        raise UsageError("The plan is not TOML: its arrays are nested too deep.") from error
    toml.check_keys(table, _PLAN_KEYS, "the plan")
    given: dict[str, Any] = {
        name: toml.whole_number(table[name], name) for name in _WHOLE_NUMBERS if name in table
    }
    if "time_budget_minutes" in table:
        minutes = toml.number(table["time_budget_minutes"], "time_budget_minutes")
        given["time_budget_s"] = round(60 * minutes, 6)  # whole seconds stay whole
    return Plan(
        name=toml.text(table.get("name", "Benchmark"), "name"),
        arms=_arms(table.get("arms", []), folder),
        prompts=_prompts(toml.table(table.get("prompts", {}), "prompts"), folder),
        loads=_loads(table),
        temperatures=toml.numbers(table.get("temperatures", [0.0]), "temperatures"),
        traffic=tuple(
            traffic_of(toml.table(one, f"traffic {number}"), f"traffic {number}", folder)
            for number, one in enumerate(toml.array(table.get("traffic", []), "traffic"), start=1)
        ),
        grid=toml.choice(Grid, table.get("grid", "full"), "grid"),
        slo=_slo(toml.table(table.get("slo", {}), "slo")),
        **given,
    )


def plan_to_toml(plan: Plan) -> str:
    """TOML that `parse_plan` reads back as the same plan; defaults are written out."""
    table: dict[str, Any] = {
        "name": plan.name,
        "temperatures": list(plan.temperatures),
        "concurrency": [load.concurrency for load in plan.loads if load.concurrency],
        "request_rate": [load.request_rate for load in plan.loads if load.request_rate],
        "grid": plan.grid.value,
        "warmup": plan.warmup,
        "repetitions": plan.repetitions,
        "max_tokens": plan.max_tokens,
        "seed": plan.seed,
        "time_budget_minutes": plan.time_budget_s and plan.time_budget_s / 60,
        "servers_at_once": plan.servers_at_once,
        "prompts": _present(asdict(plan.prompts) | {"weights": dict(plan.prompts.weights)}),
        "slo": _present(asdict(plan.slo)),
        "traffic": [traffic_table(one) for one in plan.traffic],
        "arms": [_arm_table(arm) for arm in plan.arms],
    }
    return tomli_w.dumps(_present(table))


def _present(table: Table) -> dict[str, Any]:
    """Without what is not set: TOML has no null."""
    return {name: value for name, value in table.items() if value not in (None, [], {})}


def _arm_table(arm: PlanArm) -> dict[str, Any]:
    config = arm.config
    of_arm = {"vllm_flags", "schedule", "policy"}  # they have keys of their own
    options = {name: text for name, text in config.options.items() if name not in of_arm}
    schedule = config.options.get("schedule")
    return _present(
        {
            "engine": None if arm.server else config.engine.value,
            "method": config.method and config.method.value,
            "k": config.k,
            "model": config.model,
            "draft": config.draft,
            "server_url": None if arm.server else config.server_url,
            "server": arm.server,
            "vllm_flags": config.options.get("vllm_flags"),
            "schedule": schedule and json.loads(schedule),
            "policy": config.options.get("policy"),
            "options": options,
            "base_only": arm.base_only or None,
        }
    )


def _arms(given: Any, folder: Path | None) -> tuple[PlanArm, ...]:
    return tuple(
        arm
        for number, table in enumerate(toml.array(given, "arms"), start=1)
        for arm in _arms_of(toml.table(table, f"arm {number}"), f"arm {number}", folder)
    )


def _arms_of(table: Table, where: str, folder: Path | None) -> list[PlanArm]:
    """The arms of one [[arms]] entry: one, or one per K."""
    toml.check_keys(table, _ARM_KEYS, where)
    given = table.get("k")
    ks = given if isinstance(given, list) else [given]
    if not ks:
        raise UsageError(f"k of {where} is an empty list: give at least one K.")
    base_only = table.get("base_only", False)
    toml.check(isinstance(base_only, bool), f"base_only of {where}", "true or false")
    server = table.get("server")
    if server is not None:
        server = toml.text(server, f"server of {where}")
        if wrong := sorted(table.keys() & _STARTED_OR_ADDRESSED):
            raise UsageError(
                f"{where} is a named server, which runs already: leave {wrong[0]} out."
            )
        table = {**table, "engine": EngineKind.OPENAI.value}
    return [PlanArm(_config(table, k, where, folder), base_only, server) for k in ks]


def _config(table: Table, k: Any, where: str, folder: Path | None) -> RunConfig:
    if k is not None:
        toml.whole_number(k, f"k of {where}")
    engine = toml.choice(EngineKind, table.get("engine", "embedded"), f"engine of {where}")
    options = toml.table(table.get("options", {}), f"options of {where}")
    options = {name: str(value) for name, value in options.items()}
    if wrong := sorted(options.keys() & {"schedule", "policy"}):
        raise UsageError(f"{wrong[0]} is a key of {where} itself: write it outside of options.")
    if "vllm_flags" in table:
        options["vllm_flags"] = toml.text(table["vllm_flags"], f"vllm_flags of {where}")
    if "schedule" in table:
        options["schedule"] = json.dumps(checked_schedule(table["schedule"], k))
    if "policy" in table:
        file = Path(toml.text(table["policy"], f"policy of {where}")).expanduser()
        options["policy"] = str((folder / file if folder else file).resolve())
    url, is_named = table.get("server_url"), "server" in table
    method = table.get("method")
    if method is None and not url and not is_named:
        raise UsageError(f"{where} names no method: use baseline, draft_model, ngram, ….")
    if engine is EngineKind.EMBEDDED and "vllm_flags" in options:
        raise UsageError(f'{where} has vllm_flags: write engine = "vllm".')
    if engine is EngineKind.EMBEDDED and url:
        others = [kind for kind in EngineKind if kind not in (engine, EngineKind.VLLM)]
        raise UsageError(
            f'{where} has a server_url: write engine = "vllm", or another kind of server '
            f"({', '.join(others)})."
        )
    if engine is EngineKind.EMBEDDED and (options.keys() & {"schedule", "policy"}):
        raise UsageError(
            f"The embedded engine has one K for all: leave schedule and policy out of {where}."
        )
    must_run = engine is not EngineKind.EMBEDDED and not is_started(engine)
    if must_run and not url and not is_named:
        raise UsageError(f"{where} is a server that specviz cannot start: give its server_url.")
    return RunConfig(
        engine=engine,
        method=None if method is None else toml.choice(Method, method, f"method of {where}"),
        k=k,
        model=_path(table.get("model"), folder),
        draft=_path(table.get("draft"), folder),
        server_url=url and toml.text(url, f"server_url of {where}"),
        traced=False,
        options=options,
    )


def _path(given: Any, folder: Path | None) -> str | None:
    """A folder on disk, relative to the plan; anything else is a name and stays as it is."""
    if given is None:
        return None
    name = toml.text(given, "model and draft")
    found = Path(name) if folder is None else folder / name
    return str(found.resolve()) if found.is_dir() else name


def _prompts(table: Table, folder: Path | None) -> PromptSource:
    toml.check_keys(table, _PROMPT_KEYS, "prompts")
    given: dict[str, Any] = {
        name: toml.whole_number(table[name], f"{name} of prompts")
        for name in ("count", "seed")
        if name in table
    }
    if "format" in table:
        given["format"] = toml.text(table["format"], "format of prompts")
    source = PromptSource(
        **given,
        weights={
            name: toml.number(weight, f"the weight of {name}")
            for name, weight in toml.table(table.get("weights", {}), "weights").items()
        },
    )
    if "file" not in table:
        return source
    file = Path(toml.text(table["file"], "file of prompts")).expanduser()
    return replace(source, file=str((folder / file if folder else file).resolve()))


def _loads(table: Table) -> tuple[Load, ...]:
    rates = toml.numbers(table.get("request_rate", []), "request_rate")
    by_default = [] if rates or table.get("traffic") else [1]
    concurrency = toml.whole_numbers(table.get("concurrency", by_default), "concurrency")
    return (
        *(Load(concurrency=value) for value in concurrency),
        *(Load(request_rate=rate) for rate in rates),
    )


def _slo(table: Table) -> Slo:
    toml.check_keys(table, _SLO_KEYS, "slo")
    limits = {name: toml.number(value, name) for name, value in table.items()}
    for name, limit in limits.items():
        toml.check(limit > 0, f"{name} of slo", "above 0 ms")
    return Slo(**limits)
