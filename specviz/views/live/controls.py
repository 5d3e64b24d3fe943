"""The Live page's controls: prompt, category, sampling. With the arms they are a `LiveChoice`."""

from __future__ import annotations

import streamlit as st

from specviz.config import Sampling
from specviz.prompts.shipped import CATEGORIES, FIRST_CATEGORY
from specviz.views.live import state as live_state
from specviz.views.live.prefill import LARGEST_SEED, LARGEST_TOP_K, LONGEST, USUAL, USUAL_SEED
from specviz.views.live.state import CATEGORY, PROMPT
from specviz.views.shared.text import CATEGORY_NAMES


def prompt_box() -> str:
    """The text box and the categories that fill it."""
    text = st.text_area(
        "Prompt",
        key=PROMPT,
        height=88,
        placeholder="Type a prompt, or pick a category below.",
        label_visibility="collapsed",
        persist_state="session",
    )
    return text or ""


def category_row() -> None:
    """One pill per category; choosing one puts a prompt of it into the box."""
    st.segmented_control(
        "Category",
        CATEGORIES,
        key=CATEGORY,
        default=FIRST_CATEGORY,
        format_func=CATEGORY_NAMES.__getitem__,
        on_change=live_state.pick_prompt,
        label_visibility="collapsed",
        persist_state="session",
        help="A prompt of this kind goes into the box.",
    )


def another_prompt() -> None:
    """The next prompt of the category."""
    st.button(
        "Another",
        icon=":material/shuffle:",
        on_click=live_state.pick_prompt,
        help="The next prompt of this category.",
        type="tertiary",
    )


def sampling_settings() -> tuple[Sampling, bool]:
    """How tokens are drawn, and whether the arms run at once."""
    with st.popover(_sampling_label(), icon=":material/tune:", key="sampling"):
        st.slider(
            "Temperature",
            0.0,
            2.0,
            USUAL.temperature,
            0.1,
            key=live_state.TEMPERATURE,
            persist_state="session",
            help="0 always takes the target's first choice; above 0 tokens are drawn.",
        )
        cut = st.columns(2)
        cut[0].number_input(
            "top-p",
            0.01,
            1.0,
            USUAL.top_p,
            0.05,
            key=live_state.TOP_P,
            persist_state="session",
            help="Draw from the smallest set of tokens that reaches this probability; 1 is off.",
        )
        cut[1].number_input(
            "top-k",
            0,
            LARGEST_TOP_K,
            USUAL.top_k,
            key=live_state.TOP_K,
            persist_state="session",
            help="Draw from this many of the most likely tokens; 0 is off.",
        )
        st.number_input(
            "Seed", 0, LARGEST_SEED, USUAL_SEED, key=live_state.SEED, persist_state="session"
        )
        st.number_input(
            "Longest answer, tokens",
            1,
            LONGEST,
            USUAL.max_tokens,
            key=live_state.LENGTH,
            persist_state="session",
        )
        st.toggle(
            "Run the arms at once",
            key=live_state.AT_ONCE,
            persist_state="session",
            help="One after another is fair on one machine: at once, arms compete for its cores.",
        )
    return live_state.sampling(), bool(st.session_state.get(live_state.AT_ONCE))


def _sampling_label() -> str:
    sampling = live_state.sampling()
    cuts = [f"top-p {sampling.top_p:g}"] if sampling.top_p < 1 else []
    cuts += [f"top-k {sampling.top_k}"] if sampling.top_k else []
    order = "at once" if st.session_state.get(live_state.AT_ONCE) else "one after another"
    seed_and_length = (f"seed {sampling.seed}", f"{sampling.max_tokens:,} tokens")
    return " · ".join((f"temperature {sampling.temperature:.1f}", *cuts, *seed_and_length, order))
