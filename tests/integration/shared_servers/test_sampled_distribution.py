"""Losslessness at temperature > 0: what a speculating server samples is the target's distribution.

For every sampled sequence the exact distribution of its tokens 2 to 4, given what came before, is
computed with transformers in the same dtype. Sampled and expected counts are compared in two
groupings of the vocabulary, each of which has few bins, so that 3000 tokens suffice whatever the
weights: by rank in the exact distribution (a wrong temperature moves mass between ranks) and by
token id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import httpx2
import pytest
import torch
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

from specviz.methods import Method
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.server import Server
from specviz.servers.vllm.dialect import LAUNCHER
from tests.support.demo_models import DEMO_DRAFT, DEMO_TARGET

pytestmark = [pytest.mark.integration, pytest.mark.timeout(900)]

TEMPERATURE = 0.8
# The target has read this often, and hundreds of names follow. After tokens that mean nothing to it
# rounding alone moves its probabilities by 0.02.
BEGINNING = "<|user|>Write a Python function `"
CHOICES = 96  # sequences per request; with four requests under way the batch is always full
POSITIONS = (1, 2, 3)  # the 2nd to 4th token: the first comes from the prefill, unspeculated
BF16_ALLOWANCE = 0.01
"""Total variation that rounding alone may cause between two bf16 implementations."""


@dataclass(frozen=True)
class Grouped:
    """Sampled and expected share per bin, both summing to 1."""

    sampled: torch.Tensor
    expected: torch.Tensor

    @property
    def total_variation(self) -> float:
        return 0.5 * float((self.sampled - self.expected).abs().sum())

    def noise(self, num_samples: int) -> float:
        """Total variation that chance alone exceeds once in a thousand times."""
        generator = torch.Generator().manual_seed(0)
        draws = torch.multinomial(
            self.expected.expand(1000, -1), num_samples, replacement=True, generator=generator
        )
        bins = len(self.expected)
        shares = torch.stack([torch.bincount(draw, minlength=bins) for draw in draws]) / num_samples
        return float((0.5 * (shares - self.expected).abs().sum(1)).max())


@pytest.fixture
def unfixed_server(
    start: Callable[[ServerSpec], Server], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Server]:
    monkeypatch.setenv("SPECVIZ_NO_FIXES", "1")
    server = start(ServerSpec(LAUNCHER, str(DEMO_TARGET), Method.DRAFT_MODEL, str(DEMO_DRAFT), 4))
    yield server
    server.stop()


@pytest.mark.slow
def test_sampled_tokens_follow_the_targets_distribution(draft_server: Server) -> None:
    probs, sampled = exact(sample(draft_server, 11 * CHOICES))
    for grouped in (by_rank(probs, sampled), by_token_id(probs, sampled)):
        assert grouped.total_variation < grouped.noise(len(sampled)) + BF16_ALLOWANCE


@pytest.mark.slow
def test_without_the_fix_the_same_test_sees_the_defect(unfixed_server: Server) -> None:
    handshake = httpx2.get(f"{unfixed_server.url}/specviz/handshake").json()
    assert handshake["fixes"] == []
    probs, sampled = exact(sample(unfixed_server, 8 * CHOICES))
    grouped = by_rank(probs, sampled)
    assert grouped.total_variation > 2 * (grouped.noise(len(sampled)) + BF16_ALLOWANCE)


def sample(server: Server, num_sequences: int) -> torch.Tensor:
    """Token ids [num_sequences, 4] sampled after the same prompt."""
    with ThreadPoolExecutor(4) as pool:
        answers = pool.map(lambda _: _sample_once(server), range(num_sequences // CHOICES))
        return torch.tensor([ids for answer in answers for ids in answer])


def _sample_once(server: Server) -> list[list[int]]:
    body = {
        "model": server.spec.model,
        "prompt": BEGINNING,
        "add_special_tokens": False,
        "n": CHOICES,
        "max_tokens": 1 + len(POSITIONS),
        "temperature": TEMPERATURE,
        "ignore_eos": True,
        "return_token_ids": True,
    }
    response = httpx2.post(f"{server.url}/v1/completions", json=body, timeout=120.0)
    response.raise_for_status()
    return [choice["token_ids"] for choice in response.json()["choices"]]


def by_rank(probs: torch.Tensor, sampled: torch.Tensor) -> Grouped:
    """Bins: rank 1, 2-3, 4-7, … in the exact distribution of each position."""
    ranks = probs.argsort(dim=-1, descending=True).argsort(dim=-1)
    bins = (ranks + 1).log2().floor().long()
    return _grouped(bins, probs, sampled)


def by_token_id(probs: torch.Tensor, sampled: torch.Tensor, num_bins: int = 16) -> Grouped:
    """Bins: token id modulo `num_bins`."""
    bins = (torch.arange(probs.shape[-1]) % num_bins).expand_as(probs)
    return _grouped(bins, probs, sampled)


def _grouped(bins: torch.Tensor, probs: torch.Tensor, sampled: torch.Tensor) -> Grouped:
    num_bins = int(bins.max()) + 1
    expected = torch.zeros(num_bins).index_add_(0, bins.flatten(), probs.flatten())
    hits = torch.bincount(bins.gather(1, sampled.unsqueeze(1)).flatten(), minlength=num_bins)
    return Grouped(hits / hits.sum(), expected / expected.sum())


@torch.inference_mode()
def exact(sequences: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Exact distributions [n, V] of every sampled position, and the ids [n] that were sampled."""
    model = AutoModelForCausalLM.from_pretrained(DEMO_TARGET, dtype=torch.bfloat16)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(DEMO_TARGET)
    beginning = torch.tensor(tokenizer.encode(BEGINNING, add_special_tokens=False))
    probs = []
    for batch in sequences.split(512):
        prompt = beginning.expand(len(batch), -1)
        logits = model(torch.cat([prompt, batch[:, :-1]], dim=1), logits_to_keep=len(POSITIONS))
        probs.append((logits.logits.float() / TEMPERATURE).softmax(-1))
    return torch.cat(probs).flatten(0, 1), sequences[:, list(POSITIONS)].flatten()
