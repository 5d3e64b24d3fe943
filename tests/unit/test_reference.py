"""The published figures against the documents' tables, typed a second time from the documents."""

from __future__ import annotations

import pytest

from specviz.errors import UsageError
from specviz.methods import TECHNIQUES, Method
from specviz.paths import DATA
from specviz.reference import TABLES, published

OVERALL = """
Baseline      -     42.3 58.7 1.00 0
Vanilla SD    0.62  19.8 31.2 1.95 16
Medusa-2      0.68  17.1 27.8 2.21 0.8
EAGLE-1       0.73  14.9 24.1 2.52 1.5
EAGLE-3       0.81  12.3 19.6 2.89 1.8
Prompt Lookup 0.41  28.5 45.3 1.38 0
"""
CATEGORIES = """
short_qa          0.84 2.95 11.8
summarization     0.83 3.12 11.5
code_generation   0.72 2.31 15.2
creative_writing  0.76 2.67 13.4
translation       0.85 3.05 11.9
structured_output 0.88 3.21 10.9
"""
TEMPERATURE = """
0.0 0.81 2.89
0.3 0.76 2.61
0.5 0.71 2.38
0.7 0.64 2.08
1.0 0.55 1.72
1.2 0.47 1.41
1.5 0.38 1.15
"""
CONCURRENCY = """
1  81.3  2.89 0.81
2  156.2 2.71 0.80
4  289.5 2.43 0.79
8  498.7 1.98 0.78
16 721.3 1.52 0.77
32 890.4 1.18 0.76
64 965.1 0.95 0.75
"""
COST = """
Baseline   3200 0.00408 -
Vanilla SD 5440 0.00240 41
EAGLE-3    7680 0.00170 58
Medusa-2   6400 0.00204 50
"""
K = """
1  0.91 0.91 35.2 1.20 0.3
3  0.86 2.58 16.8 2.52 0.8
5  0.81 4.05 12.3 2.89 1.8
7  0.76 5.32 11.1 3.02 2.9
10 0.69 6.90 10.8 2.95 4.5
15 0.58 8.70 11.5 2.71 7.2
"""

TYPED = {
    "overall": (
        OVERALL,
        "technique accept_ratio tpot_p50_ms tpot_p95_ms e2e_speedup extra_gpu_memory_gb",
    ),
    "categories": (CATEGORIES, "category accept_ratio e2e_speedup tpot_p50_ms"),
    "temperature": (TEMPERATURE, "temperature accept_ratio speedup"),
    "concurrency": (CONCURRENCY, "concurrency throughput_tok_s e2e_speedup accept_ratio"),
    "cost": (COST, "technique requests_per_hour cost_per_request_usd cost_reduction_percent"),
    "k": (
        K,
        "num_speculative_tokens accept_ratio mean_accepted_length tpot_p50_ms e2e_speedup "
        "extra_gpu_memory_gb",
    ),
}


@pytest.mark.parametrize("table", TYPED)
def test_the_figures_are_the_documents(table: str) -> None:
    text, names = TYPED[table]
    columns = names.split()
    found = published(table)[columns]
    rows = [line.rsplit(maxsplit=len(columns) - 1) for line in text.strip().splitlines()]
    assert len(found) == len(rows)
    for (_, row), typed in zip(found.iterrows(), rows, strict=True):
        for name, word in zip(columns, typed, strict=True):
            if name in ("technique", "category"):
                assert row[name] == word
            elif word == "-":
                assert row.isna()[name]
            else:
                assert row[name] == float(word)


@pytest.mark.parametrize("table", TYPED)
def test_every_row_says_where_it_is_from_and_whose_method_it_is(table: str) -> None:
    figures = published(table)
    assert figures.columns[:4].to_list() == ["document", "section", "technique", "method"]
    assert figures[["document", "section", "technique", "method"]].notna().all(axis=None)
    assert "definition" in figures.columns
    assert set(figures["method"]) <= {method.value for method in Method}


def test_techniques_have_our_names() -> None:
    methods = published("overall")["method"].to_list()
    assert methods == ["baseline", "draft_model", "medusa", "eagle", "eagle3", "ngram"]
    assert TECHNIQUES["EAGLE-3"] is Method.EAGLE3
    assert (published("k")["method"] == "eagle3").all()


def test_words_with_another_meaning_say_so() -> None:
    assert published("k")["definition"].str.contains("without the bonus token").all()
    speculating = published("overall").iloc[1:]["definition"]
    assert speculating.str.contains("chunks were counted as tokens").all()
    assert published("overall")["definition"].str.contains("int(n * 0.95)", regex=False).all()


def test_mean_accepted_length_is_k_times_the_accept_ratio() -> None:
    k = published("k")
    product = k["num_speculative_tokens"] * k["accept_ratio"]
    assert k["mean_accepted_length"].to_numpy() == pytest.approx(product.to_numpy(), abs=0.005)


def test_every_file_is_a_table_and_is_described() -> None:
    files = {path.stem for path in (DATA / "reference").glob("*.csv")}
    assert files == TABLES.keys()
    readme = (DATA / "reference" / "README.md").read_text(encoding="utf-8")
    assert not [name for name in files if f"`{name}.csv`" not in readme]


def test_an_unknown_table_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="choose from overall, categories"):
        published("nothing")
