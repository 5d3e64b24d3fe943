"""The distance from the target's distribution, and its gradient, are torch's own."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from specviz.training.losses import divergence


@given(st.integers(0, 2**31), st.floats(0.01, 50), st.integers(1, 40), st.integers(2, 30))
def test_divergence_is_that_of_torch(seed: int, spread: float, rows: int, tokens: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    given_logits, target_logits = (
        (torch.randn(rows, tokens, generator=generator) * spread).double() for _ in range(2)
    )
    ours, theirs = (given_logits.clone().requires_grad_() for _ in range(2))
    wanted = target_logits.softmax(-1)
    found = divergence(ours.float(), wanted.float(), torch.special.entr(wanted).sum(-1))
    expected = functional.kl_div(theirs.log_softmax(-1), wanted, reduction="sum")
    assert torch.allclose(found.double(), expected, rtol=1e-3, atol=1e-2)
    (gradient,) = torch.autograd.grad(found, ours)
    (reference,) = torch.autograd.grad(expected, theirs)
    assert torch.allclose(gradient, reference, atol=1e-5)
