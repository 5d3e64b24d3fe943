"""The Servers page: servers are added, seen to go down and come back, and used elsewhere."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from specviz.policy.file import policy_toml
from specviz.policy.policy import Basis, Policy, Row
from tests.support.apps.process import ROOT
from tests.support.browsers import settled
from tests.support.servers.scripted_server import Script, serving

pytestmark = pytest.mark.e2e

SLOW_MS = 30_000
HANDSHAKE = {"tracing": True, "method": "ngram", "num_speculative_tokens": 4}


def add(page: Page, name: str, url: str, labels: str = "") -> Locator:
    """Adds a server; its row."""
    settled(page)
    page.get_by_role("button", name="Add a URL").click(timeout=SLOW_MS)
    page.get_by_label("URL", exact=True).fill(url)
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Labels", exact=True).fill(labels)
    page.get_by_role("button", name="Add", exact=True).click()
    return row_of(page, name)


def row_of(page: Page, name: str) -> Locator:
    heading = page.get_by_role("heading", name=name, exact=True)
    return page.locator("[class*=st-key-fleet_row_]").filter(has=heading)


def choose(page: Page, row: Locator, action: str) -> None:
    row.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name=action).click()


def test_from_nothing_to_a_server_that_goes_down_and_comes_back(page: Page, bare_url: str) -> None:
    script = Script(handshake=HANDSHAKE, running=3)
    with ExitStack() as server:
        url = server.enter_context(serving(script))
        page.goto(f"{bare_url}/servers")
        expect(page.get_by_text("No server yet.")).to_be_visible(timeout=SLOW_MS)
        row = add(page, "gpu-1", "http://me:secret@gpu-1", "GPU box, H100")
        expect(page.get_by_role("dialog")).to_contain_text(
            "Leave user and password out of the URL", timeout=SLOW_MS
        )
        page.get_by_label("URL", exact=True).fill(url)
        page.get_by_role("button", name="Add", exact=True).click()
        expect(row).to_contain_text("ngram · K 4", timeout=SLOW_MS)
        for said in ("vLLM 0.32.0", "traced", "GPU box · H100", "no requests"):
            expect(row).to_contain_text(said)
        choose(page, row, "What it reports")
        expect(page.get_by_role("dialog")).to_contain_text("64 tokens")
        page.keyboard.press("Escape")
    expect(row).to_contain_text("not reachable since", timeout=SLOW_MS)
    expect(row).to_contain_text("vLLM 0.32.0")
    expect(row.get_by_role("button", name="Live")).to_have_count(0)
    with serving(script, urlsplit(url).port):
        row.get_by_role("button", name="Check").click()
        expect(row).not_to_contain_text("not reachable", timeout=SLOW_MS)
        row.get_by_role("button", name="Live").click()
        label = re.compile(r"ngram K 4 \(at a URL\)")
        expect(page.get_by_role("button", name=label)).to_be_visible(timeout=SLOW_MS)
    page.get_by_role("link", name="Servers").click()
    settled(page)
    choose(page, row, "Remove")
    expect(row).to_have_count(0)


@pytest.mark.slow
def test_a_server_is_used_in_a_benchmark_and_in_technique(page: Page, bare_url: str) -> None:
    with serving(Script(handshake=HANDSHAKE, running=3)) as url:
        page.goto(f"{bare_url}/servers")
        add(page, "box", url).get_by_role("button", name="Bench").click(timeout=SLOW_MS)
        server = page.get_by_role("combobox", name=re.compile("Server of arm"))
        expect(server).to_have_value("box", timeout=SLOW_MS)

        page.goto(f"{bare_url}/servers")
        expect(row_of(page, "box")).to_contain_text("traced", timeout=SLOW_MS)
        choose(page, row_of(page, "box"), "Use in Technique")
        page.wait_for_url(re.compile("/technique.*server="), timeout=SLOW_MS)


def test_a_server_that_starts_shows_its_log_and_can_be_stopped(page: Page, bare_url: str) -> None:
    page.goto(f"{bare_url}/servers")
    settled(page)
    page.get_by_role("button", name="Start here").click(timeout=SLOW_MS)
    row = row_of(page, "demo-target · draft_model · K 5")
    expect(row).to_contain_text("starting", timeout=SLOW_MS)
    row.get_by_role("button", name="More").click()
    expect(page.get_by_role("menuitem")).to_have_text(["Log", "Stop"])
    page.get_by_role("menuitem", name="Log").click()
    expect(page.get_by_role("dialog")).to_contain_text("vllm-draft_model-", timeout=SLOW_MS)
    page.keyboard.press("Escape")
    choose(page, row, "Stop")
    expect(row).to_have_count(0, timeout=SLOW_MS)


def test_a_server_runs_from_start_to_stop(page: Page, bare_url: str) -> None:
    page.goto(f"{bare_url}/servers?launch_framework=llama.cpp&launch_method=ngram")
    settled(page)
    page.get_by_role("button", name="Start here").click(timeout=SLOW_MS)
    row = row_of(page, "demo-target · ngram · K 5")
    for said in ("llama.cpp b", "counted", "ngram · K 5"):
        expect(row).to_contain_text(said, timeout=120_000)
    expect(row.get_by_role("button", name="Live")).to_be_visible()
    heads = page.locator(".fleet .heads > div")
    cells = row.locator(".row > div, .row dl > div")
    expect(cells).to_have_count(heads.count())
    for head, cell in zip(heads.all(), cells.all(), strict=True):
        above, below = head.bounding_box(), cell.bounding_box()
        assert above and below and abs(above["x"] - below["x"]) < 2, head.inner_text()
    choose(page, row, "Stop")
    expect(row).to_have_count(0, timeout=SLOW_MS)


def test_the_command_is_copied_for_a_server_elsewhere(page: Page, bare_url: str) -> None:
    page.goto(f"{bare_url}/servers?launch_framework=SGLang&launch_target=org/target")
    settled(page)
    expect(page.get_by_role("button", name="Start here")).to_be_disabled(timeout=SLOW_MS)
    page.get_by_role("button", name="Copy the command").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "org/target" in copied and "NGRAM" in copied


@pytest.mark.slow
def test_a_command_next_to_the_app_configures_a_proxy(
    app_url: str, store_path: Path, tmp_path: Path
) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(policy_toml(Policy(4, (4,), (Row((4,), (Basis.EDITED,)),))))

    def servers(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "specviz", "servers", *arguments, "--db", str(store_path)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done

    with (
        serving(Script(handshake=HANDSHAKE)) as fast,
        serving(Script(speculates=False)) as plain,
    ):
        servers("add", "fast", fast)
        servers("add", "plain", plain, "--baseline-of", "fast")
        wanted = ("route", "--policy", str(policy), "--litellm", str(tmp_path / "proxy"))
        done = servers(*wanted, "--json")
    assert f"The app at {app_url} owns the database" in done.stderr.replace("\n", " ")
    found = json.loads(done.stdout)
    assert (found["plain"], found["speculating"]) == (["plain"], ["fast"])
    config = (tmp_path / "proxy" / "config.yaml").read_text()
    assert fast in config and plain in config
