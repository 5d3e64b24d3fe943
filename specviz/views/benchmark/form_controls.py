"""The Benchmark page's form: arms, prompts, loads and limits of a plan."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from specviz.bench.plan.plan import Grid
from specviz.prompts.sets import FORMATS
from specviz.views.benchmark import state as bench_state
from specviz.views.benchmark.form import PLACES, FormArm, Where
from specviz.views.benchmark.state import arm_key, common, field_key, weight_key
from specviz.views.shared.arm_choice import Offer
from specviz.views.shared.model_field import draft_of_arm, model_field

WHERE_NAMES = {
    Where.APP: "in the app",
    Where.VLLM: "vLLM, started here",
    Where.LLAMA_CPP: "llama.cpp, started here",
    Where.URL: "a server at a URL",
    Where.NAMED: "a named server",
}
WHERE_HELP = (
    "in the app: the embedded engine. vLLM or llama.cpp, started here: specviz starts a server for "
    "the arm and stops it. a server at a URL: already running, with its own K and draft. a named "
    "server: the same, one of the Servers page."
)
K_HELP = (
    "Draft tokens per step. One arm per K: 5, or 3, 5, 8, or 1-15. Empty: the method's own default."
)
BASE_HELP = "Measure this arm at the first temperature and load only, as a K sweep usually is."
COUNT_HELP = "How many prompts are drawn. Empty: all, or as many as the weights allow."
FILE_HELP = "A file on the machine where the app runs. Empty: the prompts that ship with specviz."
SEED_HELP = "Which prompts are drawn, and in which order."
LIST_HELP = "One value or several: 1, 2, 4."
RATE_HELP = "Requests per second, arriving at random times (Poisson); each rate is a separate load."
GRID_NAMES = {
    Grid.FULL: "every load at every temperature",
    Grid.AXES: "loads at the first temperature, temperatures at the first load",
}
BUDGET_HELP = "No round begins after it; what is missing can be resumed. Empty: no limit."
SERVERS_HELP = "How many servers are loaded side by side. Empty: four on a CPU, one on a GPU."

_WIDTHS = [19, 16, 10, 26, 26, 8, 5]
_HEADS = ("Where", "Method", "K", "Draft, URL or server", "Options or vLLM flags", "Base", "")
_URL_HINT = "http://host:8000"
_EXTRA_HINTS = {Where.APP: "shape=tree", Where.VLLM: "--max-model-len 4096"}


def plan_form() -> None:
    """All fields; `bench_state.form()` reads them."""
    name, model = st.columns(2, gap="medium")
    name.text_input("Name", **common(field_key("name")))
    with model:
        chosen = model_field()
    bench_state.fit_rows(chosen)
    _arms(chosen.offer)
    prompts, loads, limits = st.columns(3, gap="medium")
    with prompts:
        _prompts()
    with loads:
        _loads()
    with limits:
        _limits()


def _arms(offer: Offer) -> None:
    with st.container(gap="xsmall", key="bench_arms"):
        for column, head in zip(st.columns(_WIDTHS, gap="xsmall"), _HEADS, strict=True):
            column.caption(head, help=_head_help(head))
        for number, row in enumerate(bench_state.rows(), start=1):
            _arm_row(number, row, bench_state.arm(row), offer)
        st.button("Add an arm", icon=":material/add:", on_click=bench_state.add_arm)


def _head_help(head: str) -> str | None:
    return {"Where": WHERE_HELP, "K": K_HELP, "Base": BASE_HELP}.get(head)


def _arm_row(number: int, row: int, arm: FormArm, offer: Offer) -> None:
    where, method, k, answers, extras, base, remove = st.columns(
        _WIDTHS, gap="xsmall", vertical_alignment="center"
    )
    place = Where(arm.where)
    where.selectbox(
        f"Where arm {number} is answered",
        [one.value for one in Where if PLACES[one] in offer.places or one is place],
        format_func=lambda value: WHERE_NAMES[Where(value)],
        label_visibility="collapsed",
        **common(arm_key(row, "where")),
    )
    method.selectbox(
        f"Method of arm {number}",
        bench_state.methods_of(row, offer),
        label_visibility="collapsed",
        **common(arm_key(row, "method")),
    )
    if arm.drafts:
        _text(k, f"K of arm {number}", arm_key(row, "ks"), "default")
    if place is Where.NAMED:
        answers.selectbox(
            f"Server of arm {number}",
            dict.fromkeys([*bench_state.server_names(), *filter(None, [arm.server])]),
            index=None,
            placeholder="choose one",
            label_visibility="collapsed",
            **common(arm_key(row, "server")),
        )
    elif place is Where.URL:
        _text(answers, f"URL of arm {number}", arm_key(row, "url"), _URL_HINT)
    elif arm.has_draft:
        draft_of_arm(
            answers,
            f"Draft of arm {number}",
            offer,
            PLACES[place],
            arm.method,
            label_visibility="collapsed",
            **common(arm_key(row, "draft")),
        )
    if place in _EXTRA_HINTS:
        _text(extras, f"Options of arm {number}", arm_key(row, "extras"), _EXTRA_HINTS[place])
    base.checkbox(
        f"Arm {number} at the first load and temperature only",
        label_visibility="collapsed",
        **common(arm_key(row, "base_only")),
    )
    remove.button(
        ":material/close:",
        key=f"bench_remove_{row}",
        type="tertiary",
        on_click=bench_state.remove_arm,
        args=(row,),
        help=f"Remove arm {number}",
    )


def _text(column: DeltaGenerator, label: str, key: str, hint: str) -> None:
    column.text_input(label, placeholder=hint, label_visibility="collapsed", **common(key))


def _prompts() -> None:
    st.markdown("**Prompts**")
    st.text_input(
        "File", placeholder="shipped prompts", help=FILE_HELP, **common(field_key("file"))
    )
    if st.session_state[field_key("file")]:
        st.selectbox(
            "Format",
            [None, *FORMATS],
            format_func=lambda name: name or "detect from the file",
            **common(field_key("format")),
        )
    count, seed = st.columns(2, gap="small")
    count.number_input(
        "Count",
        min_value=1,
        step=1,
        placeholder="all",
        help=COUNT_HELP,
        **common(field_key("count")),
    )
    seed.number_input(
        "Prompt seed", min_value=0, step=1, help=SEED_HELP, **common(field_key("prompts_seed"))
    )
    with st.popover(_weights_label(), icon=":material/balance:"):
        st.caption("Shares of the count. If all are empty, prompts are drawn from everything.")
        for category in bench_state.categories():
            st.number_input(
                category,
                min_value=0.0,
                step=1.0,
                format="%g",
                placeholder="0",
                **common(weight_key(category)),
            )


def _weights_label() -> str:
    given = [
        f"{value:g}"
        for name in bench_state.categories()
        if (value := st.session_state.get(weight_key(name))) is not None
    ]
    return f"Weights {' : '.join(given)}" if given else "Weights by category: none"


def _loads() -> None:
    st.markdown("**Loads and sampling**")
    temperatures, longest = st.columns(2, gap="small")
    temperatures.text_input("Temperatures", help=LIST_HELP, **common(field_key("temperatures")))
    longest.number_input(
        "Longest answer, tokens", min_value=1, step=1, **common(field_key("max_tokens"))
    )
    concurrency, rates = st.columns(2, gap="small")
    concurrency.text_input("Concurrency", help=LIST_HELP, **common(field_key("concurrency")))
    rates.text_input(
        "Request rates, 1/s",
        placeholder="none",
        help=RATE_HELP,
        **common(field_key("request_rates")),
    )
    st.selectbox(
        "Combined as",
        [grid.value for grid in Grid],
        format_func=lambda value: GRID_NAMES[Grid(value)],
        **common(field_key("grid")),
    )


def _limits() -> None:
    st.markdown("**Runs and limits**")
    warmup, repetitions = st.columns(2, gap="small")
    warmup.number_input(
        "Warm-up requests",
        min_value=0,
        step=1,
        help="Unmeasured, per arm, temperature and load.",
        **common(field_key("warmup")),
    )
    repetitions.number_input(
        "Runs of every prompt", min_value=1, step=1, **common(field_key("repetitions"))
    )
    budget, servers = st.columns(2, gap="small")
    _optional(budget, "Time budget, min", "time_budget_minutes", BUDGET_HELP, "no limit", 1.0)
    servers.number_input(
        "Servers at once",
        min_value=1,
        step=1,
        placeholder="auto",
        help=SERVERS_HELP,
        **common(field_key("servers_at_once")),
    )
    columns = st.columns(3, gap="small")
    for column, name in zip(columns, ("ttft_ms", "tpot_ms", "e2el_ms"), strict=True):
        label = {"ttft_ms": "TTFT", "tpot_ms": "TPOT", "e2el_ms": "E2E"}[name]
        words = f"SLO: goodput counts the requests with at most this {label}."
        _optional(column, f"{label} ≤, ms", name, words, "none", 1.0)


def _optional(
    column: DeltaGenerator,
    label: str,
    name: str,
    words: str,
    hint: str,
    step: float,
) -> None:
    column.number_input(
        label,
        min_value=0.0,
        step=step,
        format="%g",
        placeholder=hint,
        help=words,
        **common(field_key(name)),
    )
