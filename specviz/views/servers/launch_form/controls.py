"""The form's controls: what is to be served, and how. Their answer is a `Request`."""

from __future__ import annotations

import shlex

import streamlit as st

from specviz.config import EngineKind
from specviz.deploy.frameworks import BACKENDS, NAMES, framework_of, served_methods
from specviz.deploy.request import Request, Use, may_have_draft, needs_draft
from specviz.errors import UsageError
from specviz.methods import VLLM, Method
from specviz.models.kept import folder_of
from specviz.models.pair import default_model, draft_for
from specviz.servers.kinds import LAUNCHERS, is_started
from specviz.views.servers.launch_form import state
from specviz.views.shared.caller import is_own_user
from specviz.views.shared.url_controls import bound, kept

_TARGET, _DRAFT = "TARGET", "DRAFT"
"""They stand for names that were not typed yet."""

USUAL_K = 5
K_HELP = "Draft tokens that the target verifies per step; empty leaves it to the framework."
USES_HELP = "What your requests use. Left empty, every known problem is listed."
TITLES = {name: framework_of(name).title for name in NAMES} | {"triton": "Triton"}
USE_NAMES = {
    Use.SAMPLING: "a temperature above 0",
    Use.MIN_P: "min_p",
    Use.LOGIT_BIAS: "logit_bias",
    Use.LOGPROBS: "log-probabilities",
    Use.STRUCTURED_OUTPUT: "structured output",
    Use.TOOL_CALLS: "tool calls",
    Use.PENALTIES: "penalties",
    Use.IMAGES: "images",
}


def choose_request() -> Request:
    """Draws the controls. Raises UsageError for answers that cannot be, with what to do."""
    framework, backend, version = _software()
    target, method, draft, k = _models(framework)
    with st.popover("Sizes, requests, flags", icon=":material/tune:"):
        tensor, pipeline, data = _sizes()
        topk, depth = _tree()
        port = st.number_input("Port", 1, 65_535, None, placeholder="its own", **kept(state.PORT))
        uses = st.multiselect(
            "Requests use",
            list(Use),
            format_func=lambda use: USE_NAMES[Use(use)],
            placeholder="not known",
            help=USES_HELP,
            **kept(state.USES),
        )
        extra = _flags(framework)
    return Request(
        framework=framework,
        model=target,
        method=method,
        draft=draft,
        version=version,
        k=k,
        topk=topk,
        depth=depth,
        tensor_parallel=tensor,
        pipeline_parallel=pipeline,
        data_parallel=data,
        port=port,
        backend=backend,
        uses=frozenset(map(Use, uses)) or None,
        extra=extra,
    )


def is_unnamed(model: str | None) -> bool:
    """Whether a request's model stands for a name that was not typed."""
    return (model or "").removesuffix(".gguf") in (_TARGET, _DRAFT)


def first_method(target: str, draft: str) -> str:
    """draft_model where a draft is named, or one for the target is here; else ngram."""
    if draft.strip():
        return Method.DRAFT_MODEL.value
    folder = folder_of(target.strip() or default_model())
    fits = is_own_user() and draft_for(folder, Method.DRAFT_MODEL)
    return (Method.DRAFT_MODEL if fits else Method.NGRAM).value


def _offer_a_method() -> None:
    """A method whose draft cannot be had gives way once another target is typed (a callback)."""
    answers = st.session_state
    if needs_draft(answers[state.METHOD]):
        typed = answers.get(state.DRAFT) or ""
        answers[state.METHOD] = first_method(answers[state.TARGET] or "", typed)


def _software() -> tuple[str, str | None, str]:
    """Framework, Triton's back end, version."""
    with st.container(horizontal=True):
        framework = st.pills(
            "Framework",
            NAMES,
            default=VLLM,
            required=True,
            format_func=TITLES.__getitem__,
            **bound(state.FRAMEWORK),
        )
        backend = None
        if framework == "triton":
            backend = st.selectbox(
                "Back end",
                BACKENDS,
                format_func=TITLES.__getitem__,
                width=150,
                **bound(state.BACKEND),
            )
        version = st.selectbox(
            "Version" if backend is None else "Its version",
            framework_of(framework, backend).versions[::-1],
            accept_new_options=True,
            width=130,
            **kept(state.version_key(framework, backend)),
        )
    return framework, backend, version


def _models(framework: str) -> tuple[str, str, str | None, int | None]:
    """Target, method, draft, K. Names that are not typed yet are stood for."""
    target_at, method_at, draft_at, k_at = st.columns([3, 1.5, 3, 1], vertical_alignment="bottom")
    ending = ".gguf" if framework == "llama.cpp" else ""
    hint = "file.gguf, folder or OWNER/NAME" if ending else "folder or OWNER/NAME"
    target = target_at.text_input(
        "Target",
        placeholder=f"{default_model()} (or {hint})",
        on_change=_offer_a_method,
        **bound(state.TARGET),
    )
    methods = served_methods()
    first = first_method(target, st.session_state.get(state.DRAFT) or "")
    method = method_at.selectbox("Method", methods, methods.index(first), **bound(state.METHOD))
    draft = None
    if may_have_draft(method):
        typed = draft_at.text_input(
            "Draft", placeholder=f"one that fits (or {hint})", **bound(state.DRAFT)
        )
        draft = typed.strip() or (None if method == "mtp" else _DRAFT + ending)
    k = None
    if method != Method.BASELINE:
        k = k_at.number_input(
            "K", 1, 64, USUAL_K, placeholder="its own", help=K_HELP, **kept(state.K)
        )
    return target.strip() or _TARGET + ending, method, draft, k


def _flags(framework: str) -> tuple[str, ...]:
    kind = EngineKind(framework)
    typed = st.text_input(
        "More flags",
        placeholder=LAUNCHERS[kind].a_flag if is_started(kind) else "",
        **kept(state.FLAGS),
    )
    try:
        return tuple(shlex.split(typed))
    except ValueError as error:
        raise UsageError(f"The flags are no command line: {error}.") from error


def _sizes() -> tuple[int, int, int]:
    """Tensor, pipeline and data parallel sizes."""
    names = {"Tensor": state.TENSOR, "Pipeline": state.PIPELINE, "Data": state.DATA}
    st.markdown("**Parallel sizes**")
    columns = st.columns(3)
    tensor, pipeline, data = (
        column.number_input(name, 1, 1024, 1, **kept(key))
        for column, (name, key) in zip(columns, names.items(), strict=True)
    )
    return tensor, pipeline, data


def _tree() -> tuple[int, int | None]:
    """Top-k, and the depth where that makes a tree."""
    topk_at, depth_at = st.columns(2)
    topk = topk_at.number_input("Top-k, a tree above 1", 1, 64, 1, **kept(state.TOPK))
    if topk == 1:
        return 1, None
    return topk, depth_at.number_input("Depth of the tree", 1, 64, 3, **kept(state.DEPTH))
