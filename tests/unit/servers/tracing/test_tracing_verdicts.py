"""What is gathered from the sampler's tensors, against the plain formulae."""

from __future__ import annotations

import pytest
import torch

from specviz.servers.vllm.tracing.verdicts import TOP, SamplerView, judged_rows

VOCABULARY = 32
COUNTS = [2, 0, 3]  # draft tokens of three requests


def view(*, sampled: bool, drafts: bool = True) -> SamplerView:
    generator = torch.Generator().manual_seed(3)
    logits = torch.randn(5, VOCABULARY, generator=generator)
    uniform = torch.rand(5, generator=generator, dtype=torch.float64)
    return SamplerView(
        draft_token_ids=torch.tensor([4, 9, 1, 30, 0], dtype=torch.int32),
        num_draft_tokens=COUNTS,
        draft_probs=torch.rand(5, VOCABULARY, generator=generator) if drafts else None,
        target_logits=logits,
        target_probs=(logits / 0.7).softmax(-1) if sampled else None,
        uniform=uniform if sampled else None,
    )


@pytest.mark.parametrize("rows", [[0, 2], [2], [0]])
def test_each_row_gets_its_own_tokens(rows: list[int]) -> None:
    tokens = {0: [4, 9], 2: [1, 30, 0]}
    assert [judged.drafted for judged in judged_rows(view(sampled=True), rows)] == [
        tokens[row] for row in rows
    ]


def test_sampled_rows_carry_the_samplers_own_numbers() -> None:
    tensors = view(sampled=True)
    (judged,) = judged_rows(tensors, [2])
    ids = [1, 30, 0]
    target = [tensors.target_probs[2 + i, token].item() for i, token in enumerate(ids)]
    draft = [tensors.draft_probs[2 + i, token].item() for i, token in enumerate(ids)]
    assert judged.target_probs == target and judged.draft_probs == draft
    assert judged.uniform == tensors.uniform[2:].float().tolist()
    ratios = torch.tensor(target) / torch.tensor(draft)
    assert judged.ratios == ratios.tolist()


def test_a_draft_without_probabilities_is_judged_by_the_target_alone() -> None:
    (judged,) = judged_rows(view(sampled=True, drafts=False), [0])
    assert judged.draft_probs is None and judged.ratios == judged.target_probs


def test_a_draft_probability_of_zero_is_rejected_as_in_the_kernel() -> None:
    tensors = view(sampled=True)
    tensors.draft_probs[0, 4] = 0.0
    (judged,) = judged_rows(tensors, [0])
    assert judged.ratios is not None and judged.ratios[0] == 0.0


def test_greedy_rows_get_the_softmax_of_their_logits() -> None:
    tensors = view(sampled=False, drafts=False)
    (judged,) = judged_rows(tensors, [0])
    expected = tensors.target_logits.softmax(-1)
    assert judged.target_probs == pytest.approx([expected[0, 4].item(), expected[1, 9].item()])
    assert judged.uniform is None and judged.ratios is None


def test_top_is_sorted_and_leads_with_the_first_choice() -> None:
    tensors = view(sampled=False, drafts=False)
    for judged in judged_rows(tensors, [0, 2]):
        for ids, probs in zip(judged.top_ids, judged.top_probs, strict=True):
            assert len(ids) == TOP and probs == sorted(probs, reverse=True)
    (first,) = judged_rows(tensors, [0])
    assert first.top_ids[0][0] == tensors.target_logits[0].argmax().item()
