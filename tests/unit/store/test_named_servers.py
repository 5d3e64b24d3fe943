"""Named servers: kept as they are, one of each name, and no key among them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.config import EngineKind
from specviz.errors import UsageError
from specviz.store import Store
from specviz.store.named_servers import (
    MAX_SERVERS,
    NamedServer,
    delete_server,
    put_server,
    read_server,
    read_servers,
)

AT = datetime(2026, 11, 1, 12, tzinfo=UTC)
GPU = NamedServer(
    "gpu-1", "http://gpu-1:8000", AT, EngineKind.VLLM, "GPU1_API_KEY", ("GPU box", "H100")
)
PLAIN = NamedServer("plain", "http://gpu-1:8001", AT - timedelta(days=1), baseline_of="gpu-1")

texts = st.text(st.characters(categories=("L", "N", "P", "S")), min_size=1, max_size=40)


def names(store: Store) -> list[str]:
    return [server.name for server in store.read(read_servers)]


def test_a_server_is_read_as_it_was_put_and_its_baseline_stands_behind_it(store: Store) -> None:
    store.write(put_server, GPU, None)
    store.write(put_server, PLAIN, None)
    assert store.read(read_servers) == [GPU, PLAIN]


@given(name=texts, label=texts)
def test_any_printable_name_and_label_comes_back(
    shared_store: Store, name: str, label: str
) -> None:
    server = NamedServer(name, "http://a.test", AT, labels=(label,))
    shared_store.write(put_server, server, None)
    assert shared_store.read(read_server, name) == server
    shared_store.write(delete_server, name)
    assert shared_store.read(read_servers) == []


def test_a_new_name_is_followed_by_the_baselines(store: Store) -> None:
    store.write(put_server, GPU, None)
    store.write(put_server, PLAIN, None)
    store.write(put_server, replace(GPU, name="big"), "gpu-1")
    assert names(store) == ["big", "plain"]
    assert store.read(read_server, "plain").baseline_of == "big"
    store.write(delete_server, "big")
    assert store.read(read_servers) == [replace(PLAIN, baseline_of=None)]


@pytest.mark.parametrize(
    ("server", "replacing", "said"),
    [
        (replace(GPU, url="http://other"), None, "There is a server gpu-1 already"),
        (replace(PLAIN, name="gpu-1", baseline_of=None), "plain", "There is a server gpu-1"),
        (PLAIN, "gone", "There is no server gone: there are gpu-1, plain"),
        (replace(GPU, name="new", baseline_of="gone"), None, "There is no server gone"),
    ],
)
def test_what_does_not_fit_the_others_is_refused_and_changes_nothing(
    store: Store, server: NamedServer, replacing: str | None, said: str
) -> None:
    store.write(put_server, GPU, None)
    store.write(put_server, replace(PLAIN, baseline_of=None), None)
    before = store.read(read_servers)
    with pytest.raises(UsageError, match=said):
        store.write(put_server, server, replacing)
    assert store.read(read_servers) == before


def test_there_is_a_limit(store: Store) -> None:
    def fill(cursor: object) -> None:
        for number in range(MAX_SERVERS):
            put_server(cursor, replace(GPU, name=f"gpu-{number}"), None)  # type: ignore[arg-type]

    store.write(fill)
    with pytest.raises(UsageError, match="remove one first"):
        store.write(put_server, replace(GPU, name="one more"), None)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": " gpu"}, "A server's name"),
        ({"name": ""}, "A server's name"),
        ({"name": "a\nb"}, "A server's name"),
        ({"labels": ("x" * 41,)}, "A server's label"),
        ({"url": "ftp://gpu-1"}, "is not a server URL"),
        ({"url": "http://me:secret@gpu-1"}, "Leave user and password out"),
        ({"url": "http://gpu-1?key=secret"}, "Leave everything from the"),
        ({"key_env": "sk-1234"}, "a key itself is never stored"),
        ({"key_env": "AWS_SECRET_ACCESS_KEY"}, "ends in API_KEY"),
        ({"key_env": "SPECVIZ_INGEST_TOKEN"}, "ends in API_KEY"),
        ({"baseline_of": "gpu-1"}, "its own baseline"),
        ({"kind": EngineKind.EMBEDDED}, "is no server"),
    ],
)
def test_what_cannot_be_a_server_is_one_sentence(changes: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        replace(GPU, **changes)  # type: ignore[arg-type]
