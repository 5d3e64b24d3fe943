"""The Live page's session state.

Widget values live under the keys named here; what becomes of them is a frozen `LiveChoice`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from specviz.config import Prompt, RunConfig, Sampling
from specviz.errors import UsageError
from specviz.prompts.shipped import CATEGORIES, FIRST_CATEGORY, FIRST_PROMPT, load_prompts
from specviz.servers.client.probe import FoundServer
from specviz.views.live.prefill import USUAL, USUAL_SEED
from specviz.views.shared.arm_choice import (
    ASK,
    DEFAULT_ARMS,
    ArmChoice,
    Place,
    methods_at,
    usual_shape,
)

JOB = "job"
PROMPT = "live_prompt"
CATEGORY = "live_category"
PICKED = "live_picked"  # the shipped prompt that the text came from
PROBLEM = "live_problem"
TEMPERATURE, SEED, LENGTH = "live_temperature", "live_seed", "live_length"
TOP_P, TOP_K, AT_ONCE = "live_top_p", "live_top_k", "live_at_once"
OWN_MODELS = "live_own_models"

_ARM_FIELDS = ("place", "method", "k", "url", "shape", "acceptance", "dtype", "model", "draft")


@dataclass(frozen=True, slots=True)
class LiveChoice:
    """What the controls say. Raises nothing; `configs` does."""

    prompt_text: str
    sampling: Sampling
    at_once: bool
    arms: tuple[ArmChoice, ...]

    def prompt(self) -> Prompt:
        """The prompt, with its id and category if it is a shipped one unchanged."""
        picked = st.session_state.get(PICKED)
        if isinstance(picked, Prompt) and picked.text == self.prompt_text:
            return picked
        return Prompt(self.prompt_text)

    def configs(self) -> list[RunConfig]:
        """One configuration per arm that is switched on. Raises UsageError for wrong values."""
        return [arm.config(self.sampling) for arm in self.arms if arm.is_on]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of asking the server at `url`: `found`, or the `error` in a sentence."""

    url: str
    found: FoundServer | None = None
    error: str | None = None


def arm_key(index: int, field: str) -> str:
    """The widget key of one control of an arm."""
    return f"live_arm_{index}_{field}"


def ensure_arms() -> None:
    """Begin with the default arms, and keep each method among those its place offers."""
    for index, default in enumerate(DEFAULT_ARMS):
        for field in _ARM_FIELDS:
            st.session_state.setdefault(arm_key(index, field), getattr(default, field))
        offered = methods_at(Place(st.session_state[arm_key(index, "place")]))
        _keep_among(arm_key(index, "method"), offered)


def arms() -> tuple[ArmChoice, ...]:
    """The arms as currently set."""
    found = tuple(
        ArmChoice(*(st.session_state[arm_key(index, field)] for field in _ARM_FIELDS))
        for index in range(len(DEFAULT_ARMS))
    )
    if st.session_state.get(OWN_MODELS):
        return found
    return tuple(replace(arm, model="", draft="") for arm in found)


def sampling() -> Sampling:
    """The sampling as currently set."""
    said = st.session_state
    return Sampling(
        temperature=float(said.get(TEMPERATURE, USUAL.temperature)),
        top_p=float(said.get(TOP_P, USUAL.top_p)),
        max_tokens=int(said.get(LENGTH, USUAL.max_tokens)),
        seed=int(said.get(SEED, USUAL_SEED)),
        top_k=int(said.get(TOP_K, USUAL.top_k)),
    )


def load(prompt: Prompt, sampling: Sampling, arms: Sequence[ArmChoice]) -> None:
    """Set every control as a stored run had it; the page is opened next."""
    st.session_state.pop(PROBLEM, None)
    st.session_state[PROMPT] = prompt.text
    st.session_state[PICKED] = prompt
    if prompt.category in CATEGORIES:
        st.session_state[CATEGORY] = prompt.category
    st.session_state[TEMPERATURE] = sampling.temperature
    st.session_state[SEED] = sampling.seed
    st.session_state[LENGTH] = sampling.max_tokens
    st.session_state[TOP_P], st.session_state[TOP_K] = sampling.top_p, sampling.top_k
    st.session_state[OWN_MODELS] = any(arm.model or arm.draft for arm in arms)
    off = [replace(arm, place=Place.OFF) for arm in DEFAULT_ARMS[len(arms) :]]
    for index, arm in enumerate([*arms, *off]):
        for field in _ARM_FIELDS:
            st.session_state[arm_key(index, field)] = getattr(arm, field)


def use_server(url: str, method: str, k: int | None) -> None:
    """Give a server an arm: one that is switched off, else the last; the page is opened next."""
    ensure_arms()
    indexes = range(len(DEFAULT_ARMS))
    known = [i for i in indexes if st.session_state[arm_key(i, "url")] == url]
    free = [i for i in indexes if st.session_state[arm_key(i, "place")] is Place.OFF]
    index = (known or free or [indexes[-1]])[0]
    st.session_state[arm_key(index, "place")] = Place.URL
    st.session_state[arm_key(index, "url")] = url
    set_method(index, method, k)


def set_method(index: int, method: str, k: int | None) -> None:
    """What a server reports that it runs."""
    st.session_state[arm_key(index, "method")] = method
    if k is not None:
        st.session_state[arm_key(index, "k")] = k


def answer(index: int) -> Answer | None:
    """What was kept of asking the server of an arm; None if it was not asked."""
    kept: Answer | None = st.session_state.get(f"live_answer_{index}")
    return kept


def keep_answer(index: int, answer: Answer) -> None:
    st.session_state[f"live_answer_{index}"] = answer


def forget_answer(index: int) -> None:
    st.session_state.pop(f"live_answer_{index}", None)


def begin_at_place(index: int) -> None:
    """A server at a URL decides the method until it has been asked (a callback)."""
    if st.session_state[arm_key(index, "place")] is Place.URL:
        st.session_state[arm_key(index, "method")] = ASK


def set_usual_shape(index: int) -> None:
    """Give a newly chosen method the shape of draft it is known for (a callback)."""
    method = st.session_state[arm_key(index, "method")]
    st.session_state[arm_key(index, "shape")] = usual_shape(method)


def _keep_among(key: str, offered: Sequence[str]) -> None:
    if st.session_state[key] not in offered:
        st.session_state[key] = offered[0]


def pick_prompt(step: int = 1) -> None:
    """Put the next shipped prompt of the chosen category into the text box (a callback)."""
    category = st.session_state.get(CATEGORY) or FIRST_CATEGORY
    try:
        prompts = load_prompts(category)
    except UsageError as error:
        st.session_state[PROBLEM] = str(error)
        return
    picked = st.session_state.get(PICKED)
    index = prompts.index(picked) + step if picked in prompts else _first(prompts)
    st.session_state[PICKED] = prompts[index % len(prompts)]
    st.session_state[PROMPT] = st.session_state[PICKED].text


def _first(prompts: Sequence[Prompt]) -> int:
    ids = [prompt.prompt_id for prompt in prompts]
    return ids.index(FIRST_PROMPT) if FIRST_PROMPT in ids else 0


def ensure_prompt() -> None:
    """Begin with a prompt in the box, so that Run works at once."""
    if PROMPT not in st.session_state:
        pick_prompt()
