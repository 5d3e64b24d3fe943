"""Korean forms against examples from any grammar of the language."""

from __future__ import annotations

import pytest

from specviz.training.texts import bilingual as words
from specviz.training.texts.korean import (
    NOT,
    Predicate,
    by_means,
    copula,
    extended,
    objective,
    regular,
    subject,
    together,
    topic,
)


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("책", ("책은", "책이", "책을", "책과", "책으로", "책이에요")),
        ("사과", ("사과는", "사과가", "사과를", "사과와", "사과로", "사과예요")),
        ("지하철", ("지하철은", "지하철이", "지하철을", "지하철과", "지하철로", "지하철이에요")),
        ("저", ("저는", "제가", "저를", "저와", "저로", "저예요")),
    ],
)
def test_particles_follow_the_final_consonant(word: str, forms: tuple[str, ...]) -> None:
    made = (
        topic(word), subject(word), objective(word), together(word), by_means(word),
        copula(word, formal=False),
    )  # fmt: skip
    assert made == forms


@pytest.mark.parametrize(
    ("predicate", "forms"),
    [
        (words.GO.korean, ("가요", "갑니다", "갔어요", "갔습니다", "갈 거예요", "갈 것입니다")),
        (
            words.EAT.korean,
            ("먹어요", "먹습니다", "먹었어요", "먹었습니다", "먹을 거예요", "먹을 것입니다"),
        ),
        (
            words.COOK.korean,
            ("만들어요", "만듭니다", "만들었어요", "만들었습니다", "만들 거예요", "만들 것입니다"),
        ),
        (
            words.HELP.korean,
            ("도와요", "돕습니다", "도왔어요", "도왔습니다", "도울 거예요", "도울 것입니다"),
        ),
        (
            words.WALK.korean,
            ("걸어요", "걷습니다", "걸었어요", "걸었습니다", "걸을 거예요", "걸을 것입니다"),
        ),
        (
            words.STUDY.korean,
            (
                "공부해요", "공부합니다", "공부했어요", "공부했습니다", "공부할 거예요",
                "공부할 것입니다",
            ),
        ),
        (
            regular("크", "커"),
            ("커요", "큽니다", "컸어요", "컸습니다", "클 거예요", "클 것입니다"),
        ),
    ],
)  # fmt: skip
def test_tenses(predicate: Predicate, forms: tuple[str, ...]) -> None:
    made = tuple(
        tense(formal)
        for tense in (predicate.present, predicate.past, predicate.future)
        for formal in (False, True)
    )
    assert made == forms


def test_negation_conjugates_the_auxiliary() -> None:
    negative = extended("먹지", NOT)
    assert negative.past(formal=False) == "먹지 않았어요"
    assert negative.future(formal=True) == "먹지 않을 것입니다"
