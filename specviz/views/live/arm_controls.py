"""The Live page's arms: one row of controls per arm, where it runs and how it drafts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from specviz.errors import UsageError
from specviz.views.live import state as live_state
from specviz.views.live.at_url import ask_server, offer_baseline, show_answer
from specviz.views.live.state import arm_key
from specviz.views.shared.arm_choice import (
    ACCEPTANCES,
    DTYPES,
    SHAPES,
    ArmChoice,
    Offer,
    Place,
)
from specviz.views.shared.caller import check_may_start
from specviz.views.shared.model_field import Kind, Model, add_draft, draft_of_arm, kind_of
from specviz.views.shared.text import escaped

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
MORE_HELP = (
    "A draft model or head in a folder of this machine, or a .gguf file for llama.cpp. Arms offer "
    "it for the methods that it fits."
)
URL_EXAMPLE = "http://127.0.0.1:8000"
MORE, MORE_SAID = "live_more_drafts", "live_more_drafts_said"

_WIDTHS = [27, 17, 11, 67]
_OPTION_WIDTHS = [15, 13, 19, 20]


def take_model(model: Model) -> None:
    """Fit the arms to the page's model. A server is asked what it runs; why it does not answer is
    said here."""
    is_other = live_state.fit_arms(model)
    if kind_of(model.text) is not Kind.SERVER:
        return
    if is_other:
        ask_server(0)
    answer = live_state.answer(0)
    if answer is not None and answer.url == model.text and answer.error:
        st.caption(f":red[{escaped(answer.error)}]")


def arm_settings(model: Model) -> tuple[ArmChoice, ...]:
    """Up to four arms: where each answers with the page's model, its method, K and options."""
    offer = live_state.ensure_arms()
    with st.popover(_label(live_state.arms()), icon=":material/view_column:", key="arms"):
        st.caption("Each arm answers the same prompt; the others are compared with the baseline.")
        for index, arm in enumerate(live_state.arms()):
            _arm_row(index, arm, offer)
        if kind_of(model.text) is not Kind.SERVER:
            _more_drafts(model)
    return live_state.arms()


def _arm_row(index: int, arm: ArmChoice, offer: Offer) -> None:
    where, method, k, rest = st.columns(_WIDTHS, gap="small")
    where.selectbox(
        f"Arm {index + 1}",
        dict.fromkeys([*offer.places, arm.place]),
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
        offer.methods_of(arm),
        on_change=live_state.take_method,
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
            _embedded_options(index, arm, offer)
    elif arm.needs_draft:
        _draft(rest.columns(2, gap="small")[0], index, arm, offer)


def _more_drafts(model: Model) -> None:
    """A draft from elsewhere, for all arms."""
    st.text_input(
        "A draft from elsewhere",
        key=MORE,
        placeholder="/models/my-draft",
        on_change=_take_draft,
        args=(model.text,),
        help=MORE_HELP,
        persist_state="session",
    )
    if said := st.session_state.get(MORE_SAID):
        st.caption(said)


def _take_draft(target: str) -> None:
    """Offer the draft that was typed, or say why not (a callback)."""
    st.session_state[MORE_SAID] = None
    if not st.session_state[MORE].strip():
        return
    try:
        check_may_start()
        st.session_state[MORE_SAID] = escaped(add_draft(st.session_state[MORE], target))
    except UsageError as error:
        st.session_state[MORE_SAID] = f":red[{escaped(str(error))}]"


def _draft(column: DeltaGenerator, index: int, arm: ArmChoice, offer: Offer) -> None:
    label = f"Draft of arm {index + 1}"
    draft_of_arm(column, label, offer, arm.place, arm.method, **_common(index, "draft"))


def _embedded_options(index: int, arm: ArmChoice, offer: Offer) -> None:
    """What the embedded engine lets choose: dtype always, the rest where the method has it."""
    dtype, shape, draft, acceptance = st.columns(_OPTION_WIDTHS, gap="small")
    if arm.needs_draft:
        _draft(draft, index, arm, offer)
    _select(dtype, "dtype", DTYPES, index, "dtype", DTYPE_HELP)
    if arm.has_shape:
        _select(shape, "Shape", SHAPES, index, "shape", SHAPE_HELP)
    if arm.has_acceptance:
        names, words = ACCEPTANCE_NAMES, ACCEPTANCE_HELP
        _select(acceptance, "Acceptance", ACCEPTANCES, index, "acceptance", words, names)


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
