"""The Live page on two vLLM servers, V1 and V2: every rejected token by name, the run stored and
shared."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from specviz.methods import Method
from specviz.paths import PROJECT_ROOT
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.server import Server
from specviz.servers.vllm.dialect import LAUNCHER
from tests.support.browsers import settled
from tests.support.demo_models import DEMO_DRAFT, DEMO_TARGET
from tests.support.servers.vllm_servers import running
from tests.support.v2.on_cpu import v2_variables

pytestmark = [pytest.mark.e2e, pytest.mark.integration]

ANSWERED_MS = 60_000


def point_arm(page: Page, number: int, server: Server) -> None:
    """Put an arm at the server's URL and wait until the server was asked."""
    page.get_by_role("combobox", name=f"Arm {number}").click()
    page.get_by_role("option", name="a server at a URL").click()
    url = page.get_by_label("Server URL").nth(number - 1)
    url.fill(server.url)
    url.press("Enter")
    expect(page.get_by_text(re.compile(r"^vLLM [\d.]+ · "))).to_have_count(number)
    settled(page)


def run_side_by_side(page: Page, app_url: str, *servers: Server) -> None:
    """Press Run for these servers, of which the last speculates: every decision is traced."""
    page.goto(app_url)
    settled(page)
    page.get_by_role("button", name="Arms").click()
    for number, server in enumerate(servers, start=1):
        point_arm(page, number, server)
    if len(servers) == 1:
        page.get_by_role("combobox", name="Arm 2", exact=True).click()
        page.get_by_role("option", name="off", exact=True).click()
        settled(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="temperature").click()
    length = page.get_by_label("Longest answer, tokens")
    length.fill("32")
    length.press("Enter")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Run", exact=True).click()
    finished = page.locator(".pane[data-phase=finished]")
    expect(finished).to_have_count(len(servers), timeout=ANSWERED_MS)
    expect(page.locator(".badge", has_text="traced")).to_have_count(1)
    expect(page.locator(".pane .draft.rejected").first).to_be_visible()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_run_on_the_v2_runner(
    page: Page, app_url: str, baseline_server: Server, log_dir: Path
) -> None:
    """Its kernels run in Triton's interpreter, a few tokens a second."""
    flags = ("--max-model-len", "512", "--max-num-seqs", "4")
    spec = ServerSpec(
        LAUNCHER, str(DEMO_TARGET), Method.DRAFT_MODEL, str(DEMO_DRAFT), 4, extra_args=flags
    )
    with v2_variables(), running(spec, log_dir) as server:
        run_side_by_side(page, app_url, baseline_server, server)
        expect(page.locator("[data-part=verdict]")).to_contain_text("equals the baseline")
        page.locator(".pane .box.accepted").first.click()
        expect(page.locator("[data-part=inspector]")).to_contain_text("depth 1")


def test_a_run_from_the_click_to_the_stored_decisions(
    page: Page, app_url: str, draft_server: Server
) -> None:
    run_side_by_side(page, app_url, draft_server)
    page.locator(".pane .box.accepted").first.click()
    inspector = page.locator("[data-part=inspector]")
    expect(inspector).to_contain_text("depth 1")
    expect(inspector).to_contain_text("target")

    page.get_by_text("Open the stored run").click()
    expect(page).to_have_url(re.compile(r"/runs\?(group|run)="))
    expect(page.locator(".pane .box.accepted").first).to_be_visible()


@pytest.mark.slow
def test_a_run_beside_a_plain_server_equals_it(
    page: Page, app_url: str, baseline_server: Server, draft_server: Server
) -> None:
    run_side_by_side(page, app_url, baseline_server, draft_server)
    expect(page.locator("[data-part=verdict]")).to_contain_text("equals the baseline")


@pytest.mark.slow
def test_a_command_beside_the_app_stores_its_run_through_it(
    page: Page, app_url: str, store_path: Path, draft_server: Server
) -> None:
    command = [sys.executable, "-m", "specviz", "run", "--server", draft_server.url]
    command += ["--prompt", "A prompt from the shell", "--max-tokens", "8"]
    command += ["--db", str(store_path), "--json"]
    done = subprocess.run(command, cwd=PROJECT_ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert f"The app at {app_url} owns the database" in done.stderr.replace("\n", " ")
    run_id = json.loads(done.stdout)["run_id"]
    page.goto(f"{app_url}/runs?run={run_id}")
    expect(page.get_by_text("A prompt from the shell")).to_be_visible()
    expect(page.locator(".pane .step").first).to_be_visible()
