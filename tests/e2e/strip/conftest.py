"""A Streamlit app that shows the token strip's scenarios, and a way to open one."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page

from tests.support.apps.process import APPS, running_app
from tests.support.strip.reading import Opener


@pytest.fixture(scope="session")
def strip_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    log = tmp_path_factory.mktemp("strip") / "app.log"
    with running_app(APPS / "strip.py", log) as url:
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
