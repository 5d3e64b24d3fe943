"""A benchmark plan as the form's fields hold it: text and numbers, to and from TOML. Pure data.

The form writes the TOML that the command line takes, and that TOML is what is started.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

import tomli_w

from specviz.bench.numbers import compact, numbers, parts, whole_numbers
from specviz.bench.plan.plan import Grid, Plan, PlanArm
from specviz.bench.plan.toml import parse_plan
from specviz.config import EngineKind
from specviz.errors import UsageError
from specviz.methods import Method, record_of
from specviz.views.shared.arm_choice import ASK, Offer, Place, default_arms, methods_at


class Where(StrEnum):
    """Where an arm is answered."""

    APP = "app"
    VLLM = "vllm"
    LLAMA_CPP = "llama.cpp"
    URL = "url"
    NAMED = "named"


RUNNING = (Where.URL, Where.NAMED)
PLACES = {
    Where.APP: Place.EMBEDDED,
    Where.VLLM: Place.VLLM,
    Where.LLAMA_CPP: Place.LLAMA_CPP,
    Where.URL: Place.URL,
    Where.NAMED: Place.URL,
}
METHODS_AT = {
    **{where: methods_at(place) for where, place in PLACES.items()},
    Where.VLLM: tuple(name for name in methods_at(Place.URL) if name != ASK),
}
ENGINES = {Where.APP: EngineKind.EMBEDDED, Where.LLAMA_CPP: EngineKind.LLAMA_CPP}
"""vLLM elsewhere: a server at a URL says itself what it is."""


@dataclass(frozen=True, slots=True)
class FormArm:
    """One row of the arms table; a list of Ks makes one arm per K.

    `model`: which one of a running server; any other arm has the plan's. `extras`: the embedded
    engine's options as `shape=tree, dtype=float32`, or flags of a vLLM server that is started for
    the arm. Fields that do not apply are kept for when they do.
    """

    where: str = Where.APP.value
    method: str = Method.DRAFT_MODEL.value  # or ASK
    ks: str = "5"
    model: str = ""
    draft: str = ""
    url: str = ""
    extras: str = ""
    base_only: bool = False
    server: str = ""  # of the fleet, by its name

    @property
    def is_running(self) -> bool:
        """Whether its server runs already, with its own draft and flags."""
        return self.where in RUNNING

    @property
    def has_draft(self) -> bool:
        """Whether a draft model or heads can be named."""
        record = record_of(self.method)
        return not self.is_running and record is not None and record.needs_draft

    @property
    def drafts(self) -> bool:
        """Whether K means anything."""
        return self.method not in (Method.BASELINE.value, ASK)

    def is_offered(self, offer: Offer) -> bool:
        """Whether its place has the method, and the model a draft if it needs one."""
        where = Where(self.where)
        has_draft = not self.has_draft or offer.drafts_at(PLACES[where], self.method)
        return self.method in METHODS_AT[where] and bool(has_draft)


@dataclass(frozen=True, slots=True)
class FormPlan:
    """All fields of the form. `model`: of all arms but those on running servers, empty for the
    default one. Lists are text such as `1, 2, 4`; None is an empty number field."""

    name: str = "Benchmark"
    model: str = ""
    arms: tuple[FormArm, ...] = ()
    file: str = ""
    format: str | None = None
    count: int | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    prompts_seed: int = 20
    temperatures: str = "0"
    concurrency: str = "1"
    request_rates: str = ""
    grid: str = Grid.FULL.value
    warmup: int = 5
    repetitions: int = 1
    max_tokens: int = 128
    ttft_ms: float | None = None
    tpot_ms: float | None = None
    e2el_ms: float | None = None
    time_budget_minutes: float | None = None
    servers_at_once: int | None = None
    seed: int = 20


class NotInForm(UsageError):
    """A plan that is right, and that only the editor can show."""


def toml_of(form: FormPlan) -> str:
    """The form as a plan file. Raises UsageError for a list or an option that is not one."""
    table = {
        "name": form.name,
        "temperatures": numbers(form.temperatures, "Temperatures"),
        "concurrency": whole_numbers(form.concurrency, "Concurrency"),
        "request_rate": numbers(form.request_rates, "Request rates"),
        "grid": form.grid,
        "warmup": form.warmup,
        "repetitions": form.repetitions,
        "max_tokens": form.max_tokens,
        "time_budget_minutes": form.time_budget_minutes,
        "servers_at_once": form.servers_at_once,
        "seed": form.seed,
        "prompts": _present(
            {
                "file": form.file.strip(),
                "format": form.format if form.file.strip() else None,
                "count": form.count,
                "seed": form.prompts_seed,
                "weights": _present(form.weights),
            }
        ),
        "slo": _present({name: getattr(form, name) for name in ("ttft_ms", "tpot_ms", "e2el_ms")}),
    }
    if not table["temperatures"]:
        raise UsageError("Temperatures are empty: give at least one, such as 0.")
    arms = [_arm_table(arm, n, form.model) for n, arm in enumerate(form.arms, start=1)]
    return "\n".join([_toml(table), *map(_arm_toml, arms)])


def arm_toml(arm: FormArm) -> str:
    """One arm as a plan file has it. Raises UsageError as `toml_of` does."""
    return _arm_toml(_arm_table(arm, 1, ""))


def plan_for(plan: Plan, model: str | None, offer: Offer) -> Plan:
    """A plan of the form with another model, None for the default one: only arms that it can have.
    Raises UsageError."""
    form = form_of(plan)
    arms = rows_for(form.arms, offer)
    return parse_plan(toml_of(replace(form, model=model or "", arms=arms)))


def rows_for(arms: Sequence[FormArm], offer: Offer) -> tuple[FormArm, ...]:
    """The rows that can be had with another model; where there are none, those to begin with."""
    running = [arm for arm in arms if arm.is_running]
    if offer.server:
        return tuple(dict.fromkeys([FormArm(Where.URL.value, ASK, url=offer.server), *running]))
    moved = [arm if arm.is_running else _at_home(arm, offer) for arm in arms]
    kept = [arm for arm in moved if arm.is_offered(offer)]
    home = _where_is(offer.home).value
    usual = [FormArm(home, arm.method, str(arm.k)) for arm in default_arms(offer) if arm.is_on]
    return tuple(dict.fromkeys(kept or usual))


def _at_home(arm: FormArm, offer: Offer) -> FormArm:
    if PLACES[Where(arm.where)] in offer.places:
        return replace(arm, draft="")
    home = _where_is(offer.home).value
    return replace(arm, where=home, draft="", extras="", base_only=False)  # lest two differ in that


def _where_is(home: Place) -> Where:
    return next(where for where, place in PLACES.items() if place is home)


def form_of(plan: Plan) -> FormPlan:
    """The form's fields for a plan; neighbouring arms that differ in K only share a row.

    Raises NotInForm for a plan with something that the form has no field for.
    """
    if plan.traffic or any({"schedule", "policy"} & arm.config.options.keys() for arm in plan.arms):
        raise NotInForm(
            "The form has no fields for [[traffic]], schedule and policy: edit this plan as TOML."
        )
    models = {arm.config.model for arm in plan.arms if _where(arm) not in RUNNING}
    if len(models) > 1:
        raise NotInForm("The form has one model for all arms: edit this plan as TOML.")
    prompts, loads = plan.prompts, plan.loads
    return FormPlan(
        name=plan.name,
        model=next(iter(models), None) or "",
        arms=_rows(plan.arms),
        file=prompts.file or "",
        format=prompts.format,
        count=prompts.count,
        weights=dict(prompts.weights),
        prompts_seed=prompts.seed,
        temperatures=", ".join(f"{value:g}" for value in plan.temperatures),
        concurrency=", ".join(str(load.concurrency) for load in loads if load.concurrency),
        request_rates=", ".join(f"{load.request_rate:g}" for load in loads if load.request_rate),
        grid=plan.grid.value,
        warmup=plan.warmup,
        repetitions=plan.repetitions,
        max_tokens=plan.max_tokens,
        time_budget_minutes=plan.time_budget_s and plan.time_budget_s / 60,
        servers_at_once=plan.servers_at_once,
        seed=plan.seed,
        **asdict(plan.slo),
    )


def _arm_table(arm: FormArm, number: int, model: str) -> dict[str, Any]:
    """One [[arms]] entry: only what applies to where the arm is answered."""
    table: dict[str, Any] = {
        "engine": ENGINES.get(Where(arm.where), EngineKind.VLLM).value,
        "method": None if arm.method == ASK else arm.method,
        "base_only": arm.base_only or None,
    }
    if arm.drafts:
        ks = whole_numbers(arm.ks, f"K of arm {number}")
        table["k"] = ks[0] if len(ks) == 1 else ks  # none: the method's own default
    if arm.where == Where.NAMED:
        if not arm.server:
            raise UsageError(f"Arm {number} is a named server: choose one.")
        del table["engine"]
        return _present({**table, "server": arm.server, "model": arm.model.strip()})
    if arm.where == Where.URL:
        if not arm.url.strip():
            raise UsageError(f"Arm {number} is at a server's URL: fill it in.")
        return _present({**table, "server_url": arm.url.strip(), "model": arm.model.strip()})
    table |= {"model": model, "draft": arm.draft.strip() if arm.has_draft else None}
    if arm.where == Where.VLLM:
        table["vllm_flags"] = arm.extras.strip()
    elif arm.where == Where.APP:
        table["options"] = _options(arm.extras, number)
    return _present(table)


def _arm_toml(table: Mapping[str, Any]) -> str:
    """One [[arms]] entry, its options in a separate table."""
    body = _toml({name: value for name, value in table.items() if name != "options"})
    options = table.get("options")
    return f"[[arms]]\n{body}" + (f"\n[arms.options]\n{_toml(options)}" if options else "")


def _toml(table: Mapping[str, Any]) -> str:
    return _inline_lists(tomli_w.dumps(_present(table)))


def _options(text: str, number: int) -> dict[str, str]:
    pairs = [part.partition("=") for part in parts(text)]
    if wrong := next((name for name, sign, value in pairs if not sign or not value.strip()), None):
        raise UsageError(
            f"Arm {number} has the option {wrong!r}: write name=value, such as shape=tree."
        )
    return {name.strip(): value.strip() for name, _, value in pairs}


def _rows(arms: tuple[PlanArm, ...]) -> tuple[FormArm, ...]:
    rows: list[tuple[FormArm, list[int]]] = []
    for arm in arms:
        row = _row(arm)
        if rows and arm.config.k and rows[-1][1] and rows[-1][0] == row:
            rows[-1][1].append(arm.config.k)
        else:
            rows.append((row, [arm.config.k] if arm.config.k else []))
    return tuple(replace(row, ks=compact(ks)) for row, ks in rows)


def _row(arm: PlanArm) -> FormArm:
    config = arm.config
    options = {name: value for name, value in config.options.items() if name != "vllm_flags"}
    return FormArm(
        where=_where(arm).value,
        method=config.method.value if config.method else ASK,
        ks="",
        model=config.model or "" if _where(arm) in RUNNING else "",
        draft=config.draft or "",
        url=config.server_url or "",
        extras=config.options.get("vllm_flags")
        or ", ".join(f"{name}={value}" for name, value in options.items()),
        base_only=arm.base_only,
        server=arm.server or "",
    )


def _where(arm: PlanArm) -> Where:
    if arm.server:
        return Where.NAMED
    if arm.config.server_url:
        return Where.URL
    started = (where for where, engine in ENGINES.items() if engine is arm.config.engine)
    return next(started, Where.VLLM)


def _present(table: Mapping[str, Any]) -> dict[str, Any]:
    """Only values that are set: TOML has no null."""
    return {name: value for name, value in table.items() if value not in (None, "", [], {})}


def _inline_lists(toml: str) -> str:
    """Lists of plain values on one line; a line break inside a value is always escaped."""
    return re.sub(
        r"\[\n((?: {4}[^\n{\[]*,\n)+)\]",
        lambda found: "[" + " ".join(found[1].split("\n")).strip(" ,").replace("    ", "") + "]",
        toml,
    )
