"""The Cost page's answers: the result, all techniques, and one chart at a time."""

from __future__ import annotations

import math
from collections.abc import Callable
from html import escape

import pandas as pd
import streamlit as st

from specviz.analysis.cost.answer import Answer, answer, saving_share, verdict_of_saving
from specviz.analysis.cost.basis import Basis, Way
from specviz.analysis.cost.course import YEAR_DAYS, horizon_days
from specviz.analysis.cost.interval import Interval
from specviz.analysis.cost.load import break_even, break_even_text
from specviz.analysis.cost.prices import OWN_MACHINE
from specviz.analysis.cost.sensitivity import swings
from specviz.analysis.text import digits, dollars, percent
from specviz.analysis.verdict import Verdict
from specviz.palette import BASELINE, FAMILY_COLOURS
from specviz.views.cost import state
from specviz.views.cost.case import Case, Unpriced
from specviz.views.cost.figures.load import CostLine, cost_by_concurrency
from specviz.views.cost.figures.payback import payback_over_time
from specviz.views.cost.figures.swings import tornado
from specviz.views.cost.tables import WORDS, load_table, payback_text, techniques_table
from specviz.views.shared.charts import chart, page_ground
from specviz.views.shared.published import published_figures
from specviz.views.shared.sections import chosen_section
from specviz.views.shared.tables import show_figures
from specviz.views.shared.text import escaped
from specviz.views.shared.url_controls import bound


def show_case(case: Case) -> None:
    """Everything that follows from a case. Raises UsageError for figures that make no cost."""
    found = answer(case.question)
    _result(case, found)
    if case.disturbance is not None:
        st.warning(escaped(case.disturbance), icon=":material/speed:")
    if case.place is not None:
        st.info(
            escaped(f"{case.place} Choose '{OWN_MACHINE}' to type what an hour of it costs."),
            icon=":material/info:",
        )
    st.markdown("**All techniques**")
    _table(techniques_table(case))
    _notes(case)
    SECTIONS[chosen_section(state.SECTION, [*SECTIONS], label="Chart")](case)


def show_unpriced(case: Unpriced) -> None:
    """What holds whatever an hour of the hardware costs, and that one price is missing."""
    saving = saving_share(case.baseline, case.method)
    verdict = verdict_of_saving(saving)
    _heading(case.way, case.at, verdict)
    _tiles(
        ("saving per request", *_figure(percent, saving), "of the baseline"),
        ("requests/h with", *_figure(digits, case.method.requests_per_hour), None),
        ("requests/h without", digits(case.baseline.requests_per_hour.value), None, None),
    )
    st.info(
        escaped(
            f"Measured on {case.hardware}, for which there is no list price. Type under '$ per "
            "machine hour' what an hour of it costs you, for dollars and the payback."
        ),
        icon=":material/payments:",
    )
    st.caption(escaped(" ".join(case.basis.notes)))


def _heading(way: Way, at: int | None, verdict: Verdict | None) -> None:
    """The technique, where, and in a word whether it pays."""
    place = "" if at is None else f" at concurrency {at}"
    said = {Verdict.UNDECIDED: ": undecided", Verdict.SLOWER: ": costs more"}
    st.subheader(escaped(f"{way.name}{place}{said.get(verdict, '') if verdict else ''}"))
    if verdict is Verdict.UNDECIDED:
        st.warning(
            "Undecided: the interval of the saving includes 0. Measure more prompts before "
            "deciding by it; the Benchmark page says about how many.",
            icon=":material/help:",
        )


def _result(case: Case, found: Answer) -> None:
    """The five figures that people ask for, each with what it is compared with."""
    _heading(case.way, case.at, found.verdict)
    million, paid = found.per_million_tokens, found.payback
    _tiles(
        (
            "per request",
            *_figure(dollars, found.per_request),
            f"{dollars(found.baseline_per_request)} without",
        ),
        (
            "per million output tokens",
            *(_figure(dollars, million) if million else (None, None)),
            "throughput is not known"
            if million is None
            else f"{dollars(found.baseline_per_million_tokens)} without",
        ),
        ("saving per request", *_figure(percent, found.saving_share), "of the baseline"),
        (
            "saving per month",
            *_figure(dollars, found.saving_per_month),
            "retraining deducted",
        ),
        (
            "training paid back after",
            "undecided"
            if found.verdict is Verdict.UNDECIDED
            else (f"{digits(paid.days)} days" if paid.days else None),
            f"{math.ceil(paid.requests):,} requests"
            if paid.requests and found.verdict is not Verdict.UNDECIDED
            else None,
            None if paid.days else paid.outcome.value,
        ),
    )


def _tiles(*tiles: tuple[str, str | None, str | None, str | None]) -> None:
    """Of each its name, the figure, its interval and a remark; side by side."""
    ground = page_ground()
    small = f"color:{ground.muted};font-size:13px"
    cells = "".join(
        f'<div style="min-width:9rem;flex:1"><div style="{small}">{escape(name)}</div>'
        f'<div style="font-size:24px;line-height:1.35">{escape(figure or "–")}</div>'
        + (f'<div style="font-size:15px">{escape(interval)}</div>' if interval else "")
        + (f'<div style="{small}">{escape(remark)}</div>' if remark else "")
        + "</div>"
        for name, figure, interval, remark in tiles
    )
    st.html(f'<div style="display:flex;flex-wrap:wrap;gap:14px 20px">{cells}</div>')


def _figure(text: Callable[[float], str | None], figure: Interval) -> tuple[str | None, str | None]:
    """`58 %` and `52 % to 63 %, 95 % interval`; the interval first where it includes 0, which
    decides nothing; no remark without one."""
    if figure.low is None or figure.high is None:
        return text(figure.value), None
    ends = f"{text(figure.low)} to {text(figure.high)}"
    if figure.low <= 0 <= figure.high:
        return ends, f"95 % interval; estimate {text(figure.value)}"
    return text(figure.value), f"{ends}, 95 % interval"


def _notes(case: Case) -> None:
    """How busy the hardware is, and the figures' limits."""
    question = case.question
    without, fast = (
        percent(question.requests_per_day / (24 * served.requests_per_hour.value))
        for served in (question.baseline, question.method)
    )
    words = [
        f"${question.usd_per_hour:,.6g}/h. {question.requests_per_day:,.0f} requests/day keep this "
        f"hardware busy {without} of the day without and {fast} with speculation: that "
        "saves where idle GPU hours are not paid for, or where several such machines are needed.",
        "A month has 365/12 days; retraining is deducted from its saving, the first training not.",
    ]
    st.caption(escaped(" ".join([*words, *case.basis.notes])))


def _by_concurrency(case: Case) -> None:
    basis = case.by_concurrency
    way = next((own for own in basis.techniques if own.name == case.way.name), basis.techniques[0])
    lines = _lines(basis, way)
    if not lines:
        st.info(
            "A curve needs the throughput at several concurrencies: choose the "
            "published concurrency table, or measure a plan with several concurrencies."
        )
    else:
        found = break_even(basis.baseline.output_throughput, way.output_throughput)
        origin = "" if basis is case.basis else f", by {basis.title}"
        st.markdown(escaped(f"{way.name} {break_even_text(found)}{origin}."))
        figure = cost_by_concurrency(lines, case.question.usd_per_hour)
        chart(figure, "$ per million output tokens over concurrency", "cost-load")
    st.markdown("**Requests/h and cost by concurrency**")
    _table(load_table(basis, way, case.question.usd_per_hour))
    if basis is not case.basis:
        st.caption(escaped(" ".join(basis.notes)))


def _lines(basis: Basis, chosen: Way) -> list[CostLine]:
    """The baseline, and the techniques known at several concurrencies; the chosen one first."""
    baseline = basis.baseline
    others = [way for way in basis.techniques if way.name != chosen.name]
    several = [way for way in (chosen, *others) if len(way.output_throughput) > 1]
    if len(baseline.output_throughput) < 2 or not several:
        return []
    return [
        CostLine(baseline.name, BASELINE, baseline.output_throughput, is_baseline=True),
        *(
            CostLine(
                way.name,
                colour,
                way.output_throughput,
                crossover=break_even(baseline.output_throughput, way.output_throughput),
            )
            for way, colour in zip(several, FAMILY_COLOURS, strict=False)
        ),
    ]


def _payback(case: Case) -> None:
    found = answer(case.question)
    st.markdown(escaped(f"Training, paid back: {payback_text(found)}."))
    until = horizon_days(case.question)
    if until != YEAR_DAYS:
        spans = {"until it is paid back": until, "a year": YEAR_DAYS}
        span = st.segmented_control(
            "Days", [*spans], default=next(iter(spans)), required=True,
            label_visibility="collapsed", **bound(state.SPAN),
        )  # fmt: skip
        until = spans[span or "a year"]
    figure = payback_over_time(case.question, until)
    chart(figure, "Paid so far, trainings included", "cost-payback")
    period = case.question.training.period_days
    if period is not None:
        st.caption(f"Retrained every {digits(period)} days, at each update of the target.")


def _sensitivity(case: Case) -> None:
    saving = answer(case.question).saving_per_month.value
    found = swings(case.question)
    chart(tornado(found, saving), "What moves the saving per month most", "cost-swings")
    st.caption(
        "One input at a time, the others as they are: by its 95 % interval where it has one, "
        "otherwise 20 % down and up. The line is the saving with the values above."
    )


def _table(table: pd.DataFrame) -> None:
    """Words at the left, figures at the right; columns without a figure left out."""
    show_figures(table.dropna(axis="columns", how="all"), WORDS)


def _published(_: Case) -> None:
    published_figures("cost")
    published_figures("training")


SECTIONS: dict[str, Callable[[Case], None]] = {
    "Concurrency": _by_concurrency,
    "Payback": _payback,
    "Sensitivity": _sensitivity,
    "Published": _published,
}
