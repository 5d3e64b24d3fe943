"""Triton's OpenAI front end, after its source; `kind_pages.py` names the files. Not run against a
real one."""

from __future__ import annotations

from specviz.analysis.metrics import summarise
from specviz.servers.capabilities import Capabilities
from specviz.servers.triton.dialect import TRITON
from specviz.trace import Fidelity
from tests.support.servers.hostile_server import HostileServer, ask
from tests.support.servers.kind_pages import TRITON_METRICS, answering, triton
from tests.support.servers.scripted_server import chunk, usage


async def test_it_says_nothing_of_its_version_or_of_what_drafts() -> None:
    found, http = await HostileServer(triton()).found()
    await http.aclose()
    assert found.software is None and found.advice is not None
    said = found.capabilities
    assert said == Capabilities(tracing_reason=said.tracing_reason)


async def test_an_answer_is_text_without_acceptance() -> None:
    lines = [chunk("ab"), chunk("c", finish="stop"), usage(3), "[DONE]"]
    trace = (await ask(answering(triton(), lines))).trace
    assert (trace.text, trace.fidelity) == ("abc", Fidelity.INFERRED)
    assert trace.totals is None and summarise(trace).num_draft_tokens is None


def test_its_metrics_have_load_and_no_acceptance() -> None:
    load = TRITON.load(TRITON_METRICS)
    assert (load.waiting, load.running, load.mean_output_tokens) == (1, None, 15)
    assert TRITON.counters(TRITON_METRICS) is None
