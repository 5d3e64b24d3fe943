"""The Runs page's state: filters in the URL, the last deletion, what is open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo

import streamlit as st

from specviz.store.history.history import HistoryFilter, Item, Kind, Order
from specviz.views.shared.pages import BENCHMARK, RUNS, Page
from specviz.views.shared.token_strip import OpenedStep

RUN, GROUP, ELSEWHERE = "run", "group", "elsewhere"  # in the URL: what is open
REQUEST, SECTION = "request", "section"
TEXT, WHEN, DAYS, ORDER, VIEW, PAGE = (
    *("runs_text", "runs_when", "runs_days", "runs_order", "runs_view", "runs_page"),
)
LISTS = ("kinds", "methods", "models", "servers", "categories", "tags", "fidelities", "statuses")

STORED, DELETED = "Stored", "Deleted"
ANY_TIME, BETWEEN = "any time", "between two days"
SPANS = {
    "last hour": timedelta(hours=1),
    "last 24 hours": timedelta(days=1),
    "last 7 days": timedelta(days=7),
    "last 30 days": timedelta(days=30),
}
WHENS = (ANY_TIME, *SPANS, BETWEEN)

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
        for name in (RUN, GROUP, ELSEWHERE, REQUEST, SECTION):
            st.query_params.pop(name, None)


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
        deleted=shows_deleted(),
    )


def order() -> Order:
    return Order(st.session_state.get(ORDER, Order.NEWEST))


def shows_deleted() -> bool:
    return st.session_state.get(VIEW) == DELETED


def is_filtered() -> bool:
    """Whether any filter is set."""
    lists = any(st.session_state.get(list_key(name)) for name in LISTS)
    return bool(lists or st.session_state.get(TEXT)) or st.session_state.get(WHEN) not in (
        None,
        ANY_TIME,
    )


def clear_filters() -> None:
    """Let everything through again (a callback)."""
    for name in LISTS:
        st.session_state[list_key(name)] = []
    st.session_state[TEXT] = ""
    st.session_state[WHEN] = ANY_TIME


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
    return RUNS, {RUN if item.kind is Kind.RUN else ELSEWHERE: item.item_id}


def click(items: Sequence[Item], key: str) -> None:
    """A line's name was clicked (a callback)."""
    st.session_state[_CLICKED] = items[st.session_state[key].row]


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
