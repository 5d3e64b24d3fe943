"""The Live page's controls: prompt, category, sampling. With the arms they make a `LiveChoice`."""

from __future__ import annotations

import streamlit as st

from specviz.prompts.shipped import CATEGORIES
from specviz.views.live import state as live_state
from specviz.views.live.state import CATEGORY, PROMPT, LiveChoice
from specviz.views.shared.arm_choice import ArmChoice
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
        default=live_state.DEFAULT_CATEGORY,
        format_func=CATEGORY_NAMES.__getitem__,
        on_change=live_state.pick_prompt,
        label_visibility="collapsed",
        persist_state="session",
        help="Held-out prompts: none of them is in the demo models' training text.",
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


def sampling_settings() -> tuple[float, int, int, bool]:
    """Temperature, seed, length, and whether the arms run at once."""
    temperature = st.session_state.get("live_temperature", 0.0)
    seed = st.session_state.get("live_seed", 7)
    length = st.session_state.get("live_length", 128)
    at_once = st.session_state.get("live_at_once", False)
    order = "at once" if at_once else "one after another"
    with st.popover(
        f"temperature {temperature:.1f} · seed {seed} · {length} tokens · {order}",
        icon=":material/tune:",
    ):
        temperature = st.slider(
            "Temperature",
            0.0,
            2.0,
            0.0,
            0.1,
            key="live_temperature",
            persist_state="session",
            help="0 always takes the target's first choice; above 0 tokens are drawn.",
        )
        seed = st.number_input("Seed", 0, 2**31 - 1, 7, key="live_seed", persist_state="session")
        length = st.number_input(
            "Longest answer, tokens", 1, 4096, 128, key="live_length", persist_state="session"
        )
        at_once = st.toggle(
            "Run the arms at once",
            key="live_at_once",
            persist_state="session",
            help="One after another is fair on one machine: at once, arms compete for its cores.",
        )
    return float(temperature), int(seed), int(length), bool(at_once)


def choice(
    prompt_text: str, sampling: tuple[float, int, int, bool], arms: tuple[ArmChoice, ...]
) -> LiveChoice:
    """All controls together."""
    temperature, seed, length, at_once = sampling
    return LiveChoice(prompt_text, temperature, seed, length, at_once, arms)
