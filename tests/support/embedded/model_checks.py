"""Random texts and trees, and when two rows of numbers are the same."""

from __future__ import annotations

import inspect
import sys
import textwrap
from typing import Any

import pytest
import torch
from hypothesis import strategies as st
from torch import Tensor

from specviz.trace import ROOT

TOLERANCE = 2e-5
"""Of the largest logit's size: float32 with sums in another order."""


def tokens(count: int, vocabulary: int = 48, seed: int = 1) -> list[int]:
    """A random text."""
    generator = torch.Generator().manual_seed(seed)
    drawn: list[int] = torch.randint(2, vocabulary, (count,), generator=generator).tolist()
    return drawn


def assert_close(ours: Tensor, theirs: Tensor) -> None:
    assert ours.shape == theirs.shape
    worst = float((ours - theirs).abs().max())
    assert worst <= TOLERANCE * max(1.0, float(theirs.abs().max())), worst


@st.composite
def trees(draw: st.DrawFn) -> tuple[tuple[int, ...], list[int]]:
    """Parents, and the tokens of the root and the nodes."""
    count = draw(st.integers(1, 12))
    parents = tuple(draw(st.integers(ROOT, node - 1)) for node in range(count))
    return parents, draw(st.lists(st.integers(2, 47), min_size=count + 1, max_size=count + 1))


def branch(parents: tuple[int, ...], node: int) -> list[int]:
    """The nodes from the first level down to `node`."""
    found: list[int] = []
    while node != ROOT:
        found.insert(0, node)
        node = parents[node]
    return found


def mutate(monkeypatch: pytest.MonkeyPatch, owner: Any, function: str, old: str, new: str) -> None:
    """Replace `old` by `new` in the source of a module's function or of a class's method."""
    source = textwrap.dedent(inspect.getsource(getattr(owner, function)))
    assert source.count(old) == 1, f"{function} no longer says {old!r}: adapt this mutation"
    module = owner if inspect.ismodule(owner) else sys.modules[owner.__module__]
    made: dict[str, Any] = {}
    exec(compile(source.replace(old, new), function, "exec"), vars(module), made)
    monkeypatch.setattr(owner, function, made[function])
