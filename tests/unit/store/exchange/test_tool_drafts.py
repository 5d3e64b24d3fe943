"""Drafts in other tools' files: real ones of AIPerf, vLLM and specspecs, others in their form."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.errors import UsageError
from specviz.store import Store, open_store
from specviz.store.exchange import Format, ImportLabels, export, import_file
from specviz.store.exchange.results.draft_steps import DraftStep, totals_of_steps
from specviz.store.history.drafts import read_drafts, read_logged_steps, replayed
from specviz.trace import Origin, Verdict
from tests.support.store.made import made
from tests.support.store.samples import frame_of

DATA = Path(__file__).parents[1] / "data"
VLLM = DATA / "vllm-bench-serve-speculating.json"
SUMMARY = DATA / "aiperf-summary.json"
RECORDS = DATA / "aiperf-records.jsonl"
DUMP = DATA / "llama-spec-dump.jsonl"
LOG = DATA / "specspecs-log.zip"
SPECFORGE = {
    "backend": "sglang",
    "dataset": "gsm8k",
    "samples": 12,
    "output_tokens": 570,
    "latency_seconds": 5.6,
    "throughput_tokens_per_second": 101.0,
    "average_acceptance_length": 3.35,
    "spec_verify_count": 171,
}

COUNTS = ("num_drafts", "num_draft_tokens", "num_accepted_tokens")
RATES = ("draft_acceptance_rate", "mean_acceptance_length")


def row_of(store: Store, path: Path, labels: ImportLabels | None = None) -> dict[str, Any]:
    done = import_file(store, path, labels)
    (found,) = done.stored["result"]
    frame = store.read(frame_of, f"SELECT * FROM elsewhere WHERE elsewhere_id = '{found}'")
    return dict(frame.to_dict("records")[0])


def requests_of(store: Store, row: dict[str, Any]) -> list[dict[str, Any]]:
    frame = store.read(
        frame_of,
        f"SELECT * FROM elsewhere_requests WHERE elsewhere_id = '{row['elsewhere_id']}' "
        "ORDER BY request_index",
    )
    return list(frame.to_dict("records"))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def written(path: Path, documents: list[Any]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in documents))
    return path


def num_results(store: Store) -> int:
    return int(store.read(frame_of, "SELECT count(*) AS n FROM elsewhere")["n"][0])


def test_three_files_of_the_same_answers_have_the_same_steps(store: Store) -> None:
    """vLLM's client, AIPerf's summary and its records: one server, one set of prompts."""
    rows = [row_of(store, path) for path in (VLLM, SUMMARY, RECORDS)]
    for row in rows:
        assert [row[name] for name in COUNTS] == [171, 513, 397]
        assert [row[name] for name in RATES] == pytest.approx([397 / 513, 1 + 397 / 171])
        assert row["output_tokens"] == 570  # the server's count; AIPerf's own is 559
        assert list(row["acceptance_rate_per_pos"]) == pytest.approx(
            [151 / 171, 134 / 171, 112 / 171]
        )
    assert {row["tool"] for row in rows[1:]} == {"aiperf"}
    assert rows[1]["model"] == "demo-target" and rows[2]["k"] == 3


def test_aiperfs_requests_are_what_it_recorded(store: Store) -> None:
    row = row_of(store, RECORDS)
    for request, line in zip(requests_of(store, row), lines(RECORDS), strict=True):
        said = line["spec_decode_acceptance"]
        assert request["sequence"] == line["metadata"]["x_request_id"]
        assert request["num_drafts"] == said["num_spec_steps"]
        assert request["output_tokens"] == said["completion_tokens"]
        assert [one["num_accepted_tokens"] for one in request["steps"]] == said["per_step_accepted"]
        assert request["ttft_ms"] == line["metrics"]["time_to_first_token"]["value"]


def test_aiperfs_mean_of_requests_is_in_no_column(store: Store) -> None:
    """Another definition than the column's: it stays in the document."""
    row = row_of(store, SUMMARY)
    said = json.loads(SUMMARY.read_text())["spec_decode_acceptance_length"]["avg"]
    assert row["mean_acceptance_length"] != pytest.approx(said, abs=1e-3)
    document, _ = store.read(read_drafts, row["elsewhere_id"])
    assert document["spec_decode_acceptance_length"]["avg"] == said


def test_aiperfs_warm_up_is_left_out(store: Store, tmp_path: Path) -> None:
    documents = lines(RECORDS)
    documents[0]["metadata"]["benchmark_phase"] = "warmup"
    done = import_file(store, written(tmp_path / "f.jsonl", documents))
    assert done.notes == ("Warm-up requests are left out: 1.",)
    assert done.rows == 12  # the result and eleven requests


def test_specforge(store: Store, tmp_path: Path) -> None:
    row = row_of(store, written(tmp_path / "f.json", [SPECFORGE]))
    assert (row["num_requests"], row["num_drafts"], row["output_tokens"]) == (12, 171, 570)
    assert pd.isna(row["mean_acceptance_length"])  # not this definition
    assert (row["tool"], row["dataset"]) == ("specforge benchmark", "gsm8k")


def test_a_draft_dump_of_llama_cpp(store: Store) -> None:
    said = lines(DUMP)
    row = row_of(store, DUMP)
    assert [row[name] for name in COUNTS] == [
        len(said),
        sum(line["n_draft"] for line in said),
        sum(line["n_accepted"] for line in said),
    ]
    assert pd.isna(row["num_requests"])  # it does not tell requests apart
    slots = requests_of(store, row)
    assert [slot["sequence"] for slot in slots] == ["slot 0", "slot 1"]
    first = slots[0]["steps"][0]
    assert list(first["draft_token_ids"]) == [one["tok"] for one in said[0]["pos"]]
    assert list(first["draft_probs"]) == [one["p"] for one in said[0]["pos"]]
    assert first["next_token_id"] is None
    _, counts = store.read(read_drafts, row["elsewhere_id"])
    assert counts.requests == () and counts.num_drafts == len(said)
    steps = store.read(read_logged_steps, row["elsewhere_id"], 0)
    assert replayed(steps) is None  # the target's own tokens are not in the file


def test_a_log_of_specspecs(store: Store) -> None:
    row = row_of(store, LOG)
    said = lines(DUMP)  # the same steps
    assert [row[name] for name in COUNTS] == [
        len(said),
        sum(line["n_draft"] for line in said),
        sum(line["n_accepted"] for line in said),
    ]
    assert row["name"] == "demo-draft-k3" and row["num_requests"] == 2
    (first, _) = requests_of(store, row)
    assert len(first["prompt_token_ids"]) == first["prompt_tokens"]
    steps = replayed(store.read(read_logged_steps, row["elsewhere_id"], 0))
    assert steps is not None
    for step, line in zip(steps, said, strict=False):
        assert step.num_accepted == line["n_accepted"]
        assert len(step.emitted) == step.num_accepted + 1
        whole = step.num_accepted == len(step.drafted)
        assert step.emitted[-1].origin is (Origin.BONUS if whole else Origin.RECOVERED)
        assert [token.verdict for token in step.drafted].count(Verdict.REJECTED) == (not whole)
    positions = [token.position for step in steps for token in step.emitted]
    assert positions == [*range(len(positions))]


def test_a_folder_and_a_zip_of_it_are_one_log(store: Store, tmp_path: Path) -> None:
    with zipfile.ZipFile(LOG) as archive:
        archive.extractall(tmp_path / "log")
    first = import_file(store, tmp_path / "log")
    assert import_file(store, LOG).already == first.stored


def test_a_log_whose_drafts_begin_with_the_token_before(store: Store, tmp_path: Path) -> None:
    """As block drafters log them: what was emitted before is neither drafted nor accepted."""

    def with_token_before(table: pa.Table) -> pa.Table:
        rows, before = table.to_pylist(), 7
        for row in rows:
            row["draft_tokens"] = [before, *row["draft_tokens"]]
            row["acceptances"] = [True, *row["acceptances"]]
            row["acceptance_length"] += 1
            before = row["emitted_token"]
        return pa.Table.from_pylist(rows, schema=table.schema)

    plain = row_of(store, LOG)
    done = import_file(store, changed_log(tmp_path / "f.zip", "drafts", with_token_before))
    assert "not counted as drafted" in done.notes[0]
    (other,) = done.stored["result"]
    found = store.read(frame_of, f"SELECT * FROM elsewhere WHERE elsewhere_id = '{other}'")
    assert [found[name][0] for name in COUNTS] == [plain[name] for name in COUNTS]


def test_drafts_survive_an_export(store: Store, tmp_path: Path) -> None:
    for path in (RECORDS, DUMP, LOG):
        import_file(store, path)
    for kind, ending in ((Format.PARQUET, "zip"), (Format.JSONL, "jsonl")):
        export(store, None, kind, tmp_path / f"all.{ending}")
        with open_store(made(tmp_path / f"{kind}.duckdb")) as other:
            import_file(other, tmp_path / f"all.{ending}")
            for query in (
                "SELECT * EXCLUDE (imported_at) FROM elsewhere ORDER BY elsewhere_id",
                "SELECT * FROM elsewhere_requests ORDER BY elsewhere_id, request_index",
            ):
                there = other.read(frame_of, query)
                assert str(store.read(frame_of, query).to_dict()) == str(there.to_dict())


@given(st.lists(st.integers(0, 6).flatmap(lambda d: st.tuples(st.just(d), st.integers(0, d)))))
def test_the_totals_of_steps_agree(pairs: list[tuple[int, int]]) -> None:
    totals = totals_of_steps(DraftStep(i, *pair) for i, pair in enumerate(pairs))
    drafting = [pair for pair in pairs if pair[0]]
    assert totals["num_drafts"] == len(drafting)
    assert totals["num_accepted_tokens"] == sum(accepted for _, accepted in drafting)
    rates = totals["acceptance_rate_per_pos"] or []
    assert rates == sorted(rates, reverse=True)
    if drafting:
        assert 1 + sum(rates) == pytest.approx(totals["mean_acceptance_length"])


def of_step(**change: Any) -> Callable[[list[Any]], None]:
    return lambda documents: documents[0].update(change)


def of_position(**change: Any) -> Callable[[list[Any]], None]:
    return lambda documents: documents[1]["pos"][0].update(change)


def of_record(**change: Any) -> Callable[[list[Any]], None]:
    return lambda documents: documents[2]["spec_decode_acceptance"].update(change)


@pytest.mark.parametrize(
    ("results", "change"),
    [
        (DUMP, of_step(n_accepted=4)),
        (DUMP, of_step(n_draft=2)),
        (DUMP, of_step(pos={})),
        (DUMP, of_step(step=-1)),
        (DUMP, of_step(step="\ud83d")),
        (DUMP, of_step(pmin_drop=None)),
        (DUMP, of_position(p=1.5)),
        (DUMP, of_position(p=True)),
        (DUMP, of_position(tok=2**31)),
        (DUMP, of_position(tok=-1)),
        (DUMP, of_position(i=1)),
        (DUMP, of_position(acc=False)),
        (DUMP, of_position(acc=1)),
        (RECORDS, of_record(num_spec_steps=1)),
        (RECORDS, of_record(num_accepted_draft_tokens=0)),
        (RECORDS, of_record(num_draft_tokens=0)),
        (RECORDS, of_record(acceptance_histogram={"2000000000": 1})),
        (RECORDS, of_record(acceptance_histogram={"x": 1})),
        (RECORDS, of_record(acceptance_histogram=[1, 2])),
        (RECORDS, of_record(per_step_drafted=[1])),
        (RECORDS, of_record(num_spec_tokens=10**9)),
        (RECORDS, lambda documents: documents[0]["metrics"].update(request_latency={"unit": "s"})),
        (RECORDS, lambda documents: documents.append([])),
        (SUMMARY, of_step(total_draft_tokens={"avg": 3.0})),
        (SUMMARY, of_step(time_to_first_token={"unit": "s", "avg": 1.0})),
        (SUMMARY, of_step(pooled_spec_decode_acceptance_histogram={"0": -1})),
        (VLLM, of_step(spec_decode_acceptance_rate=140.0)),
        (VLLM, of_step(spec_decode_per_position_acceptance_rates=[1.2])),
    ],
)
def test_counts_that_cannot_be(
    store: Store, tmp_path: Path, results: Path, change: Callable[[list[Any]], None]
) -> None:
    is_lines = results.suffix == ".jsonl"
    documents = lines(results) if is_lines else [json.loads(results.read_text())]
    change(documents)
    with pytest.raises(UsageError, match="are not results of") as refused:
        import_file(store, written(tmp_path / "f.json", documents))
    assert "\n" not in str(refused.value) and len(str(refused.value).encode()) < 300
    assert num_results(store) == 0


def changed_log(path: Path, table: str, change: Callable[[pa.Table], pa.Table]) -> Path:
    """The log, with one of its tables changed."""
    with zipfile.ZipFile(LOG) as source, zipfile.ZipFile(path, "w") as archive:
        for name in source.namelist():
            content = source.read(name)
            if name.startswith(table):
                sink = io.BytesIO()
                pq.write_table(change(pq.read_table(io.BytesIO(content))), sink)
                content = sink.getvalue()
            archive.writestr(name, content)
    return path


def column(name: str, values: Callable[[list[Any]], list[Any]]) -> Callable[[pa.Table], pa.Table]:
    def change(table: pa.Table) -> pa.Table:
        place = table.schema.get_field_index(name)
        field = table.schema.field(place)
        own = values(table.column(place).to_pylist())
        return table.set_column(place, field, pa.array(own, field.type))

    return change


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("drafts", column("acceptance_length", lambda own: [9] * len(own))),
        ("drafts", column("acceptance_length", lambda own: [-1] * len(own))),
        ("drafts", column("acceptances", lambda own: [[False, True]] * len(own))),
        ("drafts", column("acceptances", lambda own: [None] * len(own))),
        ("drafts", column("draft_tokens", lambda own: [[2**40]] * len(own))),
        ("drafts", column("draft_tokens", lambda own: [[None, 1, 2]] * len(own))),
        ("drafts", column("emitted_token", lambda own: [-5] * len(own))),
        ("drafts", column("step", lambda own: [1] * len(own))),
        ("drafts", column("sequence_id", lambda own: ["nobody's"] * len(own))),
        ("sequences", column("sequence_id", lambda own: ["one"] * len(own))),
        ("sequences", lambda table: table.drop_columns(["prompt_token_ids"])),
        ("drafts", lambda table: table.rename_columns([*table.column_names[:-1], "x"])),
        ("drafts", lambda table: table.slice(0, 0).cast(table.schema).drop_columns(["step"])),
    ],
)
def test_a_log_that_cannot_be(
    store: Store, tmp_path: Path, table: str, change: Callable[[pa.Table], pa.Table]
) -> None:
    with pytest.raises(UsageError) as refused:
        import_file(store, changed_log(tmp_path / "f.zip", table, change))
    assert "\n" not in str(refused.value)
    assert num_results(store) == 0


def test_a_zip_with_something_else_in_it(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "f.zip"
    path.write_bytes(LOG.read_bytes())
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("../../evil.parquet", b"")
    with pytest.raises(UsageError, match=r"'evil.parquet' besides a log"):
        import_file(store, path)


def test_json_of_nobody(store: Store, tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"of no tool that specviz reads: it reads guidellm, aiperf"
    ):
        import_file(store, written(tmp_path / "f.json", [{"anything": 1}]))
