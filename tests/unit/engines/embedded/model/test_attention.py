"""Layouts say who sees whom; attention over them is the plain formula."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from specviz.engines.embedded.attention import (
    MOST_ROWS,
    Layout,
    attend,
    chain_layout,
    tree_layout,
)
from specviz.engines.embedded.kv_cache import BLOCK
from tests.support.embedded.model_checks import branch, trees

LIKE = torch.zeros(1)


def seen(layout: Layout) -> list[set[int]]:
    """The slots that each row sees."""
    return [set(torch.where(row == 0)[0].tolist()) for row in layout.mask]


def positions(layout: Layout) -> list[int]:
    return layout.positions.tolist()


@given(st.integers(0, 200), st.integers(1, 50))
def test_chain_sees_all_before_it(start: int, count: int) -> None:
    layout = chain_layout(start, count, LIKE)
    assert positions(layout) == list(range(start, start + count))
    assert seen(layout) == [set(range(start + row + 1)) for row in range(count)]
    assert layout.slots % BLOCK == 0 and start + count <= layout.slots < start + count + BLOCK


@given(st.integers(0, 100), trees(), st.data())
def test_tree_nodes_see_the_context_and_their_ancestors(start: int, tree, data) -> None:
    parents, _ = tree
    read = data.draw(st.integers(0, len(parents)))
    layout = tree_layout(start, parents, LIKE, read=read)
    context = set(range(start + 1))  # the root is the first of the new slots
    branches = [branch(parents, node) for node in range(-1, len(parents))][read:]
    assert seen(layout) == [context | {start + 1 + above for above in b} for b in branches]
    assert positions(layout) == [start + len(b) for b in branches]


@pytest.mark.parametrize("count", [1, 5, MOST_ROWS, MOST_ROWS + 1, 60])
@pytest.mark.parametrize("start", [0, 30, 100])
def test_attention_is_the_formula(start: int, count: int) -> None:
    torch.manual_seed(0)
    heads, kv_heads, size = 6, 2, 8
    layout = chain_layout(start, count, LIKE)
    query = torch.randn(count, heads, size)
    keys, values = torch.randn(2, kv_heads, 256, size)
    out = attend(query, keys, values, layout).view(count, heads, size)
    for head in range(heads):
        k, v = keys[head // 3, : layout.slots], values[head // 3, : layout.slots]
        scores = query[:, head] @ k.T / size**0.5 + layout.mask
        assert torch.allclose(out[:, head], scores.softmax(-1) @ v, atol=1e-5)


@given(st.integers(0, 150), st.integers(2, MOST_ROWS), st.integers(0, 1000))
def test_bfloat16_rows_are_the_same_alone_and_together(start: int, count: int, seed: int) -> None:
    torch.manual_seed(seed)
    query = torch.randn(count, 6, 64).bfloat16()
    keys, values = torch.randn(2, 2, 256, 64).bfloat16()
    together = attend(query, keys, values, chain_layout(start, count, keys))
    for row in range(count):
        alone = attend(query[row : row + 1], keys, values, chain_layout(start + row, 1, keys))
        assert torch.equal(together[row], alone[0]), _difference(together[row], alone[0])


def _difference(one: Tensor, other: Tensor) -> float:
    return float((one.float() - other.float()).abs().max())
