"""Muon against torch's own, whose number format is all that differs."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from specviz.training.muon import Muon, orthogonalised

SHAPES = [(48, 48), (24, 96), (96, 24)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_all_directions_become_about_equally_long(shape: tuple[int, int]) -> None:
    torch.manual_seed(1)
    stretched = torch.randn(shape) * torch.linspace(0.2, 20, shape[1])
    lengths = torch.linalg.svdvals(orthogonalised(stretched))
    assert lengths.max() < 1.3
    assert lengths.quantile(0.1) > 0.6  # a square matrix has some that are almost zero


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_its_steps_are_those_of_torch(shape: tuple[int, int]) -> None:
    torch.manual_seed(2)
    start = torch.randn(shape)
    ours, theirs = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    mine = Muon([ours], lr=0.02, momentum=0.95, weight_decay=0.05)
    torchs = torch.optim.Muon(
        [theirs], lr=0.02, momentum=0.95, weight_decay=0.05, adjust_lr_fn="match_rms_adamw"
    )
    for _ in range(4):
        gradient = torch.randn(shape)
        for parameter, optimizer in ((ours, mine), (theirs, torchs)):
            parameter.grad = gradient.clone()
            optimizer.step()
    moved = (theirs - start).norm()
    assert (ours - theirs).norm() < 0.03 * moved  # bfloat16 has three digits


def test_a_matrix_without_a_gradient_stays() -> None:
    parameter = nn.Parameter(torch.ones(3, 4))
    Muon([parameter], lr=1.0).step()
    assert torch.equal(parameter, torch.ones(3, 4))
