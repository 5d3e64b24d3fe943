"""From answers to shares: tallies, the record, the model card and the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from specviz.cli import main
from specviz.paths import MODELS, PROJECT_ROOT
from specviz.training import record
from specviz.training.card import write_card
from specviz.training.evaluate import load_target
from specviz.training.fit import Outcome
from specviz.training.held_out import evaluation_documents
from specviz.training.judging import answers
from specviz.training.judging.answers import Judged, read_answers
from specviz.training.judging.judge import RIGHT_WHEN, WRONG, verdicts
from specviz.training.judging.tally import BARS, OVERALL, Tally, tallies
from specviz.training.judging.verdict import NAMES, RIGHT, Answer, Verdict
from specviz.training.stream.encoding import Encoded


@pytest.mark.parametrize(
    ("passed", "judged", "low", "high"),
    # R: prop.test(passed, judged, correct = FALSE)
    [
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
    ],
)
def test_intervals_are_wilsons(passed: int, judged: int, low: float, high: float) -> None:
    found = Tally(RIGHT, "short_qa", judged, passed).interval
    assert found == pytest.approx((low, high), abs=1e-4)


def test_tallies_count_by_rule_and_category_and_names_overall() -> None:
    found = tallies(
        [
            Verdict("short_qa", NAMES, True, ""),
            Verdict("short_qa", NAMES, False, "No."),
            Verdict("short_qa", RIGHT, False, "No."),
            Verdict("translation", RIGHT, True, ""),
            Verdict("creative_writing", NAMES, True, ""),
        ]
    )
    assert found == [
        Tally(NAMES, "short_qa", 2, 1),
        Tally(NAMES, "creative_writing", 1, 1),
        Tally(NAMES, OVERALL, 3, 2),
        Tally(RIGHT, "short_qa", 1, 0),
        Tally(RIGHT, "translation", 1, 1),
    ]
    assert [tally.bar for tally in found] == [None, None, 0.98, 0.75, 0.70]
    assert {category for rule, category in BARS if rule == RIGHT} == set(WRONG) == set(RIGHT_WHEN)


def test_a_new_pair_keeps_what_the_old_one_answered(tmp_path: Path) -> None:
    outcome = Outcome("target", 1, 1, 1.0, 1.0, next_document=40)
    old, new = [Tally(RIGHT, "short_qa", 40, 6)], [Tally(RIGHT, "short_qa", 40, 39)]
    record.begin(tmp_path, seed=1, device="cpu", outcomes=[outcome])
    assert record.answers(record.read(tmp_path), before=True) == []
    record.add_answers(tmp_path, old)
    for _ in range(2):  # begun again before it was measured
        record.begin(tmp_path, seed=2, device="cpu", outcomes=[outcome])
        assert record.answers(record.read(tmp_path), before=True) == old
        assert record.answers(record.read(tmp_path)) == []
    record.add_answers(tmp_path, new)
    assert record.answers(record.read(tmp_path)) == new


def test_the_card_shows_before_and_after_side_by_side(tmp_path: Path) -> None:
    for path in MODELS.iterdir():
        if path.name not in ("README.md", record.RECORD_NAME):
            (tmp_path / path.name).symlink_to(path)
    known = record.read(MODELS) | {
        "answers_before": [{"rule": RIGHT, "category": "short_qa", "judged": 40, "passed": 6}],
        "answers": [
            {"rule": RIGHT, "category": "short_qa", "judged": 40, "passed": 39},
            {"rule": NAMES, "category": OVERALL, "judged": 200, "passed": 199},
        ],
    }
    (tmp_path / record.RECORD_NAME).write_text(json.dumps(known), encoding="utf-8")
    write_card(tmp_path)
    card = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "| 75 % | 15 % (7 to 29 %), 6 of 40 | 98 % (87 to 100 %), 39 of 40 |" in card
    assert (
        "| overall | has the names it needs | 98 % | – | 100 % (97 to 100 %), 199 of 200 |" in card
    )


@pytest.mark.slow
def test_texts_are_read_as_answers() -> None:
    _, tokenizer = load_target(MODELS)
    found = evaluation_documents("translation")[:2]
    ids = [tokenizer.encode(d.answer, add_special_tokens=False) for d in found]
    texts = [Encoded([5, 6, *ids[0], tokenizer.eos_token_id], 2), Encoded([5, *ids[1]], 1)]
    first, second = read_answers(tokenizer, {"translation": texts}, lambda _: found)
    assert (first, second) == (
        Answer(found[0], found[0].answer, ended=True),
        Answer(found[1], found[1].answer, ended=False),
    )


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[Judged]:
    """Five short answers, of which the last is wrong, in place of ten minutes of a model."""
    found = evaluation_documents("short_qa")[:5]
    given = [Answer(d, d.answer, ended=True) for d in found[:4]]
    given.append(Answer(found[4], "No.", ended=True))
    judged = [Judged(answer, verdicts(answer)) for answer in given]
    monkeypatch.setattr(answers, "judge_target", lambda models: judged)
    return judged


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["train", *arguments])
    assert isinstance(ended.value.code, int)
    return ended.value.code, *capsys.readouterr()


def test_the_command_shows_shares_and_reasons(
    judged: list[Judged], capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = printed(capsys, "--judge")
    assert code == 0
    assert "4 of 5   80.0 %    37.6 to  96.4 %        75 %" in out
    assert "short_qa, right: 1 fail" in out
    assert judged[4].verdicts[-1].why_not in out


@pytest.mark.usefixtures("judged")
def test_the_json_has_its_schema(capsys: pytest.CaptureFixture[str]) -> None:
    schema = json.loads((PROJECT_ROOT / "docs/schemas/train.schema.json").read_text("utf-8"))
    code, out, _ = printed(capsys, "--judge", "--json")
    assert code == 0
    Draft202012Validator(schema).validate(json.loads(out))
    assert [v["passed"] for v in json.loads(out)["verdicts"] if v["rule"] == RIGHT][3:] == [
        True,
        False,
    ]


@pytest.mark.slow
def test_wrong_usage_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "--json")[0] == 2
    code, out, err = printed(capsys, "--judge", "--out", str(tmp_path))
    assert (code, out) == (2, "") and "There is no demo-target" in err
