"""Options of the embedded engine, as `RunConfig.options` holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args, get_type_hints

from specviz.config import RunConfig
from specviz.errors import UsageError
from specviz.methods import METHODS, Method, Shape

COMPILED, LAID_OUT = "compiled kernels", "oneDNN's layout"
"""How products of a few rows are computed, where torch does not do it alone."""

MOST_ROWS = 33
"""Up to this many rows of a pass are a step's; more are a prompt's."""

SAME_ROWS = 8
"""Up to this many rows of bfloat16 are padded to as many, so that one kernel computes all of them
and a row's bits do not depend on its neighbours: oneDNN has another kernel for every number of
rows, and which of them add in the same order differs between processors. Reading the weights takes
most of the time, so padding costs little."""


@dataclass(frozen=True, slots=True)
class Options:
    """The choices that a method leaves open.

    `shape`: candidates as a chain or a tree; auto is the method's usual one (a tree for medusa,
    a chain for all others). `draft_sampling`: at temperature above 0 drafts are drawn from the
    drafter's distribution, or its best token is taken. `acceptance`: exact, or medusa's typical
    acceptance (arXiv 2401.10774, 2.3.1), which does not keep the target's distribution.
    `stop_below`: a chain ends before K where the product of the drafter's own probabilities would
    fall below it (draft_model, eagle, eagle3, layer_skip, mirror); 0 always drafts K tokens, as
    vLLM does. `device` auto is cuda where there is one. `dtype`: of weights and activations; auto
    is bfloat16 on CUDA, and on a CPU the one that `faster_dtype.py` measured to be faster.
    """

    shape: Literal["auto", Shape] = "auto"
    draft_sampling: Literal["sampled", "greedy"] = "sampled"
    acceptance: Literal["exact", "typical"] = "exact"
    dtype: Literal["auto", "bfloat16", "float32"] = "auto"
    stop_below: float = 0.0
    device: Literal["auto", "cpu", "cuda"] = "auto"


def settle(options: Options, method: Method) -> Options:
    """`options` with the shape that `method` will draft.

    Raises UsageError for a shape that the method cannot draft, and for typical acceptance with a
    method that was not published with it.
    """
    record = METHODS[method]
    if options.acceptance == "typical" and not record.has_typical_acceptance:
        raise UsageError(f"Typical acceptance is medusa's: leave it out with {method.value}.")
    shape = record.usual_shape if options.shape == "auto" else options.shape
    if shape not in record.shapes:
        names = ", ".join(name.value for name, other in METHODS.items() if shape in other.shapes)
        raise UsageError(f"{method.value} drafts no {shape}s: leave shape out, or use {names}.")
    return replace(options, shape=shape)


def engine_version(torch_version: str, dtype: str, device: str, products: str | None = None) -> str:
    """`torch 2.13.0 with compiled kernels, float32, cpu`: how stored runs name the engine."""
    by = f" with {products}" if products else ""
    return f"torch {torch_version}{by}, {dtype}, {device}"


def dtype_of(version: str | None) -> str | None:
    """The dtype in an `engine_version`; None for a server's version."""
    parts = (version or "").split(", ")
    return parts[1] if len(parts) == 3 and parts[0].startswith("torch ") else None


def repeats_plain(config: RunConfig) -> bool | None:
    """Whether greedy output has to be plain decoding's, bit for bit; None for plain decoding itself
    and where another program computes.

    Plain decoding computes one row a pass, verification several. Compiled kernels add every row in
    an order of its own; oneDNN's bfloat16 does in blocks of `SAME_ROWS` rows, and only for chains,
    because nodes of a tree read other slots. In all other cases a near tie can go either way.
    """
    version, method = config.server_version or "", config.method
    if method is None or method is Method.BASELINE or dtype_of(version) is None:
        return None
    rows = 1 + (config.k or 0)
    if COMPILED in version:
        return rows <= MOST_ROWS
    is_chain = config.options.get("shape", "chain") == "chain"
    in_blocks = LAID_OUT in version and dtype_of(version) == "bfloat16"
    return in_blocks and is_chain and rows <= SAME_ROWS


def parse_options(given: Mapping[str, str]) -> Options:
    """The options by name. Raises UsageError for an unknown name or value."""
    hints = get_type_hints(Options)
    unknown = given.keys() - hints.keys()
    if unknown:
        known = ", ".join(field.name for field in fields(Options))
        raise UsageError(f"There is no option {min(unknown)!r}: use one of {known}.")
    values = {name: _value(name, hints[name], text) for name, text in given.items()}
    return Options(**values)


def _value(name: str, hint: Any, text: str) -> Any:
    if hint is float:
        return _share(name, text)
    if text not in get_args(hint):
        raise UsageError(f"{name} cannot be {text!r}: use one of {', '.join(get_args(hint))}.")
    return text


def _share(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < 1.0:
        raise UsageError(f"{name} must be a number from 0 to below 1, not {text!r}.")
    return value
