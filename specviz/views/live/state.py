"""The Live page's session state.

Widget values live under the keys named here; what becomes of them is a frozen `LiveChoice`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import streamlit as st

from specviz.config import Prompt, RunConfig, Sampling
from specviz.errors import UsageError
from specviz.methods import Method
from specviz.prompts.shipped import CATEGORIES, FIRST_CATEGORY, FIRST_PROMPT, load_prompts
from specviz.servers.client.probe import FoundServer
from specviz.views.live.prefill import USUAL, USUAL_SEED
from specviz.views.shared import model_field
from specviz.views.shared.arm_choice import (
    ASK,
    MAX_ARMS,
    ArmChoice,
    Offer,
    Place,
    arms_for,
    default_arms,
    usual_shape,
)
from specviz.views.shared.model_field import Model

JOB = "job"
PROMPT = "live_prompt"
CATEGORY = "live_category"
PICKED = "live_picked"  # the shipped prompt that the text came from
PROBLEM = "live_problem"
TEMPERATURE, SEED, LENGTH = "live_temperature", "live_seed", "live_length"
TOP_P, TOP_K, AT_ONCE = "live_top_p", "live_top_k", "live_at_once"

_ARM_FIELDS = tuple(one.name for one in fields(ArmChoice))
_FITTED, _BEGAN, _TIMES_SET = "live_fitted", "live_began", "live_times_set"


@dataclass(frozen=True, slots=True)
class LiveChoice:
    """What the controls say. Raises nothing; `configs` does."""

    prompt_text: str
    sampling: Sampling
    at_once: bool
    arms: tuple[ArmChoice, ...]
    model: str | None = None

    def prompt(self) -> Prompt:
        """The prompt, with its id and category if it is a shipped one unchanged."""
        picked = st.session_state.get(PICKED)
        if isinstance(picked, Prompt) and picked.text == self.prompt_text:
            return picked
        return Prompt(self.prompt_text)

    def configs(self) -> list[RunConfig]:
        """One configuration per arm that is switched on. Raises UsageError for wrong values."""
        return [arm.config(self.sampling, self.model) for arm in self.arms if arm.is_on]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of asking the server at `url`: `found`, or the `error` in a sentence."""

    url: str
    found: FoundServer | None = None
    error: str | None = None


def arm_key(index: int, field: str) -> str:
    """The widget key of one control of an arm, another one each time that all were set: the
    browser would send the old values of controls in the closed popover again."""
    return f"live_arm_{st.session_state.get(_TIMES_SET, 0)}_{index}_{field}"


def fit_arms(model: Model) -> bool:
    """Begin with the arms that suit the model, and keep each among what it offers; whether the
    model is another one now. One that cannot be used changes nothing."""
    fitted: tuple[str, Offer] | None = st.session_state.get(_FITTED)
    if fitted == (model.text, model.offer) or (fitted and model.problem):
        return False
    offer, is_other = model.offer, fitted is None or fitted[0] != model.text
    untouched = fitted is None or fitted[1].server or arms() == st.session_state.get(_BEGAN)
    if untouched:
        _set_arms(default_arms(offer))
        st.session_state[_BEGAN] = arms()
    elif is_other:
        _set_arms(arms_for(offer, arms()))
    st.session_state[_FITTED] = (model.text, offer)
    return is_other


def ensure_arms() -> Offer:
    """Keep method and draft of each arm among those that the model offers; returns that offer."""
    offer: Offer = st.session_state[_FITTED][1]
    for index, arm in enumerate(arms()):
        method = arm.method
        if method not in offer.methods_of(arm):
            method = st.session_state[arm_key(index, "method")] = offer.best_at(arm.place)
            st.session_state[arm_key(index, "draft")] = ""
        first = next(iter(offer.drafts_at(arm.place, method)), "")
        if first and not st.session_state[arm_key(index, "draft")]:
            st.session_state[arm_key(index, "draft")] = first
    return offer


def arms() -> tuple[ArmChoice, ...]:
    """The arms as currently set."""
    return tuple(
        ArmChoice(*(st.session_state[arm_key(index, field)] for field in _ARM_FIELDS))
        for index in range(MAX_ARMS)
    )


def _set_arms(arms: Sequence[ArmChoice]) -> None:
    st.session_state[_TIMES_SET] = st.session_state.get(_TIMES_SET, 0) + 1
    for index, arm in enumerate(arms):
        for field in _ARM_FIELDS:
            st.session_state[arm_key(index, field)] = getattr(arm, field)


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


def load(prompt: Prompt, sampling: Sampling, arms: Sequence[ArmChoice], model: str | None) -> None:
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
    model_field.use(model)
    fit_arms(now := model_field.chosen())
    st.session_state[_FITTED] = (now.text, now.offer)
    off = [ArmChoice()] * (MAX_ARMS - len(arms))
    _set_arms([*(_with_known_draft(arm, now.offer) for arm in arms), *off])


def _with_known_draft(arm: ArmChoice, offer: Offer) -> ArmChoice:
    """A draft that a run was stored with is known by its folder's name."""
    if arm.draft and Path(arm.draft).name == offer.usual.get(Method(arm.method)):
        return replace(arm, draft="")
    offered = offer.drafts_at(arm.place, arm.method)
    known = [one for one in offered if arm.draft and Path(one).name == Path(arm.draft).name]
    return replace(arm, draft=known[0]) if known else arm


def use_server(url: str, method: str, k: int | None) -> None:
    """Give a server an arm: one that is switched off, else the last; the page is opened next."""
    fit_arms(model_field.chosen())
    indexes = range(MAX_ARMS)
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


def take_method(index: int) -> None:
    """Give a newly chosen method the shape it is known for and the draft that fits (a callback)."""
    method = st.session_state[arm_key(index, "method")]
    st.session_state[arm_key(index, "shape")] = usual_shape(method)
    st.session_state[arm_key(index, "draft")] = ""


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
