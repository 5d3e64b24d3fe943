"""Everything the Live page remembers between script runs, in one place.

Widget values live under the keys named here; what becomes of them is a frozen `LiveChoice`.
"""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from specviz.config import EngineKind, Method, Prompt, RunConfig, Sampling
from specviz.errors import UsageError
from specviz.prompts import load_prompts

JOB = "job"
PROMPT = "live_prompt"
CATEGORY = "live_category"
PICKED = "live_picked"  # the shipped prompt that the text came from
PROBLEM = "live_problem"

MAX_ARMS = 4
OFF = "off"
ASK = "as the server says"
METHODS = (Method.BASELINE, Method.DRAFT_MODEL, Method.NGRAM)
"""Methods for which this version ships what they need."""

DEFAULT_ARMS = ((Method.BASELINE.value, 5), (Method.DRAFT_MODEL.value, 5), (OFF, 5), (OFF, 5))
DEFAULT_CATEGORY = "code_generation"


@dataclass(frozen=True, slots=True)
class LiveChoice:
    """What the controls say. Raises nothing; `configs` does."""

    prompt_text: str
    temperature: float
    seed: int
    max_tokens: int
    at_once: bool
    arms: tuple[tuple[str, int, str], ...]  # method or OFF or ASK, K, server URL or ""

    def prompt(self) -> Prompt:
        """The prompt, with its id and category if it is a shipped one unchanged."""
        picked = st.session_state.get(PICKED)
        if isinstance(picked, Prompt) and picked.text == self.prompt_text:
            return picked
        return Prompt(self.prompt_text)

    def configs(self) -> list[RunConfig]:
        """One configuration per arm that is switched on. Raises UsageError for wrong values."""
        sampling = Sampling(self.temperature, 1.0, self.max_tokens, self.seed)
        return [
            _config(method, k, url.strip(), sampling)
            for method, k, url in self.arms
            if method != OFF
        ]


def _config(method: str, k: int, url: str, sampling: Sampling) -> RunConfig:
    if method == ASK and not url:
        raise UsageError(
            "An arm whose method the server decides needs that server's URL: paste it, or choose "
            "a method."
        )
    chosen = None if method == ASK else Method(method)
    speculates = chosen not in (None, Method.BASELINE)
    return RunConfig(
        engine=EngineKind.VLLM,
        method=chosen,
        k=k if speculates else None,
        sampling=sampling,
        server_url=url or None,
    )


def pick_prompt(step: int = 1) -> None:
    """Put the next shipped prompt of the chosen category into the text box (a callback)."""
    category = st.session_state.get(CATEGORY) or DEFAULT_CATEGORY
    try:
        prompts = load_prompts(category)
    except UsageError as error:
        st.session_state[PROBLEM] = str(error)
        return
    picked = st.session_state.get(PICKED)
    index = prompts.index(picked) + step if picked in prompts else 0
    st.session_state[PICKED] = prompts[index % len(prompts)]
    st.session_state[PROMPT] = st.session_state[PICKED].text


def ensure_prompt() -> None:
    """Begin with a prompt in the box, so that Run works at once."""
    if PROMPT not in st.session_state:
        pick_prompt()
