"""What the Servers page says of a server, and that it makes up nothing that was not reported."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from specviz.config import EngineKind
from specviz.fleet.acceptance import Acceptance
from specviz.fleet.health import Health
from specviz.methods import Method
from specviz.servers.capabilities import Capabilities, Verifier
from specviz.servers.client.probe import FoundServer
from specviz.servers.kinds import default_spec
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.pool import ServerPhase, Slot
from specviz.servers.metrics import ServerLoad
from specviz.servers.vllm.dialect import LAUNCHER, VLLM
from specviz.store.named_servers import NamedServer
from specviz.views.servers.about import facts_of
from specviz.views.servers.cells import HEADS, Tone, cells_of, state_of
from specviz.views.servers.rows import Row, rows_of
from specviz.views.servers.table import curve_svg, row_html

AT = datetime(2026, 11, 1, 14, 2, tzinfo=UTC)
URL = "http://gpu-1:8000"
GPU = NamedServer("gpu-1", URL, AT, labels=("H100",))
TRACED = Capabilities("0.33.0", speculates=True, tracing=True, method=Method.EAGLE3, k=3)
MEASURED = Acceptance(300.0, 100, 74, 500.0, (None, 0.7, 0.74, None))

IDLE = replace(MEASURED, num_draft_tokens=0)


def health(capabilities: Capabilities = TRACED, **changes: Any) -> Health:
    found = FoundServer(URL, "org/Llama-8B", ("org/Llama-8B",), VLLM, capabilities)
    up = Health(URL, AT, found, load=ServerLoad(running=12.0), acceptance=MEASURED, counts=True)
    return replace(up, **changes)


def texts(row: Row, found: Health | None) -> dict[str, str]:
    return dict(zip(HEADS, (cell.text for cell in cells_of(row, found)), strict=True))


ROW = Row("gpu-1", URL, GPU)


def test_a_server_that_is_up() -> None:
    assert texts(ROW, health()) == {
        "name": "gpu-1",
        "kind": "vLLM 0.33.0",
        "model": "Llama-8B",
        "drafts with": "eagle3 · K 3",
        "shows": "traced",
        "lossless": "not reported",
        "acceptance, 5 min": "0.74",
        "running": "12",
    }
    assert state_of(ROW, health()) is None
    assert cells_of(ROW, health())[0].small == "gpu-1:8000 · H100"


@pytest.mark.parametrize(
    ("changes", "said", "small"),
    [
        ({"counts": False, "acceptance": None}, "not reported", ""),
        ({"acceptance": None}, "measuring", ""),
        (
            {"acceptance": replace(MEASURED, num_draft_tokens=0, output_tokens=0.0)},
            "no requests",
            "",
        ),
        ({"acceptance": replace(MEASURED, num_draft_tokens=0)}, "nothing drafted", ""),
        ({"acceptance": replace(MEASURED, over_s=20.0)}, "0.74", "last 20 s"),
    ],
)
def test_no_acceptance_is_invented(changes: dict[str, Any], said: str, small: str) -> None:
    cell = cells_of(ROW, health(**changes))[HEADS.index("acceptance, 5 min")]
    assert (cell.text, cell.small) == (said, small)


def test_plain_decoding_drafts_nothing_and_is_lossless() -> None:
    found = texts(ROW, health(Capabilities("0.33.0", speculates=False)))
    assert (found["drafts with"], found["lossless"], found["acceptance, 5 min"]) == (
        "nothing",
        "yes",
        "–",
    )


@pytest.mark.parametrize(
    ("verdict", "said"),
    [(True, "yes"), (False, "no: threshold 0.9"), (None, "not known: threshold 0.9")],
)
def test_how_a_server_verifies_says_whether_it_is_lossless(verdict: bool | None, said: str) -> None:
    rule = Verifier("threshold 0.9", verdict, "Accepts more than it should.")
    found = texts(ROW, health(replace(TRACED, verifier=rule)))
    assert found["lossless"] == said


def test_the_facts_name_the_runner_and_what_a_trace_lacks() -> None:
    hidden = ("Adaptive verification is on: some is cut.",)
    found = health(replace(TRACED, runner="v2", hidden=hidden)).found
    assert found is not None
    facts = facts_of(found)
    assert facts["Model runner"] == "V2"
    assert facts["Tracing"] == "on. Adaptive verification is on: some is cut."
    plain = facts_of(replace(found, capabilities=TRACED))
    assert plain["Tracing"] == "on" and "Model runner" not in plain


def test_what_a_server_does_not_report_is_not_guessed() -> None:
    found = texts(ROW, health(Capabilities("0.33.0"), load=ServerLoad()))
    assert found["drafts with"] == found["running"] == "not reported"
    drafting = texts(ROW, health(Capabilities("0.33.0", speculates=True)))
    assert drafting["drafts with"] == "a method it does not report"


def test_one_that_is_down_says_since_when_and_what_it_was() -> None:
    down = health(down_since=AT, problem="Nothing answers.", acceptance=None)
    cells = cells_of(ROW, down)
    assert [cell.text for cell in cells[1:]] == [
        *("vLLM 0.33.0", "Llama-8B", "eagle3 · K 3", "–", "–", "–", "–"),
    ]
    assert {cell.tone for cell in cells[1:]} == {Tone.MUTED}
    state = state_of(ROW, down, UTC)
    assert state is not None and state.text == "not reachable since 14:02"
    assert (state.small, state.tone) == ("Nothing answers.", Tone.BAD)
    later = replace(down, checked_at=AT + timedelta(days=1))
    state = state_of(ROW, later, UTC)
    assert state is not None and state.text == "not reachable since 2026-11-01 14:02"


def test_another_kind_than_expected_is_said() -> None:
    row = Row("gpu-1", URL, replace(GPU, kind=EngineKind.OPENAI))
    state = state_of(row, health())
    assert state is not None and "vLLM answers here" in state.small


def test_servers_started_here_stand_in_the_same_table() -> None:
    spec = default_spec(Method.NGRAM, 4)
    server: Any = SimpleNamespace(url=URL)
    ready = Slot(spec, ServerPhase.READY, server=server)
    loading = Slot(default_spec(Method.BASELINE, None), note="loading weights")
    stopped = Slot(default_spec(Method.EAGLE3, 3), ServerPhase.STOPPED)
    one, other = rows_of([GPU], [ready, loading, stopped])
    assert (one.named, one.slot, other.name, other.url) == (
        GPU,
        ready,
        "demo-target · baseline",
        None,
    )
    state = state_of(other, None)
    assert state is not None and (state.text, state.small) == ("starting", "loading weights")
    alone, _ = rows_of([], [ready, loading])
    assert (
        alone.name == "demo-target · ngram · K 4"
        and "started here" in cells_of(alone, None)[0].small
    )
    found = texts(alone, health(Capabilities("0.33.0", speculates=True)))
    assert found["drafts with"] == "ngram · K 4", "what it was started with, where it does not say"


def test_two_servers_of_one_method_are_told_apart_by_their_models() -> None:
    specs = [ServerSpec(LAUNCHER, model, Method.NGRAM) for model in ("org/One-8B", "/models/two/")]
    names = [row.name for row in rows_of([], [Slot(spec) for spec in specs])]
    assert names == ["One-8B · ngram · K 4", "two · ngram · K 4"], "K is the one it will use"


def test_names_and_models_are_words_not_markup() -> None:
    hostile = "<img src=x onerror=alert(1)>"
    row = Row(hostile, URL, replace(GPU, name=hostile, labels=(hostile,)))
    down = health(down_since=AT, problem=hostile)
    assert "<img" not in row_html(cells_of(row, down), state_of(row, down))


def test_the_curve_is_drawn_where_there_is_one() -> None:
    assert curve_svg(()) == curve_svg((0.5, None, 0.5)) == ""
    svg = curve_svg((None, 0.0, 1.0, None, 0.5, 0.5))
    assert svg.count("<polyline") == 2
    assert 'points="17.2,16.5 34.4,1.5"' in svg
