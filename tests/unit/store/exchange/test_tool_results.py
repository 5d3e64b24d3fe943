"""Results of other tools: what their files tell, in our units, and nothing more.

The two files of `vllm bench serve` in `data/` are real; the GuideLLM report is `guidellm_samples`.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from specviz.errors import UsageError
from specviz.methods import Method
from specviz.store import Store
from specviz.store.exchange import Imported, ImportLabels, import_file
from tests.support.store.guidellm_samples import report
from tests.support.store.samples import frame_of

DATA = Path(__file__).parents[1] / "data"
PLAIN = DATA / "vllm-bench-serve-plain.json"
DETAILED = DATA / "vllm-bench-serve-detailed.json"


def stored(store: Store, done: Imported) -> list[dict[str, Any]]:
    frame = store.read(
        frame_of,
        "SELECT * FROM elsewhere WHERE elsewhere_id IN (SELECT unnest(?::VARCHAR[])) ORDER BY name",
        [done.stored["result"]],
    )
    return list(frame.to_dict("records"))


def taken(store: Store, path: Path, reported: ImportLabels | None = None) -> dict[str, Any]:
    (row,) = stored(store, import_file(store, path, reported))
    return row


def written(path: Path, document: Any) -> Path:
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_a_plain_file(store: Store) -> None:
    reported = json.loads(PLAIN.read_text())
    done = import_file(store, PLAIN)
    (row,) = stored(store, done)
    assert done.kind == row["tool"] == "vllm bench serve"
    assert (row["model"], row["server"]) == ("demo-target", "openai-chat")
    assert (row["num_requests"], row["num_failed"], row["concurrency"]) == (8, 0, 2)
    assert (row["prompt_tokens"], row["output_tokens"]) == (131, 119)
    assert math.isnan(row["request_rate"])  # inf: as fast as possible
    assert row["draft_acceptance_rate"] == pytest.approx(51 / 207)  # the file has percent
    assert row["mean_acceptance_length"] == pytest.approx(1 + 51 / 69)
    assert (
        list(row["acceptance_rate_per_pos"])
        == reported["spec_decode_per_position_acceptance_rates"]
    )
    assert row["k"] == 3
    for metric in ("ttft", "tpot", "e2el"):
        assert row[f"{metric}_p50_ms"] == reported[f"median_{metric}_ms"]
        assert row[f"{metric}_p95_ms"] == reported[f"p95_{metric}_ms"]
    assert done.notes == ()
    assert json.loads(row["document"]) == reported
    assert store.read(frame_of, "SELECT count(*) AS n FROM elsewhere_requests")["n"][0] == 0


def test_a_detailed_file_and_what_it_does_not_tell(store: Store) -> None:
    reported = json.loads(DETAILED.read_text())
    done = import_file(store, DETAILED)
    (row,) = stored(store, done)
    latencies = 1000 * np.array(reported["latencies"])
    assert row["ttft_p99_ms"] == reported["p99_ttft_ms"]
    assert row["ttft_p95_ms"] == pytest.approx(
        np.percentile(1000 * np.array(reported["ttfts"]), 95)
    )
    assert row["e2el_mean_ms"] == pytest.approx(latencies.mean())
    assert done.notes == (
        "Computed here from the single requests: e2el_mean_ms, e2el_p50_ms, e2el_p95_ms, "
        "e2el_p99_ms, tpot_p95_ms, ttft_p95_ms.",
    )
    assert row["request_rate"] == 4.0
    requests = store.read(frame_of, "SELECT * FROM elsewhere_requests ORDER BY request_index")
    assert len(requests) == 8
    assert list(requests["output_text"]) == reported["generated_texts"]
    assert requests["started_s"][0] == 0.0
    # what vLLM computes of all requests follows from ours of each
    assert requests["tpot_ms"].mean() == pytest.approx(reported["mean_tpot_ms"])
    assert requests["ttft_ms"].median() == pytest.approx(reported["median_ttft_ms"])
    assert len(requests["gaps_ms"][0]) == len(reported["itls"][0])
    assert "generated_texts" not in json.loads(row["document"])


def test_the_same_file_twice(store: Store, tmp_path: Path) -> None:
    first = import_file(store, PLAIN)
    copy = tmp_path / "another-name.json"
    copy.write_bytes(PLAIN.read_bytes())
    again = import_file(store, copy, ImportLabels(Method.EAGLE3, 5, "other"))
    assert again.already == first.stored and not again.stored
    assert store.read(frame_of, "SELECT count(*) AS n FROM elsewhere")["n"][0] == 1


def test_what_a_person_says(store: Store) -> None:
    row = taken(store, PLAIN, ImportLabels(Method.DRAFT_MODEL, 5, "before the upgrade"))
    assert (row["method"], row["k"], row["name"]) == ("draft_model", 5, "before the upgrade")


def test_appended_results(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "all.json"
    path.write_text(PLAIN.read_text() + "\n" + DETAILED.read_text())
    done = import_file(store, path, ImportLabels(name="sweep"))
    assert [row["name"] for row in stored(store, done)] == ["sweep 1", "sweep 2"]


def test_a_failed_request_has_no_times(store: Store, tmp_path: Path) -> None:
    reported = json.loads(DETAILED.read_text())
    reported["errors"][2] = "Internal Server Error"
    reported |= {"failed": 1, "completed": 7}
    taken(store, written(tmp_path / "f.json", reported))
    row = store.read(frame_of, "SELECT * FROM elsewhere_requests WHERE request_index = 2")
    assert row["error"][0] == "Internal Server Error"
    assert row[["ttft_ms", "tpot_ms", "e2el_ms"]].isna().all(axis=None)


def test_nothing_is_made_up(store: Store, tmp_path: Path) -> None:
    reported = json.loads(PLAIN.read_text())
    for key in list(reported):
        if key.startswith(("spec_decode", "mean_", "median_", "p95", "p99", "std")):
            del reported[key]
    reported |= {"failed": 3}  # latencies then hold those of requests that failed
    row = taken(store, written(tmp_path / "f.json", reported))
    figures = [name for name in row if name.endswith("_ms")]
    empty = [*figures, "num_drafts", "draft_acceptance_rate", "k", "started_at", "method"]
    frame = store.read(frame_of, "SELECT * FROM elsewhere")
    assert frame[empty].isna().all(axis=None)


def test_no_finished_request(store: Store, tmp_path: Path) -> None:
    reported = json.loads(PLAIN.read_text()) | {"completed": 0, "mean_ttft_ms": 0.0}
    row = taken(store, written(tmp_path / "f.json", reported))
    assert math.isnan(row["ttft_mean_ms"])


@pytest.mark.parametrize(
    "change",
    [
        {"completed": "8"},
        {"completed": -1},
        {"completed": True},
        {"duration": "long"},
        {"spec_decode_per_position_acceptance_rates": "0.4"},
        {"total_input_tokens": 2**80},
        {"output_throughput": None, "backend": {"a": "b"}, "max_concurrency": 1e300},
    ],
)
def test_figures_of_the_wrong_type(store: Store, tmp_path: Path, change: dict[str, Any]) -> None:
    path = written(tmp_path / "f.json", json.loads(PLAIN.read_text()) | change)
    with pytest.raises(UsageError):
        import_file(store, path)
    assert store.read(frame_of, "SELECT count(*) AS n FROM elsewhere")["n"][0] == 0


def test_detailed_results_without_start_times(store: Store, tmp_path: Path) -> None:
    """vLLM issue 32667: `--save-detailed` did not save them before 2026."""
    reported = json.loads(DETAILED.read_text())
    del reported["start_times"]
    done = import_file(store, written(tmp_path / "f.json", reported))
    assert done.notes[-1] == "The file does not say of its single requests: start_times."
    requests = store.read(frame_of, "SELECT * FROM elsewhere_requests ORDER BY request_index")
    assert list(requests["output_text"]) == reported["generated_texts"]
    assert requests["started_s"].isna().all() and requests["tpot_ms"].notna().all()


def test_lengths_are_all_that_a_file_says_of_its_requests(store: Store, tmp_path: Path) -> None:
    """InferenceX pull request 1705: a fork of vLLM's script keeps the lengths only."""
    reported = json.loads(PLAIN.read_text()) | {"input_lens": [10, 20], "output_lens": [4, 5]}
    done = import_file(store, written(tmp_path / "f.json", reported | {"latencies": [0.3, 0.4]}))
    assert "ttfts, itls, start_times, generated_texts, errors" in done.notes[-1]
    requests = store.read(frame_of, "SELECT * FROM elsewhere_requests ORDER BY request_index")
    assert requests["output_tokens"].tolist() == [4, 5]
    assert requests["e2el_ms"].tolist() == [300.0, 400.0]
    assert requests[["ttft_ms", "tpot_ms", "gaps_ms"]].isna().all(axis=None)


def test_the_summary_of_a_sweep(store: Store, tmp_path: Path) -> None:
    """`vllm bench sweep serve` writes a list, with what it varied in each."""
    reported = json.loads(PLAIN.read_text()) | {"run_number": 0}
    done = import_file(
        store,
        written(tmp_path / "summary.json", [reported, reported | {"max_concurrency": 8}]),
        ImportLabels(name="sweep"),
    )
    rows = stored(store, done)
    assert [(row["name"], row["concurrency"]) for row in rows] == [("sweep 1", 2), ("sweep 2", 8)]


def test_a_vllm_that_named_the_endpoint_only(store: Store, tmp_path: Path) -> None:
    """Versions of 2025 have `endpoint_type` where others have `backend`."""
    reported = json.loads(PLAIN.read_text())
    del reported["backend"]
    assert taken(store, written(tmp_path / "f.json", reported))["server"] == "openai-chat"


SGLANG = {
    "tag": None, "backend": "sglang", "dataset_name": "sharegpt", "request_rate": math.inf,
    "max_concurrency": 16,
    "server_info": {"model_path": "meta-llama/Llama-3.1-8B", "speculative_algorithm": "EAGLE3",
                    "speculative_num_draft_tokens": 4, "api_key": "secret-1"},
    "duration": 170.41, "completed": 1648, "total_input_tokens": 369103,
    "total_output_tokens": 326408, "total_output_tokens_retokenized": 326356,
    "request_throughput": 9.67, "output_throughput": 1915.4,
    "mean_e2e_latency_ms": 80126.93, "median_e2e_latency_ms": 81160.44,
    "p99_e2e_latency_ms": 160000.0, "mean_ttft_ms": 44294.8, "median_ttft_ms": 44000.0,
    "p99_ttft_ms": 90000.0, "mean_tpot_ms": 180.0, "median_tpot_ms": 175.0, "p99_tpot_ms": 300.0,
    "concurrency": 774.9, "accept_length": 2.87,
}  # fmt: skip
"""SGLang issue 2805 and pull request 2819, with figures of a speculating server."""


def test_sglang_bench_serving(store: Store, tmp_path: Path) -> None:
    done = import_file(store, written(tmp_path / "f.jsonl", SGLANG))
    (row,) = stored(store, done)
    assert done.kind == row["tool"] == "sglang.bench_serving"
    assert (row["model"], row["k"]) == ("meta-llama/Llama-3.1-8B", 3)
    assert (row["e2el_mean_ms"], row["e2el_p50_ms"]) == (80126.93, 81160.44)
    assert row["mean_acceptance_length"] == 2.87
    assert "since it started" in done.notes[0]
    assert "secret-1" not in row["document"] and "EAGLE3" in row["document"]


def test_details_of_sglang_bench_serving(store: Store, tmp_path: Path) -> None:
    details = {
        "input_lens": [3, 4], "output_lens": [5, 0], "ttfts": [0.1, 0.0],
        "itls": [[0.1, 0.1, 0.1, 0.1], []], "generated_texts": ["a", ""], "errors": ["", "refused"],
    }  # fmt: skip
    path = written(tmp_path / "f.jsonl", SGLANG | details)
    path.write_text(path.read_text() + "\n" + json.dumps(SGLANG) + "\n")
    done = import_file(store, path, ImportLabels(name="two"))
    assert [row["name"] for row in stored(store, done)] == ["two 1", "two 2"]
    assert "The file does not say of its single requests: start_times." in done.notes
    requests = store.read(frame_of, "SELECT * FROM elsewhere_requests ORDER BY request_index")
    assert requests["e2el_ms"][0] == pytest.approx(500.0)
    assert requests["error"][1] == "refused" and math.isnan(requests["e2el_ms"][1])


@pytest.mark.parametrize("backend", ["vllm", "trt"])
def test_sglangs_tool_against_another_server(store: Store, tmp_path: Path, backend: str) -> None:
    """Without SGLang's pages: no server_info, no acceptance. `trace`: a rate that is no number."""
    reported = SGLANG | {"backend": backend, "server_info": None, "accept_length": None,
                         "request_rate": "trace"}  # fmt: skip
    done = import_file(store, written(tmp_path / "f.jsonl", reported))
    (row,) = stored(store, done)
    assert row["tool"] == "sglang.bench_serving" and row["server"] == backend
    assert math.isnan(row["mean_acceptance_length"]) and done.notes == ()


def metric(unit: str, value: float) -> dict[str, Any]:
    return {"unit": unit, "avg": value, "p50": value, "p95": value, "p99": value}


OLD_AIPERF = {
    "request_throughput": {"unit": "requests/sec", "avg": 0.15},
    "request_latency": metric("ms", 6655.5), "request_count": {"unit": "requests", "avg": 80.0},
    "time_to_first_token": metric("ms", 44.2), "inter_token_latency": metric("ms", 13.0),
    "input_config": {"endpoint": {"model_names": ["Qwen/Qwen3-1.7B"], "url": "localhost:8000"}},
    "was_cancelled": False, "error_summary": [],
}  # fmt: skip
"""AIPerf issue 340, comment of 15 October 2025."""


def test_an_aiperf_that_wrote_no_version(store: Store, tmp_path: Path) -> None:
    done = import_file(store, written(tmp_path / "f.json", OLD_AIPERF))
    (row,) = stored(store, done)
    assert (row["tool"], row["model"]) == ("aiperf", "Qwen/Qwen3-1.7B")
    assert (row["num_requests"], row["tpot_mean_ms"], row["e2el_p95_ms"]) == (80, 13.0, 6655.5)
    assert "named no version" in done.notes[0]


@pytest.mark.parametrize(
    ("reported", "says"),
    [
        ({"timeslices": [{"timeslice_index": 0}], "input_config": {}}, "its time slices"),
        ({"records": {"ttft": metric("ms", 44.2)}, "was_cancelled": False}, "before October 2025"),
        ({"metadata": {"credit_phase": "profiling"}, "metrics": {}}, "before October 2025"),
        (
            {"aiperf_version": "0.7", "metadata": {"num_profile_runs": 3},
             "metrics": {"request_latency": {"mean": 1.0, "unit": "ms"}}},
            "the aggregate of several runs",
        ),
    ],
)  # fmt: skip
def test_other_files_of_aiperf(
    store: Store, tmp_path: Path, reported: dict[str, Any], says: str
) -> None:
    """AIPerf pull requests 411, 325, 881 and issue 340: known, and not read as if empty."""
    with pytest.raises(UsageError, match=f"not results of aiperf as they are known here .*{says}"):
        import_file(store, written(tmp_path / "f.json", reported))


@pytest.mark.parametrize("keys", [("model_id",), ("num_prompts", "model_id")])
def test_three_common_keys_do_not_make_a_tool(
    store: Store, tmp_path: Path, keys: tuple[str, ...]
) -> None:
    reported = json.loads(PLAIN.read_text())
    for key in keys:
        del reported[key]
    with pytest.raises(UsageError, match="of no tool that specviz reads"):
        import_file(store, written(tmp_path / "f.json", reported))


def test_a_guidellm_report(store: Store, tmp_path: Path) -> None:
    done = import_file(store, written(tmp_path / "benchmarks.json", report()))
    first, second = stored(store, done)
    assert first["elsewhere_id"] != second["elsewhere_id"]
    assert (first["tool"], first["model"], first["server"]) == (
        "guidellm",
        "llama",
        "http://gpu:8000",
    )
    assert (first["concurrency"], first["num_requests"], first["num_failed"]) == (4, 2, 1)
    assert (first["ttft_mean_ms"], first["e2el_mean_ms"]) == (60.0, 1000.0)  # seconds in the file
    assert first["tpot_mean_ms"] == 12.0  # its inter-token latency: after the first token
    assert (first["prompt_tokens"], first["output_tokens"]) == (30, 70)
    assert str(first["started_at"]) == "2025-10-09 08:53:20"
    assert "first" in done.notes[0]
    requests = store.read(
        frame_of,
        "SELECT * FROM elsewhere_requests WHERE elsewhere_id = ? ORDER BY ALL",
        [first["elsewhere_id"]],
    )
    assert list(requests["error"].fillna("")) == ["refused", ""]
    assert requests["started_s"].tolist() == [0.0, 1.0]
    assert requests["e2el_ms"][1] == 500.0


def test_a_guidellm_report_of_schema_2(store: Store, tmp_path: Path) -> None:
    reported = report()
    del reported["args"], reported["benchmarks"][0]["config"]["backend"]
    spec = {"backend": {"kind": "openai_http", "target": "http://gpu:8000", "model": "llama"},
            "data": [{"kind": "synthetic_text", "prompt_tokens": 10}]}  # fmt: skip
    reported |= {"metadata": {"version": 2, "guidellm_version": "0.8.1"}, "config": {"spec": spec}}
    first, _ = stored(store, import_file(store, written(tmp_path / "f.json", reported)))
    assert (first["model"], first["server"]) == ("llama", "http://gpu:8000")
    assert json.loads(first["dataset"]) == spec["data"][0]


def test_guidellm_writes_zeros_where_nothing_streamed(store: Store, tmp_path: Path) -> None:
    nothing = {"successful": {"mean": 0.0, "max": 0.0, "count": 2, "percentiles": {}}}
    path = written(tmp_path / "f.json", report(time_to_first_token_ms=nothing))
    first, _ = stored(store, import_file(store, path))
    assert math.isnan(first["ttft_mean_ms"])


@pytest.mark.parametrize(
    "reported",
    [
        {"benchmarks": []},
        {"benchmarks": [{}]},
        {"benchmarks": "none"},
        report() | {"metadata": {"version": 3}},
        report(request_totals={}),
        report(time_to_first_token_ms=None),
    ],
)
def test_other_reports(store: Store, tmp_path: Path, reported: Any) -> None:
    with pytest.raises(UsageError, match=r"not results of guidellm"):
        import_file(store, written(tmp_path / "f.json", reported))
