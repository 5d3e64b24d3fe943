"""The Benchmark page's session state.

The form's fields live under the keys named here and become a frozen `FormPlan`; what is started
is always TOML: the form's, or the text of the editor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import streamlit as st

from specviz.bench.plan.plan import Plan
from specviz.bench.plan.toml import parse_plan
from specviz.errors import UsageError
from specviz.fleet.named import named_servers
from specviz.paths import PLANS, PROJECT_ROOT
from specviz.prompts.shipped import CATEGORIES
from specviz.runtime import current
from specviz.views.benchmark.form import (
    METHODS_AT,
    PLACES,
    FormArm,
    FormPlan,
    NotInForm,
    Where,
    arm_toml,
    form_of,
    rows_for,
    toml_of,
)
from specviz.views.shared import model_field
from specviz.views.shared.arm_choice import Offer
from specviz.views.shared.model_field import Model
from specviz.views.shared.url_controls import clear_address

BENCHMARK = "benchmark"  # in the URL
SHIPPED = "bench_shipped"
UPLOAD = "bench_upload"
MODE = "bench_mode"
TEXT = "bench_text"
PROBLEM = "bench_problem"
SECTION = "bench_section"

FORM, TOML = "Form", "TOML"
FIRST_PLAN = "two-minutes.toml"

_ROWS = "bench_rows"
_FITTED = "bench_fitted"
_OPENED = "bench_opened"
_LISTS = "bench_lists"
_NEXT_ROW = "bench_next_row"
_WEIGHTS = "bench_weights"
_PLAN_FIELDS = tuple(f.name for f in fields(FormPlan) if f.name not in ("arms", "weights", "model"))
_ARM_FIELDS = tuple(f.name for f in fields(FormArm))


def opened() -> str | None:
    """The benchmark that the URL names."""
    benchmark_id = st.query_params.get(BENCHMARK)
    if benchmark_id:
        st.session_state[_OPENED] = True
    return benchmark_id


def open_benchmark(benchmark_id: str) -> None:
    """Show a benchmark, in a URL that can be shared."""
    st.query_params[BENCHMARK] = benchmark_id
    st.rerun()


def list_key() -> str:
    """The widget key of the list of benchmarks, another one each time one of it was opened."""
    return f"bench_past_{st.session_state.get(_LISTS, 0)}"


def open_selected(benchmark_ids: Sequence[str]) -> None:
    """Show the benchmark of the selected line (a callback).

    Once: the browser sends a selection with every click until a script has run to its end, so a
    list that opened whatever is selected would open it again after the user has left it.
    """
    selected: list[int] = st.session_state[list_key()]["selection"]["rows"]
    if selected:
        st.session_state[_LISTS] = st.session_state.get(_LISTS, 0) + 1
        st.query_params[BENCHMARK] = benchmark_ids[selected[0]]


def show_list() -> None:
    """Drop the benchmark that was open from the URL: a link to the same page leaves it there."""
    if st.session_state.pop(_OPENED, False):
        clear_address()


def shipped_plans() -> list[Path]:
    """The plans that come with the project, the quickest first."""
    return sorted(PLANS.glob("*.toml"), key=lambda path: (path.name != FIRST_PLAN, path.name))


def ensure_form() -> None:
    """Begin with the first shipped plan."""
    if _ROWS not in st.session_state:
        plans = shipped_plans()
        _load_text(plans[0].read_text(encoding="utf-8"), PLANS)
        st.session_state.setdefault(SHIPPED, plans[0])
    st.session_state.setdefault(MODE, FORM)


def fit_rows(model: Model) -> None:
    """Keep the rows that can be had with the model, if it is another one now, and the methods
    that their places have. A model that cannot be used changes nothing."""
    before = st.session_state.get(_FITTED)
    if model.text != before and not model.problem:
        st.session_state[_FITTED] = model.text
        others = [one for one in map(arm, rows()) if not (one.is_running and one.url == before)]
        _set_rows(rows_for(others, model.offer))
    for row in rows():
        offered = methods_of(row, model.offer)
        if st.session_state[arm_key(row, "method")] not in offered:
            st.session_state[arm_key(row, "method")] = offered[0]


def field_key(name: str) -> str:
    """The widget key of one field of the form."""
    return f"bench_form_{name}"


def arm_key(row: int, name: str) -> str:
    """The widget key of one field of an arm; rows keep their number while others are removed."""
    return f"bench_arm_{row}_{name}"


def weight_key(category: str) -> str:
    """The widget key of a category's weight."""
    return f"bench_weight_{category}"


def rows() -> list[int]:
    """The numbers of the arms' rows, from the top."""
    found: list[int] = st.session_state.get(_ROWS, [])
    return found


def categories() -> list[str]:
    """The categories that have a weight field: the shipped ones and those of the loaded plan."""
    found: list[str] = st.session_state.get(_WEIGHTS, [*CATEGORIES])
    return found


def arm(row: int) -> FormArm:
    """The current values of one row."""
    return FormArm(*(st.session_state[arm_key(row, name)] for name in _ARM_FIELDS))


def methods_of(row: int, offer: Offer) -> tuple[str, ...]:
    """The methods that the place of this row offers with the model, and the row's own."""
    one = arm(row)
    offered = METHODS_AT[Where(one.where)]
    return tuple(
        name
        for name in offered
        if name == one.method or replace(one, method=name).is_offered(offer)
    )


def server_names() -> list[str]:
    """Of the fleet."""
    return [server.name for server in named_servers(current().store)]


def form() -> FormPlan:
    """The current values of the form."""
    weights = {
        name: float(value)
        for name in categories()
        if (value := st.session_state.get(weight_key(name))) is not None
    }
    values = {name: st.session_state[field_key(name)] for name in _PLAN_FIELDS}
    model = model_field.chosen().name or ""
    arms = tuple(arm(row) for row in rows())
    return FormPlan(**values, model=model, arms=arms, weights=weights)


def wanted_toml() -> str:
    """What Start would start. Raises UsageError where the form holds a wrong value."""
    return str(st.session_state[TEXT]) if st.session_state[MODE] == TOML else toml_of(form())


def parsed(text: str) -> Plan:
    """The plan of the text; relative paths start at the project's folder. Raises UsageError."""
    return parse_plan(text, PROJECT_ROOT)


def as_written(text: str) -> str:
    """A stored plan as the form would write it: one entry per list of Ks."""
    try:
        return toml_of(form_of(parsed(text)))
    except UsageError:  # of another version of specviz
        return text


def add_arm() -> None:
    """Another row, where the last one is answered (a callback)."""
    last = arm(rows()[-1]) if rows() else FormArm()
    new, offer = FormArm(last.where, model=last.model, url=last.url), model_field.chosen().offer
    is_offered = new.is_offered(offer)
    best = new.method if is_offered else offer.best_at(PLACES[Where(last.where)])
    _add_row(replace(new, method=best))


def use_server(name: str | None, url: str, method: str, k: int | None) -> None:
    """Another row, for a server of the fleet by its name, or one at a URL; the page is opened
    next."""
    ensure_form()
    where = Where.NAMED if name else Where.URL
    new = FormArm(where.value, method, str(k or ""), url="" if name else url, server=name or "")
    if st.session_state[MODE] == TOML:
        st.session_state[TEXT] += "\n" + arm_toml(new)
        return
    _add_row(new)


def remove_arm(row: int) -> None:
    """Take a row away (a callback)."""
    st.session_state[_ROWS] = [other for other in rows() if other != row]


def load_shipped() -> None:
    """Put the chosen shipped plan into form and editor (a callback)."""
    path: Path | None = st.session_state.get(SHIPPED)
    if path is not None:
        _load_text(path.read_text(encoding="utf-8"), path.parent)
        st.session_state.pop(_FITTED, None)


def load_upload() -> None:
    """Put an uploaded plan into form and editor (a callback)."""
    upload = st.session_state.get(UPLOAD)
    if upload is not None:
        load_plan(upload.getvalue().decode("utf-8", errors="replace"))


def load_plan(text: str) -> None:
    """Put a plan that is not a shipped one into form and editor."""
    st.session_state[SHIPPED] = None
    _load_text(text, PROJECT_ROOT)


def switch_mode() -> None:
    """Copy the input from form to editor or back (a callback).

    What cannot be carried stays where it is, with the reason.
    """
    st.session_state.pop(PROBLEM, None)
    mode = st.session_state[MODE]
    try:
        if mode == TOML:
            st.session_state[TEXT] = toml_of(form())
        else:
            _fill(form_of(parsed(st.session_state[TEXT])), is_own=True)
    except UsageError as error:
        st.session_state[PROBLEM] = str(error)
        st.session_state[MODE] = FORM if mode == TOML else TOML


def _load_text(text: str, folder: Path) -> None:
    """A text that is no plan goes to the editor, where it can be mended, and so does a plan that
    the form cannot show."""
    st.session_state.pop(PROBLEM, None)
    st.session_state[TEXT] = text
    try:
        _fill(form_of(parse_plan(text, folder)), is_own=folder != PLANS)
    except UsageError as error:
        if not isinstance(error, NotInForm):
            st.session_state[PROBLEM] = str(error)
        st.session_state[MODE] = TOML
        st.session_state.setdefault(_ROWS, [])
        for name in _PLAN_FIELDS:
            st.session_state.setdefault(field_key(name), getattr(FormPlan(), name))


def _fill(plan: FormPlan, *, is_own: bool) -> None:
    """`is_own`: a plan without a model is meant for the default one; a shipped one is for any."""
    if plan.model or is_own:
        model_field.use(plan.model or None)
        st.session_state[_FITTED] = model_field.chosen().text
    for name in _PLAN_FIELDS:
        st.session_state[field_key(name)] = getattr(plan, name)
    st.session_state[_WEIGHTS] = list(dict.fromkeys([*CATEGORIES, *plan.weights]))
    for category in categories():
        st.session_state[weight_key(category)] = plan.weights.get(category)
    _set_rows(plan.arms)


def _set_rows(arms: Sequence[FormArm]) -> None:
    st.session_state[_ROWS] = []
    for one in arms:
        _add_row(one)


def _add_row(values: FormArm) -> None:
    row = st.session_state.get(_NEXT_ROW, 0)
    st.session_state[_NEXT_ROW] = row + 1
    for name in _ARM_FIELDS:
        st.session_state[arm_key(row, name)] = getattr(values, name)
    st.session_state[_ROWS] = [*rows(), row]


def common(key: str) -> dict[str, Any]:
    """What every field of the form is given: its key, kept while another page is open."""
    return {"key": key, "persist_state": "session"}
