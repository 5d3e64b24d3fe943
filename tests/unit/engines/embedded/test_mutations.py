"""A broken rule must not pass: each of these mistakes makes the exactness check fail.

A mistake is a change of one line of the verifier, made in memory; where that line is no longer
there the test says so.
"""

from __future__ import annotations

import inspect
import textwrap

import pytest
from exactness import CHAIN, TREE, Shape, problem

from specviz.engines.embedded import verify as verify_module

SAMPLES = 10_000
CERTAIN = 1e-8
"""A wrong rule is told from bad luck by this: far below the check's own threshold."""


def mutate(monkeypatch: pytest.MonkeyPatch, function: str, old: str, new: str) -> None:
    """Replace `old` by `new` in the source of a function of the verifier."""
    source = textwrap.dedent(inspect.getsource(getattr(verify_module, function)))
    assert source.count(old) == 1, f"{function} no longer says {old!r}: adapt this mutation"
    made: dict[str, object] = {}
    exec(compile(source.replace(old, new), function, "exec"), vars(verify_module), made)
    monkeypatch.setattr(verify_module, function, made[function])


MISTAKES: dict[str, tuple[Shape, bool, str, str, str]] = {
    "after a rejection the target itself is drawn from": (
        CHAIN,
        True,
        "residual",
        "left = (target - drawn_from).clamp_(min=0.0)",
        "left = target",
    ),
    "the residual is not cut at zero": (
        CHAIN,
        True,
        "residual",
        "(target - drawn_from).clamp_(min=0.0)",
        "(target - drawn_from).abs()",
    ),
    "a rejected pick stays possible": (
        CHAIN,
        False,
        "residual",
        "return without(target, token)",
        "return target",
    ),
    "the bonus token is the target's best": (
        CHAIN,
        True,
        "verify",
        "rest = target[node + 1]",
        "rest = (target[node + 1] == target[node + 1].max()).float()",
    ),
    "the bonus token is drawn from the draft": (
        CHAIN,
        True,
        "verify",
        "rest = target[node + 1]",
        "rest = target[node + 1] if draft.distributions is None else draft.distributions[node]",
    ),
    "the bonus token is drawn after the wrong node": (
        CHAIN,
        True,
        "verify",
        "rest = target[node + 1]",
        "rest = target[node]",
    ),
    "children are judged by their parent's row": (
        TREE,
        True,
        "verify",
        "target[node + 1], sampler)",
        "target[max(node, 0)], sampler)",
    ),
    "u is held against accept_prob the wrong way": (
        CHAIN,
        True,
        "reject_exactly",
        "        if u <= accept_prob:",
        "        if u > accept_prob:",
    ),
    "accept_prob is the target's probability alone": (
        CHAIN,
        True,
        "reject_exactly",
        "float(rest[token]) / drawn_with",
        "float(rest[token])",
    ),
    "a picked token is accepted as if it had been drawn": (
        CHAIN,
        False,
        "reject_exactly",
        "1.0 if drawn_from is None",
        "draft.probs[child] if drawn_from is None",
    ),
    "the second drawn sibling is judged by the original target": (
        TREE,
        True,
        "reject_exactly",
        "rest = residual(rest, drawn_from, token)",
        "rest = residual(target, drawn_from, token)",
    ),
    "the second drawn sibling is judged by the target as it was": (
        TREE,
        True,
        "reject_exactly",
        "float(rest[token]) / drawn_with",
        "float(target[token]) / drawn_with",
    ),
    "the second picked sibling is judged by the target as it was": (
        TREE,
        False,
        "reject_exactly",
        "float(rest[token]) / drawn_with",
        "float(target[token]) / drawn_with",
    ),
    "siblings count as drawn with replacement": (
        TREE,
        True,
        "reject_exactly",
        "drawn_from = None if drawn_from is None else without(drawn_from, token)",
        "pass",
    ),
    "what is left of the draft is not renormalised": (
        TREE,
        True,
        "without",
        "return left / total if total > 0 else probs",
        "return left",
    ),
    "what a rejection leaves is not renormalised": (
        TREE,
        True,
        "residual",
        "return left / total if total > 0 else target",
        "return left if total > 0 else target",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake_is_noticed(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shape, drawn, function, old, new = MISTAKES[mistake]
    mutate(monkeypatch, function, old, new)
    check = problem(shape, drawn=drawn, temperature=1.3).check(SAMPLES)
    assert not check.passed
    assert check.p_value < CERTAIN or check.impossible, check


@pytest.mark.parametrize("drawn", [True, False])
@pytest.mark.parametrize("shape", [CHAIN, TREE])
def test_without_a_mistake_the_same_check_passes(shape: Shape, drawn: bool) -> None:
    assert problem(shape, drawn=drawn, temperature=1.3).check(SAMPLES).passed
