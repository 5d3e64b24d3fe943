"""The secret of a running app: who can read it, and for how long there is one."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from specviz.errors import StoreError
from specviz.paths import DATA
from specviz.runtime import opened
from specviz.store import StoreBusy
from specviz.store.location import parse_location
from specviz.store.owner import Owner
from specviz.store.secret import published_secret, read_secret, secret_path


def test_only_its_user_can_read_it(tmp_path: Path) -> None:
    store = tmp_path / "runs.duckdb"
    before = os.umask(0)
    try:
        with published_secret(store) as secret:
            mode = secret_path(store).stat().st_mode
            assert stat.S_IMODE(mode) == 0o600
            assert read_secret(store) == secret and len(secret) == 64
    finally:
        os.umask(before)
    assert list(tmp_path.iterdir()) == []


def test_every_start_has_another(tmp_path: Path) -> None:
    store = tmp_path / "runs.duckdb"
    secret_path(store).write_text("0" * 64)  # of an app that was killed
    secret_path(store).chmod(0o644)
    secret_path(store).with_name("runs.duckdb.secret.new").write_text("half")
    with published_secret(store) as secret:
        assert secret != "0" * 64
        assert stat.S_IMODE(secret_path(store).stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", "x", "0" * 63, "0" * 64 + "\n", "é" * 64, "0" * 63 + "\r"])
def test_what_is_no_secret_is_not_sent(tmp_path: Path, text: str) -> None:
    secret_path(tmp_path / "runs.duckdb").write_text(text)
    assert read_secret(tmp_path / "runs.duckdb") is None


def test_an_app_that_ends_later_keeps_its_own(tmp_path: Path) -> None:
    store = tmp_path / "runs.duckdb"
    with published_secret(store):
        with published_secret(store) as second:
            pass
        assert read_secret(store) is None
    with published_secret(store):
        secret_path(store).write_text(second)
    assert read_secret(store) == second


def test_a_shared_store_has_none_of_its_own() -> None:
    lake = parse_location("ducklake:postgres:dbname=d host=h;data=s3://bucket/x")
    assert secret_path(lake) == DATA / "shared-store.secret"


def test_no_place_for_it_is_a_sentence(tmp_path: Path) -> None:
    with (
        pytest.raises(StoreError, match="secret cannot be written"),
        published_secret(tmp_path / "none" / "runs.duckdb"),
    ):
        pass


def test_a_running_app_has_one_and_its_commands_find_it(tmp_path: Path) -> None:
    store = tmp_path / "runs.duckdb"
    with opened(store) as current:
        assert current.secret == read_secret(store)
        assert current.secret not in repr(current)
        assert StoreBusy(store, Owner(1, "http://127.0.0.1:1")).secret == current.secret
        assert StoreBusy(store, Owner(1)).secret is None
    assert read_secret(store) is None
