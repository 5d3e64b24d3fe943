"""The Query page's session state.

What is asked is in the URL, as a question's id or as SQL, with the plot where a person changed
it. SQL too long for a URL is kept in the session only. SQL runs only if somebody asked for it in
this session: a link may have been written by anybody, and fills the editor.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from specviz.analysis.plot_choice import Plot, PlotKind
from specviz.errors import SpecvizError, UsageError
from specviz.store.migrations.renamed import current_sql
from specviz.store.sql.question_filter import QuestionFilter, filtered_sql
from specviz.store.sql.questions import Question, question
from specviz.store.sql.result import SqlResult
from specviz.store.sql.sandbox import LIMIT_ROWS
from specviz.views.query.sql_editor import ASKED

SQL, QUESTION = "sql", "question"  # in the URL
SHOW, ROWS = "query_show", "rows"  # there, too
METHODS, MODELS, CATEGORIES, SINCE, AT_LEAST = (
    *("query_methods", "query_models", "query_categories", "query_since", "query_at_least"),
)
PLOT_PARTS = ("plot", "x", "y", "value", "by")

EDITOR = "query_editor"
LIST = "query_list"
SAVING = "query_saving"
SAVE_NAME = "query_save_name"

PLOT, TABLE = "Plot", "Table"
LISTS = ("Questions", "Saved", "Tables")
ROW_LIMITS = (LIMIT_ROWS, 10_000, 100_000)
MOST_IN_URL = 6_000
"""Characters; a server refuses addresses that are much longer."""

_LONG = "query_long"
_RUN = "query_run"
"""The SQL that was asked for last in this session."""

_ANSWER = "query_answer"

Asks = tuple[str, str, int]
"""The store that is asked, the SQL, and how many rows at most."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the page answers: a shipped question, the user's SQL, or nothing yet ("")."""

    sql: str
    question: Question | None = None
    problem: str = ""

    @property
    def digest(self) -> str:
        """Distinguishes the widgets of one query from those of another."""
        return hashlib.sha256(self.sql.encode(errors="replace")).hexdigest()[:12]


def asked() -> Asked:
    """What the URL asks."""
    if name := st.query_params.get(QUESTION):
        try:
            found = question(name)
        except UsageError as error:
            return Asked("", problem=str(error))
        return Asked(filtered_sql(found, question_filter()), found)
    # a link may be older than the names of the columns
    return Asked(current_sql(st.query_params.get(SQL) or st.session_state.get(_LONG, "")))


def question_filter() -> QuestionFilter:
    """What the question is asked of, as set."""
    methods, models, categories = (
        tuple(st.session_state.get(key) or ()) for key in (METHODS, MODELS, CATEGORIES)
    )
    since, at_least = st.session_state.get(SINCE), st.session_state.get(AT_LEAST)
    return QuestionFilter(methods, models, categories, since, at_least or 0)


def ask_question(question_id: str) -> None:
    """Open a shipped question and run it again (a callback). Its filters stay, but not the smallest
    sample, which another question counts in something else."""
    if st.query_params.get(QUESTION) != question_id:
        st.session_state[AT_LEAST] = None
    _ask(QUESTION, question_id)


def ask_sql(sql: str) -> None:
    """Run SQL again (a callback)."""
    st.session_state[_RUN] = current_sql(sql)
    if asked() == Asked(st.session_state[_RUN]):  # of a link: with its plot
        st.session_state.pop(_ANSWER, None)
    elif len(sql) > MOST_IN_URL:
        _ask(SQL, None)
        st.session_state[_LONG] = sql
    else:
        _ask(SQL, sql)


def from_editor() -> None:
    """Run or save from the editor (a callback); unchanged SQL of a question stays that question."""
    event = st.session_state[EDITOR][ASKED]
    if not event:
        return
    sql = str(event["sql"])
    if event["action"] == "save":
        st.session_state[SAVING] = sql
        return
    now = asked()
    if now.question is not None and now.sql == sql:
        ask_question(now.question.question_id)
    else:
        ask_sql(sql)


def is_in_url() -> bool:
    """Whether the page's URL says what it shows."""
    return _LONG not in st.session_state


def may_run(asked: Asked) -> bool:
    """Whether somebody asked for it here; the questions that ship run by their link."""
    return asked.question is not None or st.session_state.get(_RUN) == asked.sql


def answer(asks: Asks, ask: Callable[[], SqlResult]) -> SqlResult | SpecvizError:
    """The answer that is shown, asked for once until someone asks again."""
    kept = st.session_state.get(_ANSWER)
    if kept is not None and kept[0] == asks:
        found: SqlResult | SpecvizError = kept[1]
        return found
    try:
        found = ask()
    except SpecvizError as error:
        found = error
    st.session_state[_ANSWER] = (asks, found)
    return found


def stop(asks: Asks) -> None:
    """End the query that runs: the script that waits for it does (a callback)."""
    st.session_state[_ANSWER] = (asks, UsageError("Stopped: Run asks again."))


def row_limit() -> int:
    """The row limit: the URL's, if it is one of the choices."""
    linked = st.query_params.get(ROWS)
    return next((rows for rows in ROW_LIMITS if str(rows) == linked), ROW_LIMITS[0])


def write_row_limit(key: str) -> None:
    """Put the chosen limit into the URL (a callback)."""
    st.query_params[ROWS] = str(st.session_state[key])


def plot_in_url() -> Plot | None:
    """The plot that a person chose, if it can be read."""
    kind, *names = (st.query_params.get(part) for part in PLOT_PARTS)
    if kind not in [each.value for each in PlotKind]:
        return None
    return Plot(PlotKind(kind), *names)


def write_plot(plot: Plot) -> None:
    """Put a chosen plot into the URL."""
    values = (plot.kind.value, plot.x, plot.y, plot.value, plot.by)
    for part, value in zip(PLOT_PARTS, values, strict=True):
        if value is None:
            st.query_params.pop(part, None)
        else:
            st.query_params[part] = value


def _ask(parameter: str, value: str | None) -> None:
    for other in (SQL, QUESTION, ROWS, *PLOT_PARTS):
        st.query_params.pop(other, None)
    st.session_state.pop(_LONG, None)
    st.session_state.pop(_ANSWER, None)
    if value:
        st.query_params[parameter] = value
