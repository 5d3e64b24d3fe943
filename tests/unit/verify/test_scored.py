"""Answers with log-probabilities: read as OpenAI's API has them, and compared with each other."""

from __future__ import annotations

from typing import Any

import pytest

from specviz.errors import MalformedReply
from specviz.verify.scored import Scored, moves, read_scored, streamed_gaps
from tests.support.evidence_made import IDS, plain


def position(token: str, *logprobs: float, **more: Any) -> dict[str, Any]:
    tops = [{"token": str(place), "logprob": value} for place, value in enumerate(logprobs)]
    return {"token": token, "logprob": logprobs[0], "top_logprobs": tops, **more}


def answer(*content: dict[str, Any], text: str | None = "ab", **more: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"content": text}, "logprobs": {"content": content}, **more}]}


def test_gaps_are_between_the_best_two_in_whatever_order() -> None:
    found = read_scored(answer(position("a", -0.5, -0.25), position("b", -0.1, -9.1)))
    assert found.gaps == pytest.approx((0.25, 9.0))
    assert found.text == "ab"


def test_tokens_are_named_by_all_that_the_server_says() -> None:
    """Halves of characters have one text; vLLM has ids, llama.cpp has them in each position."""
    halves = [position("\ufffd", 0, -1, bytes=[number]) for number in (240, 159)]
    assert len(set(read_scored(answer(*halves)).tokens)) == 2
    numbered = [position("\ufffd", 0, -1, id=number) for number in (7, 8)]
    assert len(set(read_scored(answer(*numbered)).tokens)) == 2
    assert read_scored(answer(*halves, token_ids=[7, 8])).tokens == (7, 8)


@pytest.mark.parametrize(
    "reply",
    [{}, {"choices": []}, {"choices": [{"message": {}, "logprobs": None}]}, {"error": "no"},
     answer(position("a", -0.5)), answer({"token": "a", "top_logprobs": "none"})],
)  # fmt: skip
def test_an_answer_without_log_probabilities_is_none(reply: dict[str, Any]) -> None:
    with pytest.raises(MalformedReply):
        read_scored(reply)


def test_moves_go_up_to_where_the_answers_part() -> None:
    """There the best two tokens have changed places, so that the distance is the sum."""
    one = Scored((1, 2, 3, 4), (3.0, 0.25, 0.5, 2.0), "")
    assert moves(one, Scored((1, 2, 9, 9), (2.75, 0.25, 0.25, 7.0), "")) == (0.25, 0.0, 0.75)
    assert moves(one, Scored((1, 2), (2.5, 0.5), "")) == (0.5, 0.25)
    assert moves(one, Scored((), (), "")) == ()


def test_gaps_of_another_answer_than_the_streamed_one_end_where_it_parts() -> None:
    trace = plain()
    scored = Scored(IDS, (1.0, 2.0, 3.0, 4.0), trace.text)
    assert streamed_gaps(trace, scored) == scored.gaps
    parted = Scored(IDS, scored.gaps, trace.text.replace("t13", "t99"))
    assert streamed_gaps(trace, parted) == (1.0, 2.0, 3.0)
    assert streamed_gaps(trace, Scored((), (), "")) == ()
