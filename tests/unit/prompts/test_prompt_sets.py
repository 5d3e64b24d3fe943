"""Which prompts a benchmark asks: the shipped set, samples, and shares by weight."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.errors import UsageError
from specviz.prompts.sets import PromptSource, load_conversations, shares
from specviz.prompts.shipped import CATEGORIES, FIRST_CATEGORY, FIRST_PROMPT, load_prompts

# The documents' plan, of 500 prompts.
WEIGHTS = {
    "short_qa": 150,
    "summarization": 100,
    "code_generation": 80,
    "creative_writing": 50,
    "translation": 70,
    "structured_output": 50,
}


@pytest.fixture
def animals(tmp_path: Path) -> str:
    """6 prompts about cats, 3 about dogs, 1 about owls and one about nothing."""
    entries = [
        {"id": f"{animal}-{number}", "category": animal, "prompt": f"What eats {animal} {number}?"}
        for animal, count in (("cat", 6), ("dog", 3), ("owl", 1))
        for number in range(count)
    ]
    entries.append({"id": "none", "prompt": "What is nothing?"})
    path = tmp_path / "animals.jsonl"
    path.write_text("\n".join(map(json.dumps, entries)), encoding="utf-8")
    return str(path)


def ids(source: PromptSource) -> list[str]:
    return [conversation.item_id for conversation in load_conversations(source)]


def categories(source: PromptSource) -> Counter[str | None]:
    return Counter(conversation.category for conversation in load_conversations(source))


@pytest.mark.parametrize("count", [500, None])
def test_the_documents_plan_is_met_by_the_shipped_prompts(count: int | None) -> None:
    assert categories(PromptSource(count=count, weights=WEIGHTS)) == WEIGHTS


def test_percentages_share_out_alike() -> None:
    percent = {category: weight / 500 for category, weight in WEIGHTS.items()}
    assert shares(percent, 500) == WEIGHTS
    by_percent, by_number = (PromptSource(count=100, weights=w) for w in (percent, WEIGHTS))
    assert ids(by_percent) == ids(by_number)


def test_the_shipped_set_goes_on_where_the_pages_prompts_end() -> None:
    shipped = {c.item_id: c for c in load_conversations(PromptSource())}
    assert len(shipped) == 500
    for category in CATEGORIES:
        names = [f"{category}-{number:03}" for number in range(1, WEIGHTS[category] + 1)]
        assert names == sorted(name for name in shipped if name.startswith(category))
        for prompt in load_prompts(category):
            assert shipped[str(prompt.prompt_id)].turns == (prompt.text,)
        assert len({shipped[name].max_tokens for name in names}) == 1


def test_the_first_prompt_of_the_page_is_the_first_of_its_category() -> None:
    assert load_prompts(FIRST_CATEGORY)[0].prompt_id == FIRST_PROMPT


def test_no_shipped_prompt_is_there_twice() -> None:
    found = load_conversations(PromptSource())
    assert len({conversation.turns[0].strip() for conversation in found}) == len(found)


def test_all_prompts_in_the_order_of_the_seed(animals: str) -> None:
    found = ids(PromptSource(file=animals))
    assert found == ids(PromptSource(file=animals))
    other = ids(PromptSource(file=animals, seed=21))
    assert found != other and sorted(found) == sorted(other) and len(set(found)) == 11


@given(count=st.integers(1, 499), seed=st.integers())
def test_a_sample_is_the_beginning_of_every_larger_one(count: int, seed: int) -> None:
    sample = ids(PromptSource(count=count, seed=seed))
    assert len(set(sample)) == count
    assert sample == ids(PromptSource(count=count + 1, seed=seed))[:-1]


SOME_WEIGHTS = st.dictionaries(
    st.sampled_from(CATEGORIES),
    st.integers(0, 1000) | st.floats(0, 1e6, allow_subnormal=False),
    min_size=1,
).filter(lambda weights: any(weights.values()))


@given(weights=SOME_WEIGHTS, count=st.integers(0, 100_000))
def test_shares_add_up_and_are_within_one_of_the_exact_share(
    weights: dict[str, float], count: int
) -> None:
    given_out = shares(weights, count)
    assert sum(given_out.values()) == count and given_out.keys() == weights.keys()
    total = math.fsum(weights.values())
    for category, share in given_out.items():
        assert abs(share - count * weights[category] / total) < 1 + 1e-6
        assert share == 0 or weights[category] > 0


def test_the_largest_remainders_get_what_is_left() -> None:
    assert shares({"a": 0.5, "b": 0.3, "c": 0.2}, 4) == {"a": 2, "b": 1, "c": 1}
    assert shares({"c": 0.1, "b": 0.1, "a": 0.1}, 2) == {"a": 1, "b": 1, "c": 0}


@given(weights=SOME_WEIGHTS, count=st.integers(1, 50), seed=st.integers())
def test_a_weighted_sample_has_its_shares_without_repeats(
    weights: dict[str, float], count: int, seed: int
) -> None:
    source = PromptSource(count=count, weights=weights, seed=seed)
    found = load_conversations(source)
    assert len({conversation.item_id for conversation in found}) == count
    needed = {category: share for category, share in shares(weights, count).items() if share}
    assert Counter(conversation.category for conversation in found) == needed
    reordered = dict(reversed(weights.items()))
    assert load_conversations(PromptSource(count=count, weights=reordered, seed=seed)) == found


def test_categories_are_mixed_and_the_seed_decides() -> None:
    found = load_conversations(PromptSource(count=500, weights=WEIGHTS))
    changes = sum(a.category != b.category for a, b in pairwise(found))
    assert changes > 300  # of 499, in blocks 5
    again = load_conversations(PromptSource(count=500, weights=WEIGHTS, seed=21))
    assert again != found and set(again) == set(found)


@pytest.mark.parametrize(
    ("weights", "drawn"),
    [
        ({"cat": 1}, {"cat": 6}),
        ({"cat": 1, "dog": 1}, {"cat": 4, "dog": 3}),  # 3.5 each: the alphabet decides
        ({"cat": 2, "dog": 1, "owl": 0}, {"cat": 6, "dog": 3}),
        ({"cat": 1, "owl": 1}, {"cat": 2, "owl": 1}),
        ({"cat": 1e-9, "dog": 1}, {"dog": 3}),
    ],
)
def test_without_a_count_the_largest_that_every_category_suffices_for(
    animals: str, weights: dict[str, float], drawn: dict[str, int]
) -> None:
    assert categories(PromptSource(file=animals, weights=weights)) == drawn


@given(weights=SOME_WEIGHTS)
def test_one_more_than_the_largest_count_is_too_many(weights: dict[str, float]) -> None:
    count = len(load_conversations(PromptSource(weights=weights)))
    with pytest.raises(UsageError, match="There are not enough prompts in the shipped prompts"):
        load_conversations(PromptSource(weights=weights, count=count + 1))


@pytest.mark.parametrize(
    ("count", "weights", "says"),
    [
        (0, {}, "count must be at least 1, not 0"),
        (12, {}, r"There are 11 prompts in .*animals.jsonl, not 12: lower count"),
        (3, {"cow": 1}, r"no category 'cow' in .*animals.jsonl: use cat, dog, owl\."),
        (3, {"cat": 1, "cow": 0}, "no category 'cow'"),
        (3, {"cat": 2, "dog": -1}, "The weight of dog must be at least 0, not -1"),
        (3, {"cat": math.nan}, "The weight of cat must be at least 0, not nan"),
        (3, {"cat": math.inf}, "The weight of cat must be at least 0, not inf"),
        (3, {"cat": 0}, "All weights are 0"),
        (9, {"cat": 1, "dog": 1, "owl": 1}, "for 9 by these weights: owl has 1 and needs 3: lower"),
        (8, {"dog": 1, "owl": 1}, "dog has 3 and needs 4, owl has 1 and needs 4: lower count"),
    ],
)
def test_what_cannot_be_drawn(
    animals: str, count: int, weights: dict[str, float], says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        load_conversations(PromptSource(file=animals, count=count, weights=weights))


def test_weights_need_categories(tmp_path: Path) -> None:
    path = tmp_path / "prompts.txt"
    path.write_text("Name a river.\nName a lake.\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"no category 'qa' in .*txt: leave the weights out"):
        load_conversations(PromptSource(file=str(path), weights={"qa": 1}))
    assert sorted(ids(PromptSource(file=str(path), count=2))) == ["line-1", "line-2"]


def test_a_format_goes_with_a_file(animals: str) -> None:
    with pytest.raises(UsageError, match="goes with a file"):
        load_conversations(PromptSource(format="text"))
    with pytest.raises(UsageError, match=r'animals.jsonl: none of 11 entries .*"turns" must be a'):
        load_conversations(PromptSource(file=animals, format="spec-bench"))
