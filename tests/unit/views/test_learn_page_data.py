"""What the Learn page shows is what was recorded, published or computed."""

from __future__ import annotations

import json
import re
import tomllib

import numpy as np
import pandas as pd
import pytest

from specviz.analysis.theory.rejection import normalised, simulate
from specviz.figures.style import LIGHT
from specviz.methods import Method
from specviz.trace import EmittedToken, Fidelity, Lane, Origin, Span, Step, Trace, Verdict
from specviz.views.learn.formula import claims_table, published_claims
from specviz.views.learn.mechanisms import drafted_table, text_html
from specviz.views.learn.overlap import saved_table
from specviz.views.learn.quiz import QUIZ, questions
from specviz.views.learn.rejection import summary
from specviz.views.learn.roofline import published_points
from specviz.views.learn.state import LEAST_TOKENS, MOST_TOKENS, PRESETS
from specviz.views.learn.traces import TRACES, methods, shipped
from specviz.views.learn.view import SECTIONS
from specviz.views.shared.pages import PAGES
from specviz.views.shared.tables import table_html
from tests.support.demo_models import known_prompts


@pytest.mark.parametrize("method", methods())
def test_every_method_has_a_recorded_trace_that_adds_up(method: Method) -> None:
    recording = shipped(method)
    trace = recording.trace
    assert recording.run.config.method is method
    assert recording.run.config.is_lossless
    assert trace.fidelity is Fidelity.TRACED
    assert trace.finish_reason is not None
    assert [step.index for step in trace.steps] == list(range(len(trace.steps)))
    assert [token.position for token in trace.emitted] == list(range(len(trace.emitted)))
    drafting = [step for step in trace.steps if step.drafted]
    assert len(drafting) >= 3
    assert any(token.verdict is Verdict.REJECTED for step in drafting for token in step.drafted)
    for step in drafting:
        accepted = [token for token in step.emitted if token.origin is Origin.ACCEPTED]
        assert len(accepted) <= step.num_accepted
        assert all(token.parent < place for place, token in enumerate(step.drafted))
        assert step.draft_ms is not None and step.verify_ms is not None
        judged = [token for token in step.drafted if token.u is not None]
        for token in judged:
            accepts = token.u <= (token.accept_prob or 0.0) + 1e-6
            assert accepts == (token.verdict is Verdict.ACCEPTED)


def test_all_were_asked_the_same_prompt() -> None:
    prompts = {shipped(method).prompt for method in methods()}
    assert len(prompts) == 1
    (prompt,) = prompts
    assert prompt.category is not None
    assert prompt in known_prompts(prompt.category)


def test_the_traces_tell_nothing_of_the_machine_they_were_made_on() -> None:
    for path in TRACES.glob("*.json"):
        config = json.loads(path.read_text("utf-8"))["run"]["config"]
        assert config["hardware"] is None
        assert "/" not in f"{config['model']}{config['draft']}"


def test_lookups_and_skips_say_what_they_did() -> None:
    assert any(step.matched_tokens for step in shipped(Method.NGRAM).trace.steps)
    assert any(step.skipped_layers for step in shipped(Method.SWIFT).trace.steps)
    parents = [
        token.parent for step in shipped(Method.MEDUSA).trace.steps for token in step.drafted
    ]
    assert parents.count(-1) > len([s for s in shipped(Method.MEDUSA).trace.steps if s.drafted])


def test_a_step_as_a_table() -> None:
    step = next(step for step in shipped(Method.MEDUSA).trace.steps if len(step.drafted) > 3)
    table = drafted_table(step)
    assert list(table["verdict"]) == [token.verdict.value for token in step.drafted]
    assert list(table["#"]) == [str(n + 1) for n in range(len(step.drafted))]
    assert table["after"][0] == "context"
    later = next(n for n, token in enumerate(step.drafted) if token.parent >= 0)
    assert table["after"][later] == f"# {step.drafted[later].parent + 1}"


def test_the_answer_so_far_is_escaped() -> None:
    first = Step(0, 1.0, (), (EmittedToken(0, 1, "<b>a", Origin.TARGET),))
    second = Step(1, 2.0, (), (EmittedToken(1, 2, '"<i>', Origin.ACCEPTED),))
    third = Step(2, 3.0, (), (EmittedToken(2, 3, "later", Origin.BONUS),))
    html = text_html([first, second, third], second, LIGHT)
    assert "&lt;b&gt;a" in html and "&quot;&lt;i&gt;" in html
    assert "<b>" not in html and "<i>" not in html and "later" not in html


def test_a_table_is_escaped_and_says_what_is_missing() -> None:
    table = pd.DataFrame({"<token>": ["<b>", "&"], "figure": ["1", None]})
    html = table_html(table, ["<token>"], LIGHT)
    assert "<b>" not in html and "<token>" not in html
    assert html.count("&lt;b&gt;") == html.count("&amp;") == html.count(">–<") == 1
    assert html.count("text-align:left") == html.count("text-align:right") == 3


def test_the_saved_time_by_hand() -> None:
    spans = (Span(Lane.DRAFT, 0, 6), Span(Lane.VERIFY, 2, 10))
    emitted = tuple(EmittedToken(n, n, "x", Origin.ACCEPTED) for n in range(4))
    trace = Trace("id", Fidelity.TRACED, (Step(0, 10, (), emitted, wall_ms=10.0, spans=spans),))
    (line,) = saved_table({"mirror": trace}).to_dict("records")
    assert (line["both at once ms"], line["took ms"]) == ("4.00", "10.0")
    assert (line["taking turns ms"], line["saved"]) == ("14.0", "29 %")
    assert line["ms per token"] == "2.50"


def test_mirror_overlaps_and_a_draft_model_does_not() -> None:
    table = saved_table({m.value: shipped(m).trace for m in (Method.DRAFT_MODEL, Method.MIRROR)})
    saved = dict(zip(table["method"], table["saved"], strict=True))
    assert saved["draft_model"] == "0 %"
    assert int(saved["mirror"].split()[0]) >= 5


def test_the_documents_claims_beside_the_formula() -> None:
    claims = published_claims()
    reported = [(claim.alpha, claim.k, claim.tokens, claim.speedup) for claim in claims]
    assert reported == [
        (0.6, 8, 5.0, None),
        (0.4, 5, 1.6, 1.3),
        (0.7, 5, 2.8, 2.3),
        (0.8, 5, 3.6, 2.8),
    ]
    table = claims_table(claims)
    assert list(table["formula, tok/step"]) == ["2.47", "1.66", "2.94", "3.69"]
    assert table["difference"][0] == "+102 %"
    assert table["implied c"][3] == "0.057"  # (3.6 / 2.8 - 1) / 5


def test_the_published_points_of_the_roofline() -> None:
    assert published_points()[0] == (1, 2.89)
    assert published_points()[-1] == (64, 0.95)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_distributions(name: str) -> None:
    for weights in PRESETS[name]:
        assert LEAST_TOKENS <= len(weights) <= MOST_TOKENS
        assert sum(weights) == pytest.approx(1.0, abs=1e-12)


def test_the_preset_of_a_hotter_target_is_the_drafts_logits_at_temperature_2() -> None:
    target, draft = PRESETS["target at temperature 2"]
    assert target == pytest.approx(normalised(np.sqrt(draft), "it"), abs=1e-4)


def test_only_the_exact_rule_keeps_the_distribution() -> None:
    target, draft = (np.array(weights) for weights in PRESETS["draft overconfident"])
    table = summary(target, draft, simulate(target, draft, 100_000, 7)).set_index("rule")
    assert list(table["distance, exact"] == "0.000") == [True, False, False]
    assert list(table["target in interval"] == "4 of 4 tokens") == [True, False, False]


def test_the_quiz_has_all_questions_and_leads_to_pages_that_exist() -> None:
    sources = [question.source for question in questions()]
    for document, count in (("Production benchmark 2026", 8), ("Tutorial 2026", 6)):
        numbers = [re.search(rf"{document}, quiz (\d+)", source) for source in sources]
        assert [int(found[1]) for found in numbers if found] == list(range(1, count + 1))
    for question in questions():
        assert question.question.endswith("?")
        assert question.page in PAGES
        assert question.parameters.get("section", "Quiz") in SECTIONS
        assert question.parameters.get("method", "ngram") in set(Method)
    assert len(tomllib.loads(QUIZ.read_text("utf-8"))["question"]) == 14


def test_the_quiz_is_right_about_the_k_table() -> None:
    """One α gives every accepted length of the published table, as a correction says."""
    from specviz import reference
    from specviz.analysis.theory.theory import expected_tokens

    for row in reference.published("k").itertuples():
        k, accepted = int(row.num_speculative_tokens), float(row.mean_accepted_length)
        alpha = 0.91 if k == 1 else 0.93
        assert expected_tokens(alpha, k) - 1 == pytest.approx(accepted, rel=0.015)
