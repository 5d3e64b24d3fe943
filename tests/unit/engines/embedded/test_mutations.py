"""A broken rule must not pass: each of these mistakes makes the exactness check fail.

A mistake is a change of one line of the verifier or of the loop, made in memory; where that line
is no longer there the test says so.
"""

from __future__ import annotations

import pytest

from specviz.engines.embedded import verify as verify_module
from specviz.engines.embedded.decode import Decoder
from specviz.engines.embedded.proposers.chain_builder import ChainBuilder
from specviz.methods import Method
from tests.support.embedded.exactness import CHAIN, TREE, Check, Shape, problem
from tests.support.embedded.model_checks import mutate
from tests.support.embedded.tiny_family import Case, TinyFamily, check_case

SAMPLES = 10_000
CERTAIN = 1e-8
"""A wrong rule is separated from bad luck by this: far below the check's own threshold."""


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


def assert_failed(check: Check) -> None:
    assert not check.passed
    assert check.p_value < CERTAIN or check.impossible, check


@pytest.mark.parametrize(
    "mistake",
    [
        pytest.param(name, marks=[] if place == 0 else pytest.mark.slow)
        for place, name in enumerate(MISTAKES)
    ],
)
def test_mistake_is_noticed(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shape, drawn, function, old, new = MISTAKES[mistake]
    mutate(monkeypatch, verify_module, function, old, new)
    check = problem(shape, drawn=drawn, temperature=1.3).check(SAMPLES)
    assert_failed(check)


NOTICED_LATE = (
    "the cache keeps the first nodes, not those accepted",
    "a chain ends because of the token that was drawn",
    "drafts are not drawn from the distributions they are recorded with",
)
"""These take many samples: `make test-slow`."""

MEDUSA_TREE = Case(Method.MEDUSA, 1.3, 7, (("shape", "tree"),))
DRAFT_MODEL = Case(Method.DRAFT_MODEL, 1.3, 3)
IN_THE_LOOP: dict[str, tuple[Case, object, str, str, str]] = {
    "the cache keeps the first nodes, not those accepted": (
        MEDUSA_TREE,
        Decoder,
        "_verify",
        "(last + 1 + node for node in verified.path)",
        "(last + 1 + place for place in range(len(verified.path)))",
    ),
    "drafts are not drawn from the distributions they are recorded with": (
        DRAFT_MODEL,
        ChainBuilder,
        "add",
        "self._rows.append(probs)",
        "self._rows.append(probs.sqrt() / probs.sqrt().sum())",
    ),
    "a chain ends because of the token that was drawn": (
        DRAFT_MODEL,
        ChainBuilder,
        "add",
        "self.token_ids.append(token_id)",
        "if self.token_ids and float(probs[token_id]) < 0.2:\n        return False\n"
        "    self.token_ids.append(token_id)",
    ),
}


@pytest.mark.parametrize(
    "mistake",
    [
        pytest.param(name, marks=pytest.mark.slow if name in NOTICED_LATE else [])
        for name in IN_THE_LOOP
    ],
)
def test_mistake_in_the_loop_is_noticed(
    mistake: str, family: TinyFamily, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outputs of four tokens: what a wrong cache says shows in the round after."""
    case, owner, function, old, new = IN_THE_LOOP[mistake]
    mutate(monkeypatch, owner, function, old, new)
    assert_failed(check_case(family, case, SAMPLES, length=4)[0])
