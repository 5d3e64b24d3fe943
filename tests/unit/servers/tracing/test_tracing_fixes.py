"""The fixes are applied to the defect and to nothing else."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from specviz.servers.vllm.tracing import fixes


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


def draft_unseeded(logits: Any, metadata: Any) -> tuple[Any, Any]:
    """Samples as vLLM does: from the global generator, whatever the request's seed."""
    probs = logits.softmax(-1)
    return probs.multinomial(1).squeeze(1), probs


def metadata(seed: int, temperature: float = 1.0) -> SimpleNamespace:
    return SimpleNamespace(
        all_greedy=False,
        all_random=True,
        temperature=torch.tensor([temperature, 1.0]),
        generators={0: torch.Generator().manual_seed(seed)},
    )


def test_drafts_that_ignore_seeds_are_recognised() -> None:
    assert fixes.ignores_seeds(draft_unseeded)
    assert not fixes.ignores_seeds(fixes.with_seeds(draft_unseeded))


def test_a_seed_repeats_its_drafts_and_follows_the_distribution() -> None:
    sample, logits = fixes.with_seeds(draft_unseeded), torch.tensor([[0.0, 1.0, 2.0]] * 2)
    drafts = [sample(logits, metadata(seed))[0][0].item() for seed in range(2000)]
    assert drafts[:200] == [sample(logits, metadata(seed))[0][0].item() for seed in range(200)]
    shares = torch.bincount(torch.tensor(drafts), minlength=3) / 2000
    assert shares.tolist() == pytest.approx(logits[0].softmax(-1).tolist(), abs=0.04)


def test_the_seed_of_a_greedy_request_is_not_drawn_from() -> None:
    greedy = metadata(3, temperature=0.0)
    before = greedy.generators[0].get_state()
    fixes.with_seeds(draft_unseeded)(torch.zeros(2, 3), greedy)
    assert torch.equal(before, greedy.generators[0].get_state())


def test_a_partial_prefill_leaves_its_seed_as_it_was() -> None:
    partial, complete = (torch.Generator().manual_seed(7) for _ in range(2))
    seeds = {0: partial, 1: complete}
    seen: list[list[int]] = []

    def sample() -> dict[int, float]:
        return {row: torch.rand(1, generator=seed).item() for row, seed in seeds.items()}

    runner = SimpleNamespace(
        input_batch=SimpleNamespace(generators=seeds),
        discard_request_mask=SimpleNamespace(np=np.array([True, False])),
        _sample=sample,
        _bookkeeping_sync=lambda: seen.append(list(seeds)),
    )
    fixes.rewind_by_state(runner)
    first = runner._sample()
    runner._bookkeeping_sync()
    assert seen == [[1]] and set(seeds) == {0, 1}
    second = runner._sample()
    assert first[0] == second[0] and first[1] != second[1]


def test_nothing_is_touched_on_a_gpu_or_when_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fixes.apply_fixes(SimpleNamespace(device=torch.device("cuda"))) == []
    monkeypatch.setenv(fixes.SWITCH, "1")
    assert fixes.apply_fixes(SimpleNamespace(device=torch.device("cpu"))) == []
