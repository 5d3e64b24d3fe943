"""The Runs page's state: filters in the URL, the last deletion, what is open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

import streamlit as st

from specviz.store.history.filter import HistoryFilter
from specviz.store.history.history import Order
from specviz.store.history.line import Item, Kind
from specviz.views.runs.columns import COLUMNS, USUAL_COLUMNS
from specviz.views.shared.pages import BENCHMARK, RUNS, Page
from specviz.views.shared.token_strip import OpenedStep
from specviz.views.shared.url_controls import clear_address

RUN, GROUP, ELSEWHERE = "run", "group", "elsewhere"  # in the URL: what is open
REQUEST, SECTION = "request", "section"
PROMPT = "runs_prompt"  # there, too: the prompt whose runs are listed
TEXT, WHEN, DAYS, ORDER, VIEW, PAGE = (
    *("runs_text", "runs_when", "runs_days", "runs_order", "runs_view", "runs_page"),
)
LINES, SHOWN = "runs_lines", "runs_columns"
LISTS = ("kinds", "methods", "models", "servers", "categories", "tags", "fidelities", "statuses")

STORED, DELETED = "Stored", "Deleted"
TOGETHER, SINGLE, PROMPTS = "Together", "Single runs", "Prompts"  # what is one line
ANY_TIME, BETWEEN = "any time", "between two days"
SPANS = {
    "last hour": timedelta(hours=1),
    "last 24 hours": timedelta(days=1),
    "last 7 days": timedelta(days=7),
    "last 30 days": timedelta(days=30),
}
WHENS = (ANY_TIME, *SPANS, BETWEEN)

DEFAULTS: Mapping[str, Any] = {
    **{f"runs_{name}": [] for name in LISTS},
    TEXT: "",
    WHEN: ANY_TIME,
    DAYS: [],
    ORDER: Order.NEWEST,
    VIEW: STORED,
    LINES: TOGETHER,
    SHOWN: list(USUAL_COLUMNS),
}
"""What a saved view keeps: the controls of the list, and what they are at first."""

OPTIONS: Mapping[str, Sequence[str]] = {
    WHEN: WHENS,
    ORDER: list(Order),
    VIEW: (STORED, DELETED),
    LINES: (TOGETHER, SINGLE, PROMPTS),
}
_PARAMETERS = {Kind.RUN: RUN, Kind.GROUP: GROUP, Kind.TOOL_RESULT: ELSEWHERE}

TREE_ARM = "runs_tree_arm"
_UNDO, _OPENED, _CLICKED, _STEP = "runs_undo", "runs_opened", "runs_clicked", "runs_step"


@dataclass(frozen=True, slots=True)
class Undo:
    """What was deleted last, and the sentence that says so."""

    items: tuple[Item, ...]
    sentence: str


def list_key(name: str) -> str:
    """The widget key, and parameter in the URL, of a filter of several values."""
    return f"runs_{name}"


def begin_list() -> None:
    """Drop the run that was open from the URL: a link to the same page leaves it there."""
    if st.session_state.pop(_OPENED, False):
        clear_address(RUN, GROUP, ELSEWHERE, REQUEST, SECTION)


def opened() -> None:
    """A run is open: the list will be another page's state."""
    st.session_state[_OPENED] = True


def tree_step_key(run_id: str) -> str:
    """The widget key of the step whose draft tree is drawn, from 1."""
    return f"tree-step-{run_id}"


def follow(opened: OpenedStep) -> None:
    """The draft tree goes to the step that was opened in the strip, once for each opening."""
    if st.session_state.get(_STEP) != opened:
        st.session_state[_STEP] = opened
        st.session_state[TREE_ARM] = opened.run_id
        st.session_state[tree_step_key(opened.run_id)] = opened.index + 1


def place() -> int:
    """Which request of an opened run is shown, from 0."""
    linked = st.query_params.get(REQUEST, "")
    return max(0, int(linked) - 1) if linked.isdecimal() else 0


def choose_request(key: str) -> None:
    """Show another request, in a URL that can be shared (a callback)."""
    chosen: int = st.session_state[key]
    if chosen > 1:
        st.query_params[REQUEST] = str(chosen)
    else:
        st.query_params.pop(REQUEST, None)


def wanted(now: datetime) -> HistoryFilter:
    """The filter as currently set."""
    since, until = _span(now)
    return HistoryFilter(
        **{name: tuple(st.session_state.get(list_key(name)) or ()) for name in LISTS},
        since=since,
        until=until,
        text=str(st.session_state.get(TEXT) or ""),
        prompt_key=prompt_key(),
        deleted=shows_deleted(),
    )


def order() -> Order:
    return Order(st.session_state.get(ORDER, Order.NEWEST))


def lines() -> str:
    """What is one line: runs started together, a single run, a prompt."""
    return str(st.session_state.get(LINES) or TOGETHER)


def columns() -> list[str]:
    """The columns to show besides the name, in their order."""
    return [name for name in st.session_state.get(SHOWN, USUAL_COLUMNS) if name in COLUMNS]


def prompt_key() -> str:
    """The prompt whose runs are listed; empty for all."""
    return st.query_params.get(PROMPT, "")


def show_prompt(key: str) -> None:
    """List the runs that answered one prompt (a callback)."""
    st.query_params[PROMPT] = key
    st.session_state[LINES] = SINGLE
    first_page()


def show_prompts() -> None:
    """Back to the prompts (a callback)."""
    st.query_params.pop(PROMPT, None)
    st.session_state[LINES] = PROMPTS
    first_page()


def shows_deleted() -> bool:
    return st.session_state.get(VIEW) == DELETED


def is_filtered() -> bool:
    """Whether any filter is set."""
    lists = any(st.session_state.get(list_key(name)) for name in LISTS)
    return (
        bool(lists or st.session_state.get(TEXT) or prompt_key())
        or st.session_state.get(WHEN, ANY_TIME) != ANY_TIME
    )


def clear_filters() -> None:
    """Let everything through again (a callback)."""
    for key in (*map(list_key, LISTS), TEXT, WHEN):
        st.session_state[key] = DEFAULTS[key]
    st.query_params.pop(PROMPT, None)


def settings() -> dict[str, Any]:
    """What the list is set to, as JSON holds it: by key, without what is at its default."""
    now = {key: st.session_state.get(key, default) for key, default in DEFAULTS.items()}
    now[DAYS] = [day.isoformat() for day in now[DAYS] or ()] if now[WHEN] == BETWEEN else []
    return {key: value for key, value in now.items() if value != DEFAULTS[key]} | (
        {PROMPT: prompt_key()} if prompt_key() else {}
    )


def apply_settings(found: Mapping[str, Any]) -> None:
    """Set the list as it was saved (a callback); what is not understood is left at its default."""
    for key, default in DEFAULTS.items():
        st.session_state[key] = restored(key, found.get(key), default)
    st.query_params.pop(PROMPT, None)
    if isinstance(prompt := found.get(PROMPT), str):
        st.query_params[PROMPT] = prompt
    first_page()


def restored(key: str, value: Any, default: Any) -> Any:
    """A saved value of the control `key`, else its default."""
    if key in OPTIONS:
        return next((option for option in OPTIONS[key] if option == value), default)
    if isinstance(default, str):
        return value if isinstance(value, str) else default
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        return default
    if key == DAYS:
        return _days(value)
    return [name for name in value if name in COLUMNS] if key == SHOWN else value


def page() -> int:
    """The page of the list, from 1; a link's where no page was chosen yet."""
    linked = st.session_state.get(PAGE) or st.query_params.get(PAGE, "1")
    return max(1, int(linked)) if str(linked).isdecimal() else 1


def first_page() -> None:
    """Another filter begins at its first page (also a callback)."""
    st.session_state[PAGE] = 1


def address(item: Item) -> tuple[Page, dict[str, str]]:
    """The page that shows an item, and its parameters."""
    if item.kind is Kind.BENCHMARK:
        return BENCHMARK, {"benchmark": item.item_id}
    return RUNS, {_PARAMETERS[item.kind]: item.item_id}


def click(items: Sequence[Item], key: str) -> None:
    """A line's name was clicked (a callback)."""
    open_item(items[st.session_state[key].row])


def open_item(item: Item) -> None:
    """Open a line; that of a prompt opens to its runs (a callback)."""
    if item.kind is Kind.PROMPT:
        show_prompt(item.item_id)
    else:
        st.session_state[_CLICKED] = item


def take_clicked() -> Item | None:
    """The line to open, once."""
    clicked: Item | None = st.session_state.pop(_CLICKED, None)
    return clicked


def offer_undo(items: Sequence[Item], sentence: str) -> None:
    st.session_state[_UNDO] = Undo(tuple(items), sentence)


def undo() -> Undo | None:
    found: Undo | None = st.session_state.get(_UNDO)
    return found


def forget_undo() -> None:
    """Keep the deletion (a callback)."""
    st.session_state.pop(_UNDO, None)


def zone() -> tzinfo:
    """The browser's time zone: days are meant as people live them."""
    return ZoneInfo(st.context.timezone or "UTC")


def _span(now: datetime) -> tuple[datetime | None, datetime | None]:
    when = st.session_state.get(WHEN)
    if when in SPANS:
        return now - SPANS[when], None
    if when != BETWEEN:
        return None, None
    days: tuple[date, ...] = tuple(st.session_state.get(DAYS) or ())
    midnights = [datetime.combine(day, time(), zone()) for day in days]
    since = midnights[0] if midnights else None
    return since, midnights[1] + timedelta(days=1) if len(midnights) > 1 else None


def _days(texts: Sequence[str]) -> list[date]:
    """The days of a saved view; none where one cannot be read."""
    try:
        return [date.fromisoformat(text) for text in texts][:2]
    except ValueError:
        return []
