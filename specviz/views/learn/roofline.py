"""Learn: the roofline of decoding, and where speculation stops to pay."""

from __future__ import annotations

import streamlit as st

from specviz import reference
from specviz.analysis.hardware import Gpu, Precision, gpus
from specviz.analysis.text import digits
from specviz.analysis.theory.roofline import Roofline
from specviz.errors import UsageError
from specviz.views.learn import state
from specviz.views.learn.figures.roofline import Point, speedup_over_batch
from specviz.views.shared.charts import TOOLBAR, figure_row
from specviz.views.shared.messages import show_error
from specviz.views.shared.text import escaped
from specviz.views.shared.url_controls import bound

WORDS = (
    "A decoding step reads every weight once, whatever the batch, and computes two operations per "
    "weight and token. While reading takes longer, more tokens per step cost nothing: that is the "
    "room that speculation uses. A larger batch uses it up, and verifying K + 1 tokens per "
    "sequence uses it up K + 1 times as early."
)
LEFT_OUT = (
    "Lower bounds: attention's own operations, communication between GPUs, launches and sampling "
    "are left out. A draft token is taken to cost c plain steps at every batch. Published points "
    "are EAGLE-3's in the Production benchmark 2026, by concurrency: real servers leave the "
    "plateau earlier."
)
GIGA = 1e9
TUTORIAL = (70.0, 2000.0, 312.0)
"""Billion parameters, GB/s of one A100 80GB in the tutorial, NVIDIA's dense bf16 TFLOPS of it."""


def roofline() -> None:
    """Controls of model, machine and draft; times, limits and the speed-up over the batch."""
    st.markdown(WORDS)
    try:
        batch, model = _model_controls()
        alpha, k, cost = _draft_controls()
        _figures(model, alpha, k, cost, batch)
        figure = speedup_over_batch(model, alpha, k, cost, published_points())
    except UsageError as error:
        show_error(error)
        return
    st.plotly_chart(figure, config=TOOLBAR, key="learn_roofline_chart")
    st.caption(LEFT_OUT)


def published_points() -> list[Point]:
    """Speed-up by concurrency as published."""
    table = reference.published("concurrency")
    return [(int(row.concurrency), float(row.e2e_speedup)) for row in table.itertuples()]


def _model_controls() -> tuple[int, Roofline]:
    """Batch and model. Raises UsageError for values that cannot be."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Fill in a GPU",
            [state.TYPED, *gpus()],
            on_change=_fill,
            width=230,
            **bound(state.GPU),
        )
        precision = st.selectbox(
            "Precision", list(Precision), on_change=_fill, width=110, **bound(state.PRECISION)
        )
        filled = gpus().get(st.session_state[state.GPU])
        bandwidth_gb_s, peak_tflops = (
            (filled.bandwidth_gb_s, filled.peak_tflops.get(precision)) if filled else TUTORIAL[1:]
        )
        count = _whole("GPUs, side by side", 64, state.GPUS)
        bandwidth = _real("Bandwidth, GB/s each", 1e5, bandwidth_gb_s, 100.0, state.BANDWIDTH)
        peak = _real("Peak compute, TFLOPS each", 1e6, peak_tflops, 10.0, state.PEAK)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        billions = _real("Parameters, billions", 1e4, TUTORIAL[0], 1.0, state.PARAMETERS)
        kv_gb = _real("KV cache per sequence, GB", 1e3, 0.0, 0.1, state.KV)
        batch = _whole("Batch, sequences", 1024, state.BATCH)
    _show_source(count, billions or 0.0, precision)
    if bandwidth is None or peak is None or kv_gb is None or billions is None:
        raise UsageError(
            "Fill in the blank field: the table has no sourced figure for this GPU and precision."
        )
    return batch, Roofline(
        parameters=billions * GIGA,
        bytes_per_parameter=precision.bytes,
        bandwidth_gb_s=bandwidth * count,
        peak_tflops=peak * count,
        kv_bytes=kv_gb * GIGA,
    )


def _draft_controls() -> tuple[float, int, float]:
    with st.container(horizontal=True, gap="large"):
        alpha = st.slider("α: acceptance", 0.0, 1.0, 0.8, 0.01, **bound(state.ALPHA))
        k = st.slider("K: draft tokens", 1, 32, 5, **bound(state.K))
        cost = st.slider("c: cost of a draft token", 0.0, 1.0, 0.05, 0.01, **bound(state.COST))
    return alpha, k, cost


def _whole(label: str, most: int, key: str) -> int:
    return int(st.number_input(label, 1, most, 1, width=150, **bound(key)) or 1)


def _real(label: str, most: float, value: float | None, step: float, key: str) -> float | None:
    """None for a blank field."""
    state.start(key, value)
    found: float | None = st.number_input(
        label, 0.0, most, None, step, format="%.6g", width=190, **bound(key)
    )
    return found


def _fill() -> None:
    """Put the chosen GPU's figures into the fields (a callback); blank where it has none."""
    found = gpus().get(st.session_state[state.GPU])
    if found is None:
        return
    precision = st.session_state[state.PRECISION]
    st.session_state[state.BANDWIDTH] = found.bandwidth_gb_s
    st.session_state[state.PEAK] = found.peak_tflops.get(precision)


def _show_source(count: int, billions: float, precision: Precision) -> None:
    found: Gpu | None = gpus().get(st.session_state[state.GPU])
    weights_gb = billions * precision.bytes
    if found is None:
        st.caption(
            "The first values are the tutorial's: 70 billion parameters at 2 bytes, 2 TB/s; "
            "312 TFLOPS is NVIDIA's dense bf16 figure for the A100. KV cache per token: "
            "2 × layers × KV heads × head size × bytes."
        )
        return
    lines = [f"{found.name}: {found.source} ({found.date}); {found.note}"]
    if weights_gb > found.memory_gb * count:
        lines.append(
            f"{weights_gb:g} GB of weights do not fit into {count} × {found.memory_gb:g} GB"
        )
    st.caption(escaped(". ".join(lines)) + ".")


def _figures(model: Roofline, alpha: float, k: int, cost: float, batch: int) -> None:
    critical, verifying = model.critical_batch(), model.critical_batch(k + 1)
    last = model.last_gaining_batch(alpha, k, cost)
    gains = "at every batch" if last is None else f"up to batch {last:,}" if last else "never"
    figure_row(
        {
            "weights": f"{model.weights_bytes / GIGA:,.4g} GB",
            "plain step": f"{digits(model.step_ms(batch))} ms",
            "plain decoding": f"{digits(model.output_throughput(batch))} tok/s",
            "compute used by it": f"{100 * model.utilisation(batch):.2g} %",
            "memory-bound up to": _batch(critical),
            f"verifying {k + 1} tokens, up to": _batch(verifying),
            "speed-up at this batch": f"{model.speedup(alpha, k, cost, batch):.2f}×",
            "speculation gains": gains,
        }
    )


def _batch(batch: float | None) -> str:
    return "every batch" if batch is None else f"batch {digits(batch)}"
