"""What the documents say outside their measured tables, typed a second time from the documents."""

from __future__ import annotations

import math

import pytest

from specviz.methods import TECHNIQUES
from specviz.reference import TABLES, disagreements, published

TRAINING = """
Vanilla SD 0   0
Medusa-2   50  3
EAGLE-1    100 6
EAGLE-3    200 12
"""
SLO = """
TPOT P95 under 20 ms 5
TPOT P95 under 35 ms 5
Maximum throughput   7
Minimum cost         5
"""
ALPHA = """
GPT-2 → GPT-4         0.4 1.6 1.3
Llama-68M → Llama-70B 0.7 2.8 2.3
Llama-1B → Llama-70B  0.8 3.6 2.8
"""
PROMPT_MIX = """
short_qa          150 50  100
summarization     100 150 300
code_generation   80  100 500
creative_writing  50  300 800
translation       70  100 300
structured_output 50  50  200
"""
K_GUIDELINES = """
strong draft    7 10
weak draft      3 5
code generation 5 7
creative text   3 4
search          1 10
tuning          4 8
optimum         5 7
"""
TYPED = {
    "training": (TRAINING, "technique training_cost_usd training_hours"),
    "slo": (SLO, "slo num_speculative_tokens"),
    "alpha": (ALPHA, "pair alpha tokens_per_step speedup"),
    "prompt_mix": (PROMPT_MIX, "category prompts output_tokens_low output_tokens_high"),
    "k_guidelines": (K_GUIDELINES, "situation k_low k_high"),
}

HEADLINES = """
Introl guide 2025          latency_reduction             2     3    ×
Introl guide 2025          throughput                    3.6   3.6  ×
Introl guide 2025          draft_tokens                  5     8    tok/step
Introl guide 2025          draft_tokens_per_target_token 5     8    tok
Introl guide 2025          tokens_per_step               5     5    tok/step
Introl guide 2025          speedup                       2.31  2.31 ×
Introl guide 2025          latency_reduction             1.8   1.8  ×
Introl guide 2025          latency_reduction             1.6   1.6  ×
Introl guide 2025          throughput                    3     -    ×
Introl guide 2025          throughput                    3.6   3.6  ×
Introl guide 2025          speedup                       2.18  2.18 ×
Introl guide 2025          speedup                       2.0   2.0  ×
Introl guide 2025          acceptance                    0.8   0.8  0-1
Introl guide 2025          speedup                       2.5   2.8  ×
Introl guide 2025          speedup                       -     2.5  ×
Introl guide 2025          speedup                       1.3   1.6  ×
Introl guide 2025          acceptance_gain               20    40   %
Introl guide 2025          draft_weights                 1     8    GB
Tutorial 2026              speedup                       2     3    ×
Tutorial 2026              weights                       140   140  GB
Tutorial 2026              memory_bandwidth              2     2    TB/s
Tutorial 2026              throughput_limit              14    14   tok/s
Tutorial 2026              throughput_in_practice        10    10   tok/s
Tutorial 2026              gpu_compute_utilization       1     2    %
Tutorial 2026              draft_tokens                  5     5    tok/step
Tutorial 2026              tokens_per_step               4     4    tok/step
Tutorial 2026              draft_layers                  8     8    layers
Production benchmark 2026  speedup                       2.89  2.89 ×
Production benchmark 2026  speedup                       -     3.21 ×
Production benchmark 2026  speedup                       0.95  0.95 ×
Production benchmark 2026  accepted_per_draft            8.7   8.7  tok/step
Production benchmark 2026  wasted_per_draft              6.3   6.3  tok/step
Production benchmark 2026  acceptance                    0.41  0.41 0-1
Production benchmark 2026  memory_against_medusa         2     -    ×
Production benchmark 2026  acceptance                    0.81  0.81 0-1
Production benchmark 2026  acceptance                    0.68  0.68 0-1
Production benchmark 2026  acceptance                    0.85  0.85 0-1
Production benchmark 2026  cost_reduction                58    58   %
Production benchmark 2026  price                         13.04 13.04 $/h
"""
RULES = {
    "gpu_utilization_on": ("<", 0.5),
    "output_tokens_on": (">", 100),
    "draft_fits": ("<=", None),
    "gpu_utilization_batch": (">", 0.8),
    "memory_pressure": (None, None),
    "temperature_off": (">", 1.0),
    "concurrency_off": (">=", 32),
    "concurrency_harmful": (">=", 64),
    "target_swapped": ("==", 1),
    "spare_memory_eagle3": (">", 10),
    "light_training": ("==", 1),
    "no_training": ("==", 0),
    "throughput_concurrency": ("<=", 8),
    "cost_concurrency": ("<=", 8),
    "cost_temperature": ("~", 0),
    "cost_spare_memory": (">=", 2),
    "k_most": (">", 7),
    "acceptance_aim": (">=", 0.6),
    "acceptance_fine_tune": ("<", 0.6),
    "acceptance_harmful": ("<", 0.5),
    "size_ratio_min": (">=", 1 / 50),
    "size_ratio_max": ("<=", 1 / 10),
    "same_family": ("==", 1),
    "same_tokenizer": ("==", 1),
}
ENVIRONMENT = {
    "GPU": "4 x NVIDIA A100 80GB SXM",
    "CPU": "EPYC 7763 64-Core",
    "RAM": "512 GB DDR4",
    "OS": "Ubuntu 22.04",
    "CUDA": "12.4",
    "driver": "550.90.07",
    "vLLM": "0.7.3",
    "PyTorch": "2.5.1",
    "Transformers": "4.47.0",
    "Python": "3.11.10",
    "target model": "Llama 3.1 70B Instruct, 70B, tensor parallel 4",
    "target model, cross-validation": "Qwen 2.5 72B Instruct, 72B, tensor parallel 4",
    "target model, large": "Mistral Large 2, 123B, tensor parallel 4",
    "prompts": "500",
    "runs": "3",
    "warm-up requests": "5",
    "warm-up requests, script": "10",
    "temperature": "0.0",
    "num_speculative_tokens": "5",
    "GPU memory utilization": "0.92",
    "max_model_len": "4096",
    "precision": "bf16",
    "price": "13.04 $/h",
}


@pytest.mark.parametrize("table", TYPED)
def test_the_figures_are_the_documents(table: str) -> None:
    text, names = TYPED[table]
    columns = names.split()
    rows = [line.rsplit(maxsplit=len(columns) - 1) for line in text.strip().splitlines()]
    found = published(table)[columns].to_numpy().tolist()
    assert found == [[name.strip(), *map(float, figures)] for name, *figures in rows]


def test_headline_figures_are_the_documents() -> None:
    typed = [line.rsplit(maxsplit=4) for line in HEADLINES.strip().splitlines()]
    found = published("headlines")[["document", "quantity", "low", "high", "unit"]]
    figures = [None if word == "-" else float(word) for row in typed for word in row[2:4]]
    reported = [None if math.isnan(value) else value for value in found[["low", "high"]].stack()]
    assert reported == figures
    words = found[["document", "quantity", "unit"]].to_numpy().tolist()
    assert words == [[row[0].strip(), row[1], row[4]] for row in typed]


def test_thresholds_are_the_documents() -> None:
    rules = published("rules")
    assert rules["rule"].to_list() == [*RULES]
    for (_, row), (comparison, value) in zip(rules.iterrows(), RULES.values(), strict=True):
        assert row["comparison"] == comparison or (comparison is None and row.isna()["comparison"])
        assert row["value"] == value or (value is None and row.isna()["value"])


def test_the_environment_is_the_documents() -> None:
    environment = published("environment")
    found = dict(zip(environment["item"], environment["value"], strict=True))
    assert found.keys() == ENVIRONMENT.keys()
    assert not [item for item, value in ENVIRONMENT.items() if value not in found[item]]
    mix = published("prompt_mix")["prompts"]
    assert mix.sum() == int(found["prompts"])


def test_retraining_and_its_hardware() -> None:
    training = published("training").set_index("technique")
    assert training["retraining"].to_dict() == {
        "Vanilla SD": "not required",
        "Medusa-2": "required",
        "EAGLE-1": "required",
        "EAGLE-3": "required",
    }
    assert (training["gpus"].drop("Vanilla SD") == "1 x A100").all()


def test_notes_say_which_category_is_called_the_fastest_and_which_gain_is_none() -> None:
    categories = published("categories").set_index("category")["note"]
    assert categories["summarization"] == "highest speed-up"
    assert categories["creative_writing"] == "surprisingly high accept ratio"
    temperature = published("temperature").set_index("temperature")["note"]
    assert temperature.dropna().to_dict() == {1.5: "virtually no effect"}
    assert published("concurrency")["note"].iloc[-1] == "negative impact occurs"


def test_limits_name_what_would_change_the_figures() -> None:
    limits = published("limits").set_index("limit")["text"]
    assert "NVLink" in limits["hardware"]
    assert "4096" in limits["KV cache"] and "8192" in limits["KV cache"]
    assert "bf16" in limits["quantization"]


@pytest.mark.parametrize("table", TABLES)
def test_every_row_says_where_it_is_from(table: str) -> None:
    figures = published(table)
    assert figures.columns[:4].to_list() == ["document", "section", "technique", "method"]
    assert figures.columns[-1] == "definition"
    assert figures[["document", "section"]].notna().all(axis=None)
    known = figures["technique"].isin(TECHNIQUES.keys())
    assert (figures["method"].notna() == known).all()


def test_disagreements_are_found_by_page_and_have_both_sides() -> None:
    rows = published("disagreements")
    assert rows["topic"].is_unique
    pages = {page for text in rows["pages"] for page in text.split()}
    assert pages == {"k", "technique", "cost", "learn", "benchmark"}
    for page in pages:
        own = disagreements(page)
        assert len(own) and own["pages"].str.split().map(lambda names, p=page: p in names).all()
        assert own[["says", "says_where", "but", "but_where"]].notna().all(axis=None)
    assert disagreements("nowhere").empty
    assert rows["says_value"].notna().equals(rows["but_value"].notna())


def _figures(table: str, key: str, value: object):
    frame = published(table)
    return frame[frame[key] == value].iloc[0]


def _computed() -> dict[str, tuple[float, float]]:
    """The numbers of both sides again, from the documents' figures and the formulae."""

    def tokens(alpha: float, k: int) -> float:
        return (1 - alpha ** (k + 1)) / (1 - alpha)

    a100 = 13.04 / 4
    return {
        "tokens_per_step": (5, tokens(0.6, 8)),
        "alpha_table": (3.6, tokens(0.8, 5)),
        "draft_cost": ((2.8 / 2.3 - 1) / 5, 0.068 / 70),
        "draft_speed": (2, tokens(0.6, 8) / (8 / 8 + 1)),
        "tpot_and_e2e": (2.89, 42.3 / 12.3),
        "k_table_speedups": (42.3 / 16.8, 42.3 / 12.3),
        "k_step_time": (35.2 * 1.91, 16.8 * 3.58),
        "concurrency_64": (965.1, 890.4),
        "baseline_throughput": (81.3 / 2.89, 1000 / 42.3),
        "cost_and_concurrency": (7680 / 3200, 1.98),
        "training_price": (200 / 12, a100),
        "compute_utilization": (0.01, 2 * 70e9 * 14 / 312e12),
        "one_gpu": (2000 / 140, 4 * 2000 / 140),
        "size_ratio": (1 / 50, 1 / 70),
    }


@pytest.mark.parametrize("topic", _computed())
def test_the_numbers_of_a_disagreement_are_computed_from_the_documents(topic: str) -> None:
    row = _figures("disagreements", "topic", topic)
    says, but = _computed()[topic]
    assert row["says_value"] == pytest.approx(says, rel=0.03)
    assert row["but_value"] == pytest.approx(but, rel=0.05)


@pytest.mark.parametrize(
    ("topic", "says", "but"),
    [
        ("highest_category", 3.12, 3.21),
        ("concurrency_32", 1, 1.18),
        ("throughput_slo", 498.7, 965.1),
        ("spare_memory", 10, 1.8),
        ("no_memory_leaf", 0, 16),
        ("temperature_limit", 1.0, 1.41),
        ("code_acceptance", 7, 0.72),
        ("creative_acceptance", 4, 0.76),
        ("acceptance_limit", 0.5, 0.41),
        ("short_answers", 100, 2.95),
    ],
)
def test_the_numbers_of_a_disagreement_are_in_the_documents(
    topic: str, says: float, but: float
) -> None:
    row = _figures("disagreements", "topic", topic)
    assert (row["says_value"], row["but_value"]) == (says, but)
