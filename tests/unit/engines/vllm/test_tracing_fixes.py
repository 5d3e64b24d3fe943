"""The fixes are applied to the defect and to nothing else."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from specviz.engines.vllm.tracing import fixes


def stock_expand(x: torch.Tensor, counts: torch.Tensor, num_tokens: int, **_: int) -> torch.Tensor:
    """What the CPU build's kernel does: the result is never written."""
    return torch.zeros(num_tokens, dtype=x.dtype)


def test_the_expand_defect_is_recognised() -> None:
    assert fixes.expands_wrongly(stock_expand)
    assert not fixes.expands_wrongly(fixes.expand_batch_to_tokens)


def test_expansion_repeats_each_request_for_its_tokens() -> None:
    batch = torch.tensor([0.5, 0.0, 2.0])
    counts = torch.tensor([2, 2, 5], dtype=torch.int32)  # cumulative: 2, 0 and 3 tokens
    expanded = fixes.expand_batch_to_tokens(batch, counts, 5, replace_from=0, replace_to=1)
    assert expanded.tolist() == [0.5, 0.5, 2.0, 2.0, 2.0]


def test_greedy_temperatures_become_one() -> None:
    expanded = fixes.expand_batch_to_tokens(
        torch.tensor([0.0, 0.7]), torch.tensor([1, 2]), 2, replace_from=0, replace_to=1
    )
    assert expanded.tolist() == pytest.approx([1.0, 0.7])


def test_integers_keep_their_type() -> None:
    expanded = fixes.expand_batch_to_tokens(
        torch.tensor([5, 9], dtype=torch.int32), torch.tensor([1, 3]), 3
    )
    assert expanded.dtype == torch.int32 and expanded.tolist() == [5, 9, 9]


def test_the_empty_top_k_defect_is_recognised() -> None:
    def stock(logits: Any, k: Any, p: Any) -> Any:
        k.max()
        return logits

    assert fixes.fails_without_rows(stock)
    assert not fixes.fails_without_rows(lambda logits, k, p: logits)


def test_empty_batches_pass_through_and_others_are_constrained() -> None:
    constrain = fixes.unless_empty(lambda logits, counts, metadata: logits + 1)
    empty, full = torch.empty(0, 4), torch.zeros(1, 4)
    assert constrain(empty, None, None) is empty
    assert constrain(full, None, None).tolist() == [[1.0] * 4]


def test_nothing_is_touched_on_a_gpu_or_when_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fixes.apply_fixes("cuda") == []
    monkeypatch.setenv(fixes.SWITCH, "1")
    assert fixes.apply_fixes("cpu") == []
