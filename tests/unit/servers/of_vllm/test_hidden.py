"""What of a configuration keeps decisions out of a trace."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from specviz.servers.vllm.tracing.hidden import hidden_by


def config(speculative: SimpleNamespace | None) -> SimpleNamespace:
    return SimpleNamespace(speculative_config=speculative)


@pytest.mark.parametrize(
    "speculative",
    [None, SimpleNamespace(), SimpleNamespace(enable_adaptive_verification=False)],
)
def test_a_plain_server_hides_nothing(speculative: SimpleNamespace | None) -> None:
    assert hidden_by(config(speculative)) == []


def test_a_reason_is_a_sentence() -> None:
    (reason,) = hidden_by(config(SimpleNamespace(enable_adaptive_verification=True)))
    assert reason.startswith("Adaptive verification is on")
    assert reason.endswith(".")
