"""A Streamlit app that shows the token strip's scenarios, and a way to open one."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from app_process import running_app
from playwright.sync_api import Page
from strip_reading import Opener


@pytest.fixture(scope="session")
def strip_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    log = tmp_path_factory.mktemp("strip") / "app.log"
    with running_app(Path(__file__).with_name("strip_app.py"), log) as url:
        yield url


@pytest.fixture
def open_strip(strip_url: str, page: Page) -> Opener:
    """Open a scenario: `open_strip("tree", mode="replay", size=1000)`."""

    def open_scenario(name: str, *, mode: str = "live", **query: object) -> Page:
        source = f"/ws/{name}/{uuid.uuid4().hex}?{urlencode({'mode': mode, **query})}"
        page.goto(f"{strip_url}/?{urlencode({'source': source if name else '', 'mode': mode})}")
        page.locator(".strip-root").wait_for(state="attached")
        return page

    return open_scenario
