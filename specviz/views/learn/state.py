"""The Learn page's session state.

The widget keys are the names of their URL parameters, so a link shows the same page. The two
distributions, the stored run and the step are written into the URL here: a table has no binding,
a bound selection would write its title, and a bound slider whose range changes takes its value
from the URL.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from specviz.methods import Method

SECTION = "section"
TARGET, DRAFT = "target", "draft"
DRAWS, SEED = "draws", "seed"
ALPHA, K, COST, MOST_K = "alpha", "k", "cost", "max-k"
GPU, PRECISION = "gpu", "precision"
PARAMETERS, BANDWIDTH, PEAK, KV, BATCH, GPUS = (
    *("parameters", "bandwidth", "peak", "kv", "batch"),
    "gpus",
)
METHOD, RUN, STEP = "method", "run", "step"
PLAYING = "learn_playing"
RUN_CONTROL = "learn_run"
TYPED = "typed"

LEAST_TOKENS, MOST_TOKENS = 3, 8
NAMES = "ABCDEFGH"

PRESETS: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "close": ((0.45, 0.25, 0.15, 0.10, 0.05), (0.40, 0.30, 0.10, 0.12, 0.08)),
    "equal": ((0.45, 0.25, 0.15, 0.10, 0.05), (0.45, 0.25, 0.15, 0.10, 0.05)),
    "disjoint": ((0.60, 0.40, 0.0, 0.0), (0.0, 0.0, 0.70, 0.30)),
    "draft overconfident": ((0.40, 0.30, 0.20, 0.10), (0.94, 0.03, 0.02, 0.01)),
    # The same logits, the logarithms of the draft's, at temperature 1 and 2.
    "target at temperature 2": (
        (0.3565, 0.2687, 0.2080, 0.1668),
        (0.4700, 0.2670, 0.1600, 0.1030),
    ),
}
"""Weights of the target and of the draft, by the name of the case."""

FIRST_PRESET = "close"

_BASE = "learn_base"
_VERSION = "learn_version"


def editor_key() -> str:
    """The key of the table of weights; a new one shows new weights."""
    return f"learn_weights_{st.session_state.get(_VERSION, 0)}"


def base_weights() -> pd.DataFrame:
    """What the table begins with: the URL's weights when it is mounted, then the same frame."""
    if editor_key() not in st.session_state or _BASE not in st.session_state:
        first_target, first_draft = PRESETS[FIRST_PRESET]
        target = _numbers(st.query_params.get(TARGET)) or list(first_target)
        draft = _numbers(st.query_params.get(DRAFT)) or list(first_draft)
        st.session_state[_BASE] = _frame(target, draft)
    found: pd.DataFrame = st.session_state[_BASE]
    return found


def set_preset(name: str) -> None:
    """Show a preset's weights (a callback)."""
    target, draft = PRESETS[name]
    keep_weights(target, draft)
    st.session_state[_VERSION] = st.session_state.get(_VERSION, 0) + 1


def keep_weights(target: Any, draft: Any) -> None:
    """Write the weights into the URL."""
    wanted = {TARGET: _text(target), DRAFT: _text(draft)}
    if any(st.query_params.get(key) != text for key, text in wanted.items()):
        st.query_params.update(wanted)


def _frame(target: list[float | None], draft: list[float | None]) -> pd.DataFrame:
    """One row per token that there can be; the blank ones are not there."""
    rows = {TARGET: target, DRAFT: draft}
    filled = {name: (row + [None] * MOST_TOKENS)[:MOST_TOKENS] for name, row in rows.items()}
    return pd.DataFrame(filled, index=list(NAMES), dtype="float64")


def _numbers(text: str | None) -> list[float | None]:
    """The numbers of `0.5,0.3`; none if it is anything else."""
    try:
        return [float(part) for part in (text or "").split(",") if part.strip()]
    except ValueError:
        return []


def _text(weights: Any) -> str:
    return ",".join(f"{float(weight):.6g}" for weight in weights)


def start(key: str, value: object) -> None:
    """What a control begins with where neither the URL nor this session has a value.

    Controls that callbacks write to have no default.
    """
    if key not in st.session_state and key not in st.query_params:
        st.session_state[key] = value


def step_key(recording: str) -> str:
    """The key of the step slider of a trace: those of other traces end elsewhere."""
    return f"learn_step_{recording}"


def advance(key: str, last: int) -> bool:
    """Keep the step within a trace of `last` steps; while playing, go to the next.

    False when the last step has been played: playing is over then.
    """
    if key not in st.session_state:
        linked = st.query_params.get(STEP, "")
        st.session_state[key] = (
            min(last, max(1, int(linked))) if linked.isdecimal() else min(2, last)
        )
    elif st.session_state.get(PLAYING):
        if st.session_state[key] >= last:
            st.session_state[PLAYING] = False
            return False
        st.session_state[key] += 1
    return True


def keep_step(step: int) -> None:
    """Write the step into the URL."""
    if st.query_params.get(STEP) != str(step):
        st.query_params[STEP] = str(step)


def go_to(parameters: Mapping[str, str]) -> None:
    """Show another section of this page (a callback): a link to the same page keeps its URL."""
    restart()
    for key, value in parameters.items():
        st.session_state[key] = value
        if key != SECTION:  # of a control that is not shown yet: nobody else writes it
            st.query_params[key] = value


def restart() -> None:
    """Begin another trace at its first draft, at rest (a callback)."""
    st.session_state[PLAYING] = False
    st.query_params.pop(STEP, None)


def choose_method() -> None:
    """Show the recorded trace of the method chosen, not a stored run (a callback)."""
    restart()
    st.query_params.pop(RUN, None)
    st.session_state[RUN_CONTROL] = None


def run_id() -> str | None:
    """The stored run that the URL names: its titles would not be stable enough for one."""
    return st.query_params.get(RUN)


def show_method_of(methods: Mapping[str, Method | None]) -> None:
    """Let the choice of methods show that of the stored run, if it is one of these."""
    method = methods.get(run_id() or "")
    if method is not None and st.session_state.get(METHOD) != method.value:
        st.session_state[METHOD] = method.value


def show_run(wanted: str | None) -> None:
    """Let the selection show the run that the URL names."""
    if RUN_CONTROL not in st.session_state:
        st.session_state[RUN_CONTROL] = wanted


def keep_run() -> None:
    """Write the chosen stored run into the URL and begin with it (a callback)."""
    restart()
    if chosen := st.session_state[RUN_CONTROL]:
        st.query_params[RUN] = chosen
    else:
        st.query_params.pop(RUN, None)


def toggle_playing(key: str, last: int) -> None:
    """Play, from the first step if the last one is shown; or pause (a callback)."""
    st.session_state[PLAYING] = not st.session_state.get(PLAYING)
    if st.session_state[PLAYING] and st.session_state.get(key, 1) >= last:
        st.session_state[key] = 1
