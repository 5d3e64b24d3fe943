"""The model that Live, Technique and Benchmark answer with: one field, and what it offers the arms.

One choice for all pages, kept in the session with the drafts that were typed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

import streamlit as st
from duckdb import DuckDBPyConnection
from streamlit.delta_generator import DeltaGenerator

from specviz.checkpoints.config import MODEL_TYPES
from specviz.checkpoints.files.gguf import read_gguf
from specviz.checkpoints.folder import open_checkpoint
from specviz.checkpoints.format import DRAFTS_WITH, Format
from specviz.checkpoints.gguf_pair import gguf_in
from specviz.errors import UsageError
from specviz.methods import Method
from specviz.models.hub import is_hub_name
from specviz.models.kept import folder_of, kept, names
from specviz.models.packaged import NAME
from specviz.models.pair import default_model, default_name, drafts_for, fits, is_default
from specviz.paths import cache_folder
from specviz.runtime import current
from specviz.servers.client.probe import base_url
from specviz.views.shared.arm_choice import Offer, Place
from specviz.views.shared.caller import is_own_user
from specviz.views.shared.text import escaped

FIELD = "model"
RECENT = 6
TITLES = {NAME: "SmolLM2"}
HELP = (
    "A Hugging Face folder of this machine (Llama, Qwen2, Qwen3) opens in the app, on vLLM and on "
    "llama.cpp; a .gguf file on llama.cpp; a server's URL is asked what it runs."
)

DRAFT_HELP = "The drafts that fit the model, the first of them unless you choose; or type a folder."

_TYPED = "model_typed"
_DRAFTS = "model_drafts"
_HOST = re.compile(r"[\w.-]+:\d{1,5}(/\S*)?")


class Kind(StrEnum):
    """The kind of thing that a text names."""

    NAME = "name"  # of a model that is kept under it
    FOLDER = "folder"
    GGUF = "GGUF file"
    SERVER = "server"


@dataclass(frozen=True, slots=True)
class Model:
    """The model in the field. `problem`: why it cannot be used, in a sentence."""

    text: str
    offer: Offer
    problem: str | None = None

    @property
    def name(self) -> str | None:
        """The model of an arm: None for the default one, and for a server, which has its own."""
        return model_name(self.text)


def kind_of(text: str) -> Kind:
    """Without a look at the disk, except at the models that are kept under a name."""
    if "://" in text or _HOST.fullmatch(text):
        return Kind.SERVER
    if text.lower().endswith(".gguf"):
        return Kind.GGUF
    return Kind.NAME if text.casefold() == NAME or kept(text) else Kind.FOLDER


def typed(text: str | None) -> str:
    """The typed or pasted text without quotes and `~`; the default model if it is empty."""
    text = (text or "").strip().strip("'\"")
    if text.startswith("~"):
        text = str(Path(text).expanduser())
    usual = ("", default_model().casefold(), title(default_model()).casefold())
    return default_model() if text.casefold() in usual else text


def title(text: str) -> str:
    """A model as the field shows it: whole paths, because folders may have one name."""
    if text == default_model():
        return TITLES.get(text, default_name())
    return text


def model_name(text: str) -> str | None:
    """The model of an arm's configuration, None for the default one and that of a server."""
    return None if text == default_model() or kind_of(text) is Kind.SERVER else text


def problem_of(text: str) -> str | None:
    """Why a model cannot be used, in a sentence. Weights are not read."""
    kind = kind_of(text)
    try:
        if kind is Kind.SERVER:
            base_url(text)
        elif kind is Kind.GGUF:
            file = folder_of(text)
            _check_gguf(file, file.stat().st_mtime_ns if file.is_file() else 0)
        elif kind is Kind.FOLDER:
            _check_folder(folder_of(text))
    except UsageError as error:
        return str(error)
    except OSError as error:
        return f"{text} cannot be read ({error.strerror}): check the path."
    return None


def offer_of(text: str, drafts: tuple[str, ...] = ()) -> Offer:
    """The places and drafts for a model. `drafts`: folders and files that were typed, each for the
    methods that it fits."""
    kind = kind_of(text)
    if kind is Kind.SERVER:
        return Offer((Place.OFF, Place.URL), Place.OFF, server=text)
    target = folder_of(text)
    found = {method: [*map(str, drafts_for(target, method))] for method in DRAFTS_WITH}
    by_method = {
        method: ("" if index == 0 else draft for index, draft in enumerate(known))
        for method, known in found.items()
    }
    offered = {
        method: (*known, *(one for one in drafts if fits(Path(one), target, method)))
        for method, known in by_method.items()
    }
    usual = {method: Path(known[0]).name for method, known in found.items() if known}
    if kind is Kind.GGUF:
        places = (Place.OFF, Place.LLAMA_CPP, Place.URL)
        return Offer(places, Place.LLAMA_CPP, offered, usual)
    return Offer(drafts=offered, usual=usual)


def chosen() -> Model:
    """The model in the field, also on a page that does not show it."""
    text = st.session_state.setdefault(FIELD, default_model())
    if problem := _refusal(text) or problem_of(text):
        return Model(text, Offer(), problem)
    return Model(text, offer_of(text, tuple(st.session_state.get(_DRAFTS, ()))))


def _refusal(text: str) -> str | None:
    """A page that was opened with the token learns nothing of the machine's folders."""
    if model_name(text) is None or is_own_user():
        return None
    return "Models of the app's machine are for its own user: open the page there."


def model_field() -> Model:
    """The field, and why what it says cannot be used."""
    st.session_state.setdefault(FIELD, default_model())
    st.selectbox(
        "Model: choose one, or type a path or URL",
        options(),
        key=FIELD,
        format_func=title,
        accept_new_options=True,
        on_change=_take,
        help=HELP,
        persist_state="session",
    )
    model = chosen()
    if model.problem:
        st.caption(f":red[{escaped(model.problem)}]")
    return model


def draft_of_arm(
    column: DeltaGenerator, label: str, offer: Offer, place: Place, method: str, **common: Any
) -> None:
    """The drafts that fit the model, for an arm whose method needs one."""
    usual = offer.usual.get(Method(method), "none fits: name one")
    now = st.session_state.get(common["key"], "")
    column.selectbox(
        label,
        list(dict.fromkeys([*offer.drafts_at(place, method), now])),
        format_func=lambda draft: Path(draft or usual).name,
        accept_new_options=True,
        help=DRAFT_HELP,
        **common,
    )


def use(name: str | None) -> None:
    """Put a stored run's model into the field, None for the default one. A folder is stored by its
    name alone: a model that is known by it is taken."""
    known = [one for one in options() if name in (one, Path(one).name)]
    st.session_state[FIELD] = known[0] if known else typed(name)


def add_draft(draft: str, target: str) -> str:
    """Offer a typed draft to the arms. Raises UsageError for one that no method can use; returns a
    sentence on what it is for."""
    path = Path(typed(draft))
    if not path.exists():
        raise UsageError(f"There is no folder or file {path}: check the path.")
    methods = [one.value for one in DRAFTS_WITH if fits(path, folder_of(target), one)]
    if not methods:
        raise UsageError(
            f"{path.name} does not fit {title(target)}: `specviz doctor --draft {path} --target "
            f"{target}` says why."
        )
    _remember(_DRAFTS, str(path))
    return f"{path.name} fits: it is offered for {', '.join(methods)}."


def options() -> list[str]:
    """The default model, those that were typed, those of the latest runs, those that are kept."""
    said = [st.session_state.get(FIELD, default_model()), *st.session_state.get(_TYPED, ())]
    found = [default_model(), *said, *recent(current().store.read(read_models)), *_kept()]
    return list(dict.fromkeys(found))


def recent(models: list[str]) -> list[str]:
    """The models of stored runs that are here, the latest first."""
    root = str(cache_folder("models")) + "/"
    found = [one.removeprefix(root) for one in models if not is_default(one)]
    here = [one for one in found if kept(one) or (one.startswith("/") and Path(one).exists())]
    return list(dict.fromkeys(here))[:RECENT]


def read_models(cursor: DuckDBPyConnection) -> list[str]:
    """The models of runs, the latest first; those of the app by the names of their folders."""
    cursor.execute(
        "SELECT model FROM runs WHERE model IS NOT NULL AND deleted_at IS NULL "
        "GROUP BY model ORDER BY max(started_at) DESC LIMIT 50"
    )
    return [model for (model,) in cursor.fetchall()]


def _take() -> None:
    st.session_state[FIELD] = typed(st.session_state[FIELD])
    if not chosen().problem:
        _remember(_TYPED, st.session_state[FIELD])


def _remember(key: str, text: str) -> None:
    if text != default_model():
        st.session_state[key] = list(dict.fromkeys([text, *st.session_state.get(key, ())]))


def _kept() -> list[str]:
    return [name for name in names() if not is_default(name) and not problem_of(name)]


@lru_cache(maxsize=32)
def _check_gguf(file: Path, _changed: int) -> None:
    read_gguf(file)


def _check_folder(folder: Path) -> None:
    """Raises UsageError for what is missing or broken, or is none of a target."""
    if not folder.exists() and is_hub_name(str(folder)):
        raise UsageError(
            f"{folder} is not on this machine: fetch it with `specviz models get {folder}`, or "
            "name a folder."
        )
    if file := gguf_in(folder):
        raise UsageError(f"{folder} has no config.json: name its file {file.name}.")
    found = open_checkpoint(folder)
    if found.format is not Format.MODEL:
        raise UsageError(
            f"{folder} holds {found.format.value} weights, which draft for a target: name the "
            "target's folder."
        )
    model_type = str(found.config.get("model_type"))
    if model_type not in MODEL_TYPES:
        raise UsageError(
            f"The app opens {', '.join(MODEL_TYPES)}, and {folder} is {model_type}: start it on "
            "vLLM, under Arms."
        )
