"""The section that lays answers to one prompt side by side, and the replay of those with steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from specviz.analysis.compare.alignment import shared_length
from specviz.analysis.compare.judged import JudgedThere, judged_there
from specviz.analysis.compare.pieces import Answer, by_tokens, by_words, divergence
from specviz.analysis.compare.rows import Row, aligned_rows
from specviz.analysis.text import probability_text, token_name
from specviz.store import Store
from specviz.store.history.comparison import AnswerRow
from specviz.store.runs.runs import read_titles
from specviz.trace import Trace
from specviz.views.compare import state
from specviz.views.compare.html import rows_html
from specviz.views.compare.opened import Compared, RunArm, answers, one_line, trace_of
from specviz.views.shared.charts import page_ground
from specviz.views.shared.tables import show_figures
from specviz.views.shared.token_strip import token_strip

KEPT = 64
NO_SHARED_PROMPT = (
    "No two of these runs answered the same prompt: their texts cannot be shown side by side. "
    "Run the same prompt with each, or choose arms of one benchmark."
)
LEGEND = (
    "Marked: not the same as in the reference (in the reference: in at least one other); a bar at "
    "its left: where it first differs. Invisible characters are spelled out."
)
PROBABILITIES = (
    "Target probabilities where they diverge: of the reference's token and of this run's, from "
    "the trace of a run that judged a draft there."
)
OF_REFERENCE, OF_THIS = "target, reference's token", "target, this token"
STRIPS_A_ROW = 2


@dataclass(frozen=True, slots=True)
class Answered:
    """What one run answered to the chosen prompt; `trace` None: only its text was kept."""

    arm: RunArm
    row: AnswerRow
    trace: Trace | None

    @property
    def ids(self) -> tuple[int, ...] | None:
        """Tokens of the answer, None where they are not reported."""
        if self.trace is None:
            return self.row.token_ids
        ids = self.trace.token_ids
        return ids if len(ids) == len(self.trace.emitted) else None

    @property
    def ending(self) -> str:
        return f"ended ({self.row.finish_reason or 'incomplete'})"


def texts(compared: Compared) -> None:
    """The answers to one prompt, and where they diverge."""
    runs = compared.runs()
    _list_missing_texts(compared)
    answered = _answered(compared, runs)
    if not answered:
        st.info(NO_SHARED_PROMPT)
        return
    st.code(answered[0].row.prompt, language=None, wrap_lines=True)
    reference, others = answered[0], answered[1:]
    _show_partings([_parting(reference, other) for other in others])
    unit, rows = _rows(tuple(_cut(answered)))
    names = [f"{one.arm.name}, {_size(one)}" for one in answered]
    colours = [one.arm.colour for one in answered]
    st.html(rows_html(names, colours, rows, page_ground()))
    st.caption(f"{LEGEND} Aligned by {unit}s.")


def replay(compared: Compared) -> None:
    """The strips of the runs that were kept step by step, side by side."""
    answered = [one for one in _answered(compared, compared.runs()) if one.trace is not None]
    if not answered:
        st.info("No run here was kept step by step: a benchmark keeps texts and counts only.")
        return
    for start in range(0, len(answered), STRIPS_A_ROW):
        for column, one in zip(st.columns(STRIPS_A_ROW), answered[start : start + 2], strict=False):
            with column:
                source = f"/ws/runs/{one.arm.key}/{_place(compared.store, one)}"
                token_strip(source, mode="replay", key=f"strip-{source}")


def _place(store: Store, answered: Answered) -> int:
    """Which of its run's requests an answer is, from 0."""
    titles = store.read(read_titles, answered.arm.key)
    return [title.request_id for title in titles].index(answered.row.request_id)


def _answered(compared: Compared, runs: Sequence[RunArm]) -> list[Answered]:
    """The answers to the chosen prompt, the reference's first; none if no prompt is shared."""
    if len(runs) < 2:
        return []
    key = _chosen_prompt(runs)
    if key is None:
        return []
    asked = {arm.key: arm.requests[arm.requests["prompt_key"] == key]["request_id"] for arm in runs}
    those = [arm for arm in runs if len(asked[arm.key])]
    rows = answers(compared.store, tuple(asked[arm.key].iloc[0] for arm in those))
    if missing := [arm.name for arm in runs if arm not in those]:
        st.text(f"Not asked this prompt: {', '.join(missing)}.")
    if repeated := [arm.name for arm in those if len(asked[arm.key]) > 1]:
        st.text(f"The first of several answers is shown of: {', '.join(repeated)}.")
    return [
        Answered(
            arm,
            row,
            trace_of(compared.store, row.request_id)
            if arm.row.has_steps and row.fidelity is not None
            else None,
        )
        for arm, row in zip(those, rows, strict=True)
    ]


def _chosen_prompt(runs: Sequence[RunArm]) -> str | None:
    """One of the prompts that the reference and another run answered."""
    first = runs[0].requests.drop_duplicates("prompt_key")
    others = pd.concat([arm.requests for arm in runs[1:]])
    shared = first[first["prompt_key"].isin(others["prompt_key"])]
    if not len(shared):
        return None
    alike = _alike(runs)
    labels = {
        row.prompt_key: f"{one_line(row.prompt_start, 70)} · "
        + ("same texts" if row.prompt_key in alike else "texts differ")
        for row in shared.itertuples()
    }
    keys = [*labels]
    if len(keys) == 1:
        return str(keys[0])
    state.begin_prompt(keys)
    same = sum(key in alike for key in keys)
    key: str = st.selectbox(
        f"Prompt: {len(keys)} shared, {same} with the same texts",
        keys,
        format_func=lambda one: f"{keys.index(one) + 1}. {labels[one]}",
        key=state.CHOSEN_PROMPT,
        on_change=state.write_prompt,
    )
    return key


def _alike(runs: Sequence[RunArm]) -> set[str]:
    """Prompts with the same answer in all runs and repetitions."""
    every = pd.concat([arm.requests for arm in runs]).groupby("prompt_key")["text_key"].nunique()
    return set(every[every == 1].index)


def _list_missing_texts(compared: Compared) -> None:
    for arm, _ in compared.elsewhere():
        st.text(f"{arm.name} was measured elsewhere: its figures are known, its texts are not.")


_WORDS = frozenset({"run", "texts", "at", "reference says", "this says"})


def _show_partings(lines: Sequence[dict[str, object]]) -> None:
    table = pd.DataFrame(lines).dropna(axis="columns", how="all")
    show_figures(table, words=_WORDS)
    if "differ" in set(table["texts"]):
        st.caption(
            PROBABILITIES
            if OF_REFERENCE in table
            else "No trace of a run that judged a draft "
            "where they part: the target's probabilities there are not known."
        )


def _parting(reference: Answered, other: Answered) -> dict[str, object]:
    """One line of the table: where this answer leaves the reference."""
    first, second = _cut([reference, other])
    parting = divergence(first, second)
    line: dict[str, object] = {"run": other.arm.name, "texts": "the same", "at": None}
    line |= {"reference says": None, "this says": None}
    judged: JudgedThere | None = None
    if parting is not None:
        line["texts"] = "differ"
        line["at"] = f"{first.unit} {first.number(parting.place)}" + _token_place(reference, other)
        line["reference says"] = _says(parting.reference, reference)
        line["this says"] = _says(parting.other, other)
        if None in (parting.reference, parting.other):
            line["texts"] = "the same as far as both go"
        elif reference.trace and other.trace:
            judged = next(filter(None, judged_there(reference.trace, other.trace)), None)
    line[OF_REFERENCE] = judged and _prob(judged.reference_prob, judged)
    line[OF_THIS] = judged and _prob(judged.other_prob, judged)
    return line


def _cut(answered: Sequence[Answered]) -> list[Answer]:
    """By tokens where all report their tokens and share a vocabulary, else by words."""
    tokens = [one.trace and by_tokens(one.trace.emitted) for one in answered]
    by_token = [answer for answer in tokens if answer]
    if len(by_token) == len(answered) and len({one.arm.config.model for one in answered}) == 1:
        return by_token
    return [by_words(one.row.text) for one in answered]


def _token_place(reference: Answered, other: Answered) -> str:
    """`, token 18`, where words were compared but the tokens are known as well."""
    if reference.trace and other.trace:
        return ""
    if reference.arm.config.model != other.arm.config.model:
        return ""
    if not reference.ids or not other.ids:
        return ""
    return f", token {shared_length(reference.ids, other.ids) + 1}"


def _says(text: str | None, answered: Answered) -> str:
    return answered.ending if text is None else token_name(text)


def _prob(value: float | None, judged: JudgedThere) -> str | None:
    if value is None:
        return f"below {probability_text(judged.least)}"
    return probability_text(value)


def _size(answered: Answered) -> str:
    return (
        f"{len(answered.ids):,} tokens"
        if answered.ids
        else f"{len(answered.row.text):,} characters"
    )


@st.cache_data(max_entries=KEPT, show_spinner=False)
def _rows(cut: tuple[Answer, ...]) -> tuple[str, list[Row]]:
    return cut[0].unit, aligned_rows(cut[0], cut[1:])
