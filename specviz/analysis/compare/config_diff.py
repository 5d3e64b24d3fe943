"""Configurations side by side: what differs, and what is the same in all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from specviz.analysis.benchmark.results import load_text
from specviz.config import UNSTORED_DTYPE, EngineKind, RunConfig

Facts = Mapping[str, str | None]
"""Field by field as text; None: it has none. A missing field is unknown."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field and its value in each configuration; None: none, or unknown."""

    name: str
    values: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class ConfigDiff:
    """Fields in the order in which they were first given."""

    differing: tuple[Field, ...]
    same: tuple[Field, ...]


def config_diff(configs: Sequence[Facts]) -> ConfigDiff:
    """A field differs if two configurations that have it hold different values."""
    differing: list[Field] = []
    same: list[Field] = []
    for name in dict.fromkeys(name for facts in configs for name in facts):
        known = {facts[name] for facts in configs if name in facts}
        field = Field(name, tuple(facts.get(name) for facts in configs))
        (differing if len(known) > 1 else same).append(field)
    return ConfigDiff(tuple(differing), tuple(same))


def facts_of_runs(configs: Sequence[RunConfig]) -> list[dict[str, str | None]]:
    """Everything needed to do each run again, in the words of the pages."""
    options = sorted({name for config in configs for name in config.options})
    return [
        _facts_of(config) | {f"option {name}": _option(config, name) for name in options}
        for config in configs
    ]


def _option(config: RunConfig, name: str) -> str | None:
    is_embedded = config.engine is EngineKind.EMBEDDED
    unstored = UNSTORED_DTYPE if name == "dtype" and is_embedded else None
    return config.options.get(name, unstored)


def _facts_of(config: RunConfig) -> dict[str, str | None]:
    sampling = config.sampling
    return {
        "method": config.method and config.method.value,
        "K": _text(config.k),
        "draft": config.draft,
        "model": config.model,
        "engine": config.engine.value,
        "engine version": config.server_version,
        "server": config.server_url,
        "temperature": f"{sampling.temperature:g}",
        "top-p": f"{sampling.top_p:g}",
        "top-k": str(sampling.top_k) if sampling.top_k else "off",
        "K asked for": _text(sampling.spec_k),
        "longest answer, tokens": _text(sampling.max_tokens),
        "seed": _text(sampling.seed),
        "load": load_text(config.concurrency or None, config.request_rate)
        if config.concurrency or config.request_rate
        else None,
        "prompts": config.prompt_set,
        "traced": "yes" if config.traced else "no",
        "hardware": config.hardware,
        "git revision of specviz": config.git_revision,
    }


def _text(value: int | None) -> str | None:
    return None if value is None else str(value)
