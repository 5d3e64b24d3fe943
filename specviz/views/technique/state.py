"""The Technique page's session state and URL.

Every answer is in the query string by its name in `advisor.inputs.INPUTS`, so that a link shows
the same page; what cannot be read there is named and ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from specviz.analysis.advisor.branches import LEAVES
from specviz.analysis.advisor.deployment import Deployment, KnownFacts, deployment_of
from specviz.analysis.advisor.inputs import (
    INPUTS,
    Answer,
    Input,
    Kind,
    format_answers,
    parse_answers,
)
from specviz.analysis.advisor.interview import ORDER, following
from specviz.analysis.advisor.tree import leading_to
from specviz.errors import UsageError
from specviz.methods import Method
from specviz.models.pair import default_draft, default_model
from specviz.paths import PROJECT_ROOT
from specviz.views.technique.drawing import CLICKED

BENCHMARK, SERVER, TARGET, DRAFT, CONTEXT = "benchmark", "server", "target", "draft", "context"
ASK = "ask"
"""The question that is asked alone; none of them: the recommendation is shown."""
DRAWING = "technique_drawing"
SHARES = frozenset({"gpu_utilization", "acceptance"})
"""Asked in percent, kept as 0 to 1."""

LONGEST_CONTEXT = 10_000_000
CONTEXT_INPUT = Input(CONTEXT, "Context", Kind.WHOLE, "tokens", low=1, high=LONGEST_CONTEXT)

_WRITTEN = "technique_written"
_PROBLEMS = "technique_problems"
_DEPLOYMENT = "technique_deployment"
_CLICK_PROBLEM = "technique_click_problem"
_SERVER_FACTS = "technique_server_facts"
_GOES_ON = "technique_goes_on"
_OTHERS = (BENCHMARK, SERVER, TARGET, DRAFT, CONTEXT, ASK)


def defaults() -> dict[str, str]:
    """The pair and the context that a new page begins with."""
    draft = default_draft(Method.DRAFT_MODEL)
    return {
        TARGET: default_model(),
        DRAFT: "" if draft is None else str(draft).removeprefix(f"{PROJECT_ROOT}/"),
        CONTEXT: "4096",
    }


def key_of(name: str) -> str:
    """The widget key of an input, or of one of the other choices."""
    return f"technique_{name}"


def field_of(name: str) -> str:
    """The key of the field that asks for an input alone."""
    return f"technique_alone_{name}"


def begin(first: str | None) -> None:
    """Read the state from a new URL; one that says nothing opens the benchmark `first`."""
    usual = defaults()
    for name in (TARGET, DRAFT):
        st.session_state.setdefault(key_of(name), usual[name])
    st.session_state.setdefault(key_of(CONTEXT), int(usual[CONTEXT]))
    query, written = dict(st.query_params), st.session_state.get(_WRITTEN)
    # After a quick second change the browser may still send the address of before the first: an
    # address counts when no field has changed since it was last written, as after "back".
    if query and query != written and (written is None or _query() == written):
        _load(query)
    elif written is None:
        st.session_state[key_of(BENCHMARK)] = first
    elif written is not None and _query() != written:
        st.session_state[_PROBLEMS] = []


def keep_problem(sentence: str) -> None:
    """Why something could not be started."""
    st.session_state[_PROBLEMS] = [sentence]


def problems() -> list[str]:
    """What could not be started, or read from the address, until an answer changes."""
    found: list[str] = st.session_state.get(_PROBLEMS, [])
    return found


def end() -> None:
    """Write the page's state into its URL."""
    query = _query()
    # Also where the browser sent this very address: one written since may be on its way there.
    if query != dict(st.query_params) or query != st.session_state.get(_WRITTEN):
        st.query_params.from_dict(query)
    st.session_state[_WRITTEN] = query


def answers() -> dict[str, Answer]:
    """What the fields say, without the empty ones."""
    found: dict[str, Answer] = {}
    for name, one in INPUTS.items():
        value = st.session_state.get(key_of(name))
        if value is None:
            continue
        if one.kind is Kind.YES_NO:
            value = value == "yes"
        found[name] = round(value / 100, 8) if name in SHARES else value
    return found


def value_of(name: str) -> Any:
    """The current value of one of the other choices."""
    return st.session_state.get(key_of(name))


def names_a_pair() -> bool:
    """Whether the models are the user's own, not the default pair."""
    usual = defaults()
    return any(value_of(name) != usual[name] for name in (TARGET, DRAFT))


def remember(deployment: Deployment) -> None:
    """What a click on a leaf starts from."""
    st.session_state[_DEPLOYMENT] = deployment


def click() -> None:
    """Answer so that the path ends at the clicked leaf (a callback)."""
    leaf = st.session_state[DRAWING][CLICKED]
    deployment: Deployment | None = st.session_state.get(_DEPLOYMENT)
    if leaf not in LEAVES or deployment is None:
        return
    st.session_state.pop(_CLICK_PROBLEM, None)
    try:
        wanted = leading_to(leaf, deployment)
    except UsageError as error:
        st.session_state[_CLICK_PROBLEM] = str(error)
        return
    if wanted.measured is None:
        st.session_state[key_of(BENCHMARK)] = None
    read = {name: deployment.answers[name] for name in deployment.sources}
    changed = {name: value for name, value in wanted.answers.items() if read.get(name) != value}
    _set_answers(changed)


def click_problem() -> str | None:
    """Why the clicked leaf cannot be reached."""
    found: str | None = st.session_state.get(_CLICK_PROBLEM)
    return found


def forget() -> None:
    """Empty every answer (a callback)."""
    _set_answers({})
    for name in (BENCHMARK, SERVER, ASK):
        st.session_state[key_of(name)] = None
    st.session_state.pop(_SERVER_FACTS, None)
    st.session_state.pop(_CLICK_PROBLEM, None)


def asked() -> str | None:
    """The input that is asked for alone."""
    found: str | None = value_of(ASK)
    return found


def open_benchmark(benchmark_id: str) -> None:
    """Read a benchmark, or follow it while it runs, instead of the answers."""
    _set_answers({})
    st.session_state[key_of(BENCHMARK)] = benchmark_id
    st.session_state[key_of(ASK)] = None


def take_benchmark(benchmark_id: str | None) -> None:
    """Read another benchmark; the answers stay."""
    st.session_state[key_of(BENCHMARK)] = benchmark_id


def begin_questions() -> None:
    """Ask from the first unanswered question on, without a benchmark (a callback)."""
    st.session_state[key_of(BENCHMARK)] = None
    ask(following(_known(), None), goes_on=True)


def ask(name: str | None, goes_on: bool | None = None) -> None:
    """Ask for one input alone; None: show the recommendation (a callback). `goes_on`: whether the
    next question follows; as it was where it is None."""
    st.session_state[key_of(ASK)] = name
    if goes_on is not None:
        st.session_state[_GOES_ON] = goes_on
    if name is not None:
        st.session_state[field_of(name)] = st.session_state.get(key_of(name))


def answer_with_field(name: str) -> None:
    """What the field says; then the next question (a callback)."""
    answer(name, st.session_state.get(field_of(name)))


def answer(name: str, value: Any) -> None:
    """None for not known; then the next question (a callback)."""
    st.session_state[key_of(name)] = value
    goes_on = st.session_state.get(_GOES_ON, True)
    ask(following(_known(), name) if goes_on else None)


def _known() -> Deployment:
    """The answers, and what the server reported."""
    facts = server_facts()
    return deployment_of(answers(), *([facts] if facts else []))


def keep_server(url: str, facts: KnownFacts) -> None:
    """What a server reported, until another one is asked."""
    st.session_state[_SERVER_FACTS] = (url, facts)


def server_facts() -> KnownFacts | None:
    """What the named server reported when it was asked."""
    url, facts = st.session_state.get(_SERVER_FACTS, (None, None))
    return facts if url and url == value_of(SERVER) else None


def forget_benchmark(problem: str) -> None:
    """Drop a benchmark that the address names and the store does not have."""
    st.session_state[key_of(BENCHMARK)] = None
    st.session_state[_PROBLEMS] = [*st.session_state.get(_PROBLEMS, []), problem]


def _query() -> dict[str, str]:
    query, usual = format_answers(answers()), defaults()
    for name in _OTHERS:
        value = st.session_state.get(key_of(name))
        if value and str(value) != usual.get(name):
            query[name] = str(value)
    return query


def _load(query: Mapping[str, str]) -> None:
    found, problems = parse_answers(query)
    _set_answers(found)
    usual = defaults()
    for name in _OTHERS:
        st.session_state[key_of(name)] = query.get(name, usual.get(name))
    try:
        context = CONTEXT_INPUT.parse(query.get(CONTEXT, usual[CONTEXT]))
    except UsageError as error:
        problems.append(f"Ignored in the address: {error}")
        context = int(usual[CONTEXT])
    st.session_state[key_of(CONTEXT)] = context
    if (asked_for := query.get(ASK)) not in (None, *ORDER):
        problems.append(f"Ignored in the address: {asked_for} is no question of this page.")
        asked_for = None
    ask(asked_for, goes_on=True)
    unknown = [name for name in query if name not in INPUTS and name not in _OTHERS]
    if unknown:
        problems.append(f"Ignored in the address: {', '.join(unknown)} is no input of this page.")
    st.session_state[_PROBLEMS] = problems
    st.session_state[_WRITTEN] = None


def _set_answers(found: Mapping[str, Answer]) -> None:
    for name, one in INPUTS.items():
        value: Any = found.get(name)
        if value is not None and one.kind is Kind.YES_NO:
            value = "yes" if value else "no"
        if value is not None and one.kind is Kind.NUMBER:
            value = round(float(value) * 100, 6) if name in SHARES else float(value)
        st.session_state[key_of(name)] = value
