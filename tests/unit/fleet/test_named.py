"""Named servers get the keys of their own variables, where the operator named their hosts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from specviz.fleet.named import add_named, as_typed, remove_named, replace_named
from specviz.servers.client.api_key import KEY, KEY_HOSTS, NO_KEY, api_key, use_variables, wants_key
from specviz.store import Store, open_store
from tests.support.store.made import made

URL = "http://gpu-1:8000"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv(KEY, "sk-general")
    monkeypatch.setenv("GPU1_API_KEY", "sk-gpu-1")
    monkeypatch.setenv(KEY_HOSTS, "http://gpu-1, http://gpu-2")
    with open_store(made(tmp_path / "runs.duckdb")) as opened:
        yield opened
    use_variables({})


def test_a_server_gets_its_own_key_as_soon_as_it_is_named(store: Store) -> None:
    assert api_key(URL) == "sk-general"
    add_named(store, as_typed("gpu-1", f"{URL}/v1", key_env=" GPU1_API_KEY "))
    assert api_key(URL) == "sk-gpu-1" and api_key("http://gpu-2") == "sk-general"
    replace_named(store, "gpu-1", as_typed("gpu-1", "http://gpu-2", key_env="GPU1_API_KEY"))
    assert api_key(URL) == "sk-general" and api_key("http://gpu-2") == "sk-gpu-1"
    remove_named(store, "gpu-1")
    assert api_key("http://gpu-2") == "sk-general"


def test_naming_a_server_sends_no_key_to_a_host_that_the_operator_did_not_name(
    store: Store,
) -> None:
    add_named(store, as_typed("evil", "http://evil.test", key_env="GPU1_API_KEY"))
    assert api_key("http://evil.test") == NO_KEY
    assert "GPU1_API_KEY goes only to servers that were named for it: add http://evil.test" in (
        wants_key("http://evil.test")
    )
