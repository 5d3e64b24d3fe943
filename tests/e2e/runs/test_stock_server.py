"""A stock server's stored run: steps without drafts, and a text that parts from the baseline's."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect

from specviz.config import EngineKind, Prompt, Run, RunConfig, RunStatus
from specviz.engines.replay import events_of
from specviz.methods import Method
from specviz.store import RecordedRequest, open_store
from specviz.trace import EmittedToken, Fidelity, Origin, Step, Trace
from tests.support.apps.process import APPS, running_app
from tests.support.browsers import settled

pytestmark = pytest.mark.e2e

AT = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)
GUESSED = (Origin.ACCEPTED, Origin.ACCEPTED, Origin.UNKNOWN)
NOT_REPORTED = "the server does not report what was drafted in this step"


def trace(request_id: str, *chunks: tuple[tuple[int, Origin], ...]) -> Trace:
    """A step per chunk; drafts are not known."""
    steps, position = [], 0
    for index, chunk in enumerate(chunks):
        tokens = [
            EmittedToken(position + place, token, f"t{token} ", origin)
            for place, (token, origin) in enumerate(chunk)
        ]
        position += len(tokens)
        steps.append(Step(index, 10.0 * (index + 1), (), tuple(tokens)))
    return Trace(request_id, Fidelity.INFERRED, tuple(steps), (1,), 10.0, 40.0, "stop")


@pytest.fixture(scope="module")
def app_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("stock")
    plain = trace("plain", *(((token, Origin.TARGET),) for token in range(4)))
    first = ((0, Origin.TARGET),)
    stock = trace("stock", first, tuple(zip((1, 9, 3), GUESSED, strict=True)))
    with open_store(folder / "runs.duckdb") as store:
        for config, answer in (
            (RunConfig(EngineKind.VLLM, Method.BASELINE), plain),
            (RunConfig(EngineKind.VLLM, Method.NGRAM, 3), stock),
        ):
            run = Run(answer.request_id, "group", config, RunStatus.FINISHED, AT, AT)
            request = RecordedRequest(
                Prompt("hello"), tuple(events_of(answer)), RunStatus.FINISHED, AT
            )
            store.ingest(run, [request])
    script = APPS / "embedded.py"
    store_file = str(folder / "runs.duckdb")
    with running_app(script, folder / "app.log", SPECVIZ_STORE=store_file) as url:
        yield url


@pytest.mark.slow
def test_it_opens_and_says_the_same_of_a_step_everywhere(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/runs?group=group")
    expect(page).to_have_title("Runs · specviz", timeout=40_000)
    expect(page.locator(".verdict")).to_contain_text("first difference at token 3", timeout=40_000)
    expect(page.locator(".message")).to_be_hidden()
    settled(page)  # nothing moves under the pointer
    guessed = page.locator(".pane").nth(1).locator(".tok.accepted").first
    guessed.hover()
    tip = page.locator(".tip")
    expect(tip).to_contain_text(f"most likely accepted, by the size of the chunk: {NOT_REPORTED}")
    guessed.click()
    expect(page.locator(".inspector .summary")).to_contain_text(f"{NOT_REPORTED}; it sent")
    page.locator(".pane").nth(1).locator(".tok").first.click()
    expect(page.locator(".inspector .summary")).to_contain_text("nothing was drafted")
