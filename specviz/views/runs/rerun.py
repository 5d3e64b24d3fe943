"""Running a stored run again: the command, and what would differ. Pure."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from specviz.config import UNSTORED_DTYPE, EngineKind, RunConfig, Sampling
from specviz.methods import Method
from specviz.models.kept import kept
from specviz.models.pair import default_draft, is_default
from specviz.views.shared.arm_choice import ASK, usual_shape

_UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)
"""Characters that a terminal obeys or does not show: they must not be pasted as they are."""

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The conditions of a run apart from its configuration; `prompt` is that of one request."""

    prompt: str
    category: str | None = None
    num_requests: int = 1
    is_of_benchmark: bool = False
    this_machine: str | None = None


def asked(config: RunConfig) -> RunConfig:
    """The configuration as a person asks for it: without what engine and machine reported, and
    without the names that specviz takes when none is given."""
    usual = is_of_default(config)
    embedded = config.engine is EngineKind.EMBEDDED
    return RunConfig(
        engine=config.engine,
        method=config.method or (Method.BASELINE if embedded else None),
        k=config.k,
        sampling=config.sampling,
        model=None if usual else config.model,
        draft=config.draft if embedded and not _is_default_draft(config) else None,
        server_url=None if embedded or usual else config.server_url,
        traced=config.traced,
        options=_options(config) if embedded else {},
    )


def _options(config: RunConfig) -> dict[str, str]:
    """With the dtype that the run had, also where it was stored without one."""
    has_run = config.server_version is not None
    return {"dtype": UNSTORED_DTYPE, **config.options} if has_run else config.options


def is_of_default(config: RunConfig) -> bool:
    """Whether the default model answered: in the app, or on a server that specviz can start."""
    is_default_model = is_default(config.model)
    if config.engine is EngineKind.EMBEDDED or config.server_url is None:
        return is_default_model
    host = urlsplit(config.server_url).hostname
    return (
        config.method is not None
        and config.model is not None
        and is_default_model
        and (host in _LOOPBACK)
    )


def command_of(config: RunConfig, prompt: str) -> str:
    """A `specviz run` line that asks for the same, safe to paste into bash or zsh."""
    wanted = asked(config)
    sampling = wanted.sampling
    given: list[tuple[str, object]] = [
        ("engine", wanted.engine.value if wanted.server_url is None else None),
        ("server", wanted.server_url),
        ("method", wanted.method and wanted.method.value),
        ("k", wanted.k),
        ("temperature", repr(float(sampling.temperature))),
        ("top-p", None if sampling.top_p == 1 else repr(float(sampling.top_p))),
        ("top-k", sampling.top_k or None),
        ("spec-k", sampling.spec_k),
        ("max-tokens", sampling.max_tokens),
        ("seed", sampling.seed),
        ("model", wanted.model),
        ("draft", wanted.draft),
        *(("option", f"{name}={value}") for name, value in sorted(wanted.options.items())),
    ]
    words = [f"--{name} {quoted(str(value))}" for name, value in given if value is not None]
    if not wanted.traced:
        words.append("--no-trace")
    return " ".join(["specviz run", *words, f"--prompt {quoted(prompt)}"])


def quoted(text: str) -> str:
    """One shell word. What a terminal would obey is spelled as `$'...'`; NUL cannot be a word's."""
    text = text.replace("\0", "")
    if not _UNSEEN.search(text):
        return shlex.quote(text)
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return "$'" + _UNSEEN.sub(_spelled, escaped) + "'"


def differences(config: RunConfig, at: Circumstances) -> list[str]:
    """Differences however the run is repeated, in sentences."""
    found = [*_of_the_engine(config), *_of_the_load(config, at)]
    if config.sampling.temperature > 0 and config.sampling.seed is None:
        found.append("No seed was set: above temperature 0 the tokens are drawn again.")
    if config.hardware and at.this_machine and config.hardware != at.this_machine:
        found.append(f"It ran on {config.hardware}; here is {at.this_machine}: times will differ.")
    return found


def command_differences(config: RunConfig, at: Circumstances) -> list[str]:
    """What the command cannot repeat."""
    found = differences(config, at)
    if at.category:
        found.append(f"The prompt is stored as a typed one, without its category {at.category}.")
    if "\0" in at.prompt:
        found.append(
            "The prompt holds NUL characters, which no command line can: they are left out."
        )
    return found


def live_differences(config: RunConfig, on_live: RunConfig, at: Circumstances) -> list[str]:
    """What Live's controls cannot be set to; `on_live` is what they would ask for."""
    wanted, got = _settings(asked(config)), _settings(asked(on_live))
    return differences(config, at) + [
        f"Live has {name} {got[name] or 'unset'} instead of {value or 'unset'}."
        for name, value in wanted.items()
        if got[name] != value
    ]


def _settings(config: RunConfig) -> dict[str, str]:
    sampling: Sampling = config.sampling
    usual = {"dtype": "auto", "device": "auto", "draft_sampling": "sampled"}
    options = {**usual, "acceptance": "exact", "shape": "auto", **config.options}
    if options["shape"] == "auto":
        options["shape"] = usual_shape(config.method.value if config.method else ASK)
    settings = {
        "K": str(config.k or ""),
        "temperature": f"{sampling.temperature:g}",
        "top-p": f"{sampling.top_p:g}",
        "top-k": str(sampling.top_k or "off"),
        "K asked for": "" if sampling.spec_k is None else str(sampling.spec_k),
        "longest answer": str(sampling.max_tokens),
        "seed": "" if sampling.seed is None or not sampling.temperature else str(sampling.seed),
        "model": config.model or "default",
        "draft": config.draft or "default",
        "tracing": "on" if config.traced else "off",
    }
    if config.engine is not EngineKind.EMBEDDED:
        return settings
    names = ("dtype", "device", "draft_sampling", "stop_below", "acceptance", "shape")
    return settings | {name.replace("_", " "): options.get(name, "") for name in names}


def _of_the_engine(config: RunConfig) -> list[str]:
    wanted = asked(config)
    if config.engine is EngineKind.EMBEDDED:
        return [
            f"Only the name of the {noun}'s folder is stored: put its path in place of {name}."
            for noun, name in (("model", wanted.model), ("draft", wanted.draft))
            if name and "/" not in name and not kept(name)
        ]
    found = []
    if wanted.server_url:
        found.append(f"A server must answer at {wanted.server_url} with this method and K.")
    elif config.server_url:
        found.append(
            f"specviz starts its own server, or takes the one it has; {config.server_url} "
            "answered then."
        )
    if config.options:
        names = ", ".join(sorted(config.options))
        found.append(f"A server's own options ({names}) are set when it starts, not here.")
    return found


def _of_the_load(config: RunConfig, at: Circumstances) -> list[str]:
    found = []
    if at.num_requests > 1:
        found.append(f"Only the request shown is asked again, of {at.num_requests:,} in the run.")
    if config.request_rate:
        found.append(f"It is asked alone: then {config.request_rate:g} requests came per second.")
    elif config.concurrency > 1:
        found.append(f"It is asked alone: then {config.concurrency} requests were in flight.")
    if at.is_of_benchmark:
        found.append(
            "In the benchmark it ran between requests to the other arms, and after the earlier "
            "turns of its conversation, if it has any: those are not asked again."
        )
    return found


def _is_default_draft(config: RunConfig) -> bool:
    if config.method is None or config.draft is None or not is_of_default(config):
        return False
    found = default_draft(config.method)
    return found is not None and Path(config.draft).name == found.name


def _spelled(character: re.Match[str]) -> str:
    if character[0] == "\n":
        return "\\n"
    return "".join(f"\\x{byte:02x}" for byte in character[0].encode())
