"""The Live page's controls: prompt, category, sampling, arms. They return one `LiveChoice`."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from specviz.prompts import CATEGORIES
from specviz.views import live_state
from specviz.views.live_state import ASK, CATEGORY, DEFAULT_ARMS, METHODS, OFF, PROMPT, LiveChoice

CATEGORY_NAMES = {
    "short_qa": "Short answers",
    "summarization": "Summaries",
    "code_generation": "Code",
    "creative_writing": "Stories",
    "translation": "Translation",
    "structured_output": "JSON and YAML",
}


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


def arm_settings() -> tuple[tuple[str, int, str], ...]:
    """Up to four arms: method, K, and the server to use."""
    with st.popover(_arms_label(), icon=":material/view_column:"):
        st.caption(
            "Each arm answers the same prompt. Without a URL the demo models run on this machine; "
            "with one, that vLLM (or any OpenAI-compatible) server does."
        )
        return tuple(_arm_row(index) for index in range(live_state.MAX_ARMS))


def choice(
    prompt_text: str, sampling: tuple[float, int, int, bool], arms: tuple[tuple[str, int, str], ...]
) -> LiveChoice:
    """All controls together."""
    temperature, seed, length, at_once = sampling
    return LiveChoice(prompt_text, temperature, seed, length, at_once, arms)


def _arm_row(index: int) -> tuple[str, int, str]:
    method_default, k_default = DEFAULT_ARMS[index]
    options = [OFF, *(method.value for method in METHODS), ASK]
    columns = st.columns([3, 2, 5])
    visible: Literal["visible", "collapsed"] = "visible" if index == 0 else "collapsed"
    method = columns[0].selectbox(
        "Method",
        options,
        options.index(method_default),
        key=f"live_method_{index}",
        label_visibility=visible,
        persist_state="session",
    )
    drafts = method not in (OFF, ASK, METHODS[0].value)
    k = columns[1].number_input(
        "K",
        1,
        32,
        k_default,
        key=f"live_k_{index}",
        disabled=not drafts,
        label_visibility=visible,
        persist_state="session",
        help="num_speculative_tokens: how many tokens are drafted per step.",
    )
    url = columns[2].text_input(
        "Server URL",
        key=f"live_url_{index}",
        placeholder="demo models on this machine",
        disabled=method == OFF,
        label_visibility=visible,
        persist_state="session",
    )
    return str(method), int(k), url or ""


def _arms_label() -> str:
    names = []
    for index, (method_default, k_default) in enumerate(DEFAULT_ARMS):
        method = st.session_state.get(f"live_method_{index}", method_default)
        k = st.session_state.get(f"live_k_{index}", k_default)
        if method == OFF:
            continue
        plain = method in (ASK, METHODS[0].value)
        names.append(method if plain else f"{method} K {k}")
    return "Arms: " + (" · ".join(names) or "none")
