"""The packaged model, tiny, and a cache of the test's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.models.tiny_package import write_tiny_package


@pytest.fixture
def kept_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The models' folder in the cache; the package is found in place of the installed one."""
    write_tiny_package(tmp_path / "site")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "specviz" / "models"
