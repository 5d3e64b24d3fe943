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
