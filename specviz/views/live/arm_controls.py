"""The Live page's arms: one row of controls per arm, where it runs and how it drafts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from specviz.views.live import state as live_state
from specviz.views.live.at_url import ask_server, offer_baseline, show_answer
from specviz.views.live.state import arm_key
from specviz.views.shared.arm_choice import (
    ACCEPTANCES,
    DTYPES,
    SHAPES,
    ArmChoice,
    Place,
    methods_at,
)

PLACE_NAMES = {
    Place.OFF: "off",
    Place.EMBEDDED: "in the app (embedded)",
    Place.VLLM: "vLLM, started here",
    Place.LLAMA_CPP: "llama.cpp, started here",
    Place.URL: "a server at a URL",
}
PLACE_HELP = (
    "**in the app**: the embedded engine on this machine; needs no server and no GPU, and has "
    "every method. **vLLM**, **llama.cpp**: specviz starts a server here; vLLM names every "
    "rejected token, llama.cpp is ready within seconds. "
    "**a server at a URL**: vLLM, llama.cpp or any running OpenAI-compatible server."
)
K_HELP = "How many tokens are drafted per step (num_speculative_tokens); of a tree, all of them."
SHAPE_HELP = (
    "A chain has one candidate per place; a tree has several, and the target judges all of them "
    "in one pass."
)
ACCEPTANCE_HELP = (
    "exact keeps the target's distribution. typical (Medusa, arXiv 2401.10774) accepts what is "
    "plausible enough for the target: not lossless above temperature 0."
)
DTYPE_HELP = (
    "Of weights and activations. **auto**: whichever this machine computes faster, measured once "
    "for each model. float32 has hardly any near ties between methods."
)
ACCEPTANCE_NAMES = {"exact": "exact", "typical": "typical: not lossless"}
OWN_MODELS_HELP = (
    "Llama models in the format of Hugging Face, in folders of this machine, with a draft or head "
    "that fits. An empty field takes the default model."
)
FOLDER_EXAMPLE = "/models/my-llama"
URL_EXAMPLE = "http://127.0.0.1:8000"

_WIDTHS = [27, 22, 14, 59]
_OPTION_WIDTHS = [18, 15, 26]


def arm_settings() -> tuple[ArmChoice, ...]:
    """Up to four arms: where each runs, its method, K and options."""
    live_state.ensure_arms()
    with st.popover(_label(live_state.arms()), icon=":material/view_column:", key="arms"):
        st.caption("Each arm answers the same prompt; the others are compared with the baseline.")
        for index, arm in enumerate(live_state.arms()):
            _arm_row(index, arm)
        if any(arm.place is Place.EMBEDDED for arm in live_state.arms()):
            st.toggle(
                "Own models in the app",
                key=live_state.OWN_MODELS,
                persist_state="session",
                help=OWN_MODELS_HELP,
            )
    return live_state.arms()


def _arm_row(index: int, arm: ArmChoice) -> None:
    where, method, k, rest = st.columns(_WIDTHS, gap="small")
    where.selectbox(
        f"Arm {index + 1}",
        list(Place),
        format_func=PLACE_NAMES.__getitem__,
        help=PLACE_HELP,
        on_change=live_state.begin_at_place,
        args=(index,),
        **_common(index, "place"),
    )
    if not arm.is_on:
        return
    method.selectbox(
        "Method",
        methods_at(arm.place),
        on_change=live_state.set_usual_shape,
        args=(index,),
        **_common(index, "method"),
    )
    if arm.drafts:
        k.number_input("K", 1, 32, help=K_HELP, **_common(index, "k"))
    if arm.place is Place.URL:
        rest.text_input(
            "Server URL",
            placeholder=URL_EXAMPLE,
            on_change=ask_server,
            args=(index,),
            **_common(index, "url"),
        )
        show_answer(index, arm)
        offer_baseline(index, arm, live_state.arms())
    if arm.place is Place.EMBEDDED:
        with rest:
            _embedded_options(index, arm)
        if st.session_state.get(live_state.OWN_MODELS):
            _own_models(index, arm)


def _embedded_options(index: int, arm: ArmChoice) -> None:
    """What the embedded engine lets choose: dtype always, the rest where the method has it."""
    dtype, shape, acceptance = st.columns(_OPTION_WIDTHS, gap="small")
    _select(dtype, "dtype", DTYPES, index, "dtype", DTYPE_HELP)
    if arm.has_shape:
        _select(shape, "Draft", SHAPES, index, "shape", SHAPE_HELP)
    if arm.has_acceptance:
        names, words = ACCEPTANCE_NAMES, ACCEPTANCE_HELP
        _select(acceptance, "Acceptance", ACCEPTANCES, index, "acceptance", words, names)


def _own_models(index: int, arm: ArmChoice) -> None:
    """Folders on the app's machine, or short names of models, in place of the default model."""
    target, draft = st.columns(2, gap="small")
    target.text_input("Folder of the target", placeholder=FOLDER_EXAMPLE, **_common(index, "model"))
    if arm.needs_draft:
        draft.text_input(
            "Folder of its draft", placeholder=FOLDER_EXAMPLE, **_common(index, "draft")
        )


def _select(
    column: DeltaGenerator,
    label: str,
    options: Any,
    index: int,
    field: str,
    help_text: str | None = None,
    names: Mapping[Any, str] | None = None,
) -> None:
    column.selectbox(
        label,
        options,
        format_func=names.__getitem__ if names else str,
        help=help_text,
        **_common(index, field),
    )


def _common(index: int, field: str) -> dict[str, Any]:
    return {"key": arm_key(index, field), "persist_state": "session"}


def _label(arms: tuple[ArmChoice, ...]) -> str:
    return "Arms: " + (" · ".join(_short(arm) for arm in arms if arm.is_on) or "none")


def _short(arm: ArmChoice) -> str:
    name = f"{arm.method} K {arm.k}" if arm.drafts else arm.method
    if arm.has_shape and arm.shape == "tree":
        name += " tree"
    if arm.has_acceptance and arm.acceptance == "typical":
        name += " not lossless"
    where = {Place.VLLM: "vLLM", Place.LLAMA_CPP: "llama.cpp", Place.URL: "at a URL"}
    return f"{name} ({where[arm.place]})" if arm.place in where else name
