"""Arms on the Live page that are answered elsewhere: what a server reports is set for the user."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect

from specviz.config import EngineKind, Run, RunConfig, RunStatus
from specviz.methods import Method
from specviz.store import open_store
from tests.support.apps.process import APPS, running_app
from tests.support.browsers import settled
from tests.support.servers.scripted_server import Script, serving

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

SLOW_MS = 30_000
HANDSHAKE = {"tracing": True, "method": "ngram", "num_speculative_tokens": 4}
MODEL = "scripted-model"
BASELINE_URL = "http://127.0.0.1:9"


@pytest.fixture(scope="module")
def server_url() -> Iterator[str]:
    models = {"data": [{"id": MODEL}]}
    with serving(Script(handshake=HANDSHAKE, models=models)) as url:
        yield url


@pytest.fixture(scope="module")
def app_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An app whose store knows a server of the same model without speculation."""
    folder = tmp_path_factory.mktemp("arms")
    config = RunConfig(EngineKind.VLLM, Method.BASELINE, model=MODEL, server_url=BASELINE_URL)
    at = datetime(2026, 11, 1, tzinfo=UTC)
    with open_store(folder / "runs.duckdb") as store:
        store.ingest(Run("known", "known", config, RunStatus.FINISHED, at, at), [])
    script = APPS / "embedded.py"
    store_file = str(folder / "runs.duckdb")
    with running_app(script, folder / "app.log", SPECVIZ_STORE=store_file) as url:
        yield url


def paste(page: Page, app_url: str, server_url: str) -> None:
    page.goto(app_url)
    settled(page)
    page.get_by_role("button", name="Arms: ").click()
    page.get_by_role("combobox", name="Arm 3", exact=True).click()
    page.get_by_role("option", name="a server at a URL").click()
    box = page.get_by_label("Server URL")
    box.fill(server_url)
    box.press("Enter")


def test_a_pasted_url_brings_method_k_and_baseline(
    page: Page, app_url: str, server_url: str
) -> None:
    paste(page, app_url, server_url)
    expect(page.get_by_text(f"vLLM 0.32.0 · {MODEL} · ngram, K 4 · traced")).to_be_visible(
        timeout=SLOW_MS
    )
    expect(
        page.get_by_role("button", name=re.compile(r"^Arms: .*ngram K 4 \(at a URL\)"))
    ).to_be_visible()
    page.get_by_role("button", name=f"Add its baseline at {BASELINE_URL}").click()
    label = re.compile(r"^Arms: .*ngram K 4 \(at a URL\) · baseline \(at a URL\)")
    expect(page.get_by_role("button", name=label)).to_be_visible(timeout=SLOW_MS)
    expect(page.get_by_label("Server URL").nth(1)).to_have_value(BASELINE_URL)
    expect(page.get_by_role("button", name="Add its baseline")).to_have_count(0)


def test_a_url_that_does_not_answer_is_one_sentence(page: Page, app_url: str) -> None:
    paste(page, app_url, BASELINE_URL)
    expect(page.get_by_text(f"at {BASELINE_URL}").first).to_be_visible(timeout=SLOW_MS)


def test_top_p_and_top_k_are_in_the_label(page: Page, app_url: str) -> None:
    page.goto(app_url)
    settled(page)
    page.get_by_role("button", name=re.compile("^temperature 0.0 · seed 7")).click()
    for name, value in (("top-p", "0.9"), ("top-k", "40")):
        field = page.get_by_role("spinbutton", name=name)
        field.fill(value)
        field.press("Enter")
    label = "temperature 0.0 · top-p 0.9 · top-k 40 · seed 7 · 128 tokens"
    expect(page.get_by_role("button", name=label)).to_be_visible(timeout=SLOW_MS)
