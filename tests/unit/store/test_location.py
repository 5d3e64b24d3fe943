"""Where runs are kept, as people write it; a password never comes back out."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from specviz.errors import UsageError
from specviz.store.location import Lake, default_location, parse_location

CATALOG = "dbname=specviz host=db user=team"


def lake(text: str) -> Lake:
    found = parse_location(text)
    assert isinstance(found, Lake)
    return found


def test_a_path_is_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert parse_location("~/runs.duckdb") == Path("/home/me/runs.duckdb")


def test_a_lake_is_its_catalog_and_its_files() -> None:
    found = lake(f"ducklake:postgres:{CATALOG};data=s3://bucket/specviz")
    assert found == Lake(f"{CATALOG} connect_timeout=10", "s3://bucket/specviz/")
    assert found.folder is None
    assert str(found) == f"ducklake:postgres:{CATALOG};data=s3://bucket/specviz/"


def test_a_folder_is_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert lake(f"ducklake:postgres:{CATALOG};data=runs").folder == tmp_path / "runs"


def test_a_time_limit_of_ones_own_stays() -> None:
    found = lake("ducklake:postgres:dbname=x connect_timeout=3;data=/x")
    assert found.catalog == "dbname=x connect_timeout=3"


@pytest.mark.parametrize(
    "text",
    [
        "ducklake:",
        "ducklake:sqlite:x;data=/x",
        "ducklake:postgres:",
        f"ducklake:postgres:{CATALOG}",
        f"ducklake:postgres:{CATALOG};data=",
        f"ducklake:postgres:{CATALOG};data=  ",
        f"ducklake:postgres:{CATALOG};data=https://bucket/x",
        "ducklake:postgres:;data=/x",
        "ducklake:postgres:postgresql://team:hunter2@db/specviz;data=/x",
        "ducklake:postgres:dbname=postgresql://team:hunter2@db/specviz;data=/x",
        "ducklake:postgres:dbname=x password=hunter2 two words;data=/x",
        "ducklake:postgres:dbname=x password='hunter2;data=/x",
        "ducklake:postgres:password='hunter2'x dbname=x;data=/x",
    ],
)
def test_what_is_neither_is_one_sentence_that_does_not_repeat_it(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_location(text)
    assert "hunter2" not in str(caught.value)
    assert str(caught.value).endswith((".", "….")) and "\n" not in str(caught.value)


passwords = st.text(st.characters(codec="ascii", exclude_characters="\0"), min_size=8)


@given(passwords)
@example("ducklake")
def test_a_password_is_in_the_catalog_and_no_text_depends_on_it(password: str) -> None:
    written = "'" + password.replace("\\", "\\\\").replace("'", "\\'") + "'"
    found = lake(f"ducklake:postgres:{CATALOG} password={written};data=/x")
    assert written in found.catalog
    # as DuckDB, libpq and SQL repeat it
    for said in (found.catalog, password, written, found.catalog.replace("'", "''")):
        assert password not in found.masked(f"Unable to connect ({said}) today")
    other = lake(f"ducklake:postgres:{CATALOG} password='hunter2';data=/x")
    assert (str(found), repr(found)) == (str(other), repr(other))


def test_text_without_secrets_stays() -> None:
    found = lake(f"ducklake:postgres:{CATALOG};data=/x")
    assert found.masked("No such file: a=b") == "No such file: a=b"


def test_the_environment_chooses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVIZ_STORE", f"ducklake:postgres:{CATALOG};data=/x")
    assert default_location() == lake(f"ducklake:postgres:{CATALOG};data=/x")


@pytest.mark.parametrize("written", ["secret", r"'it\'s secret\\ ;data=x'"])
def test_for_reading_the_password_is_next_to_the_lake(
    written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPECVIZ_STORE_READER", raising=False)
    monkeypatch.setenv("PGPASSWORD", "of the environment")
    text = f"ducklake:postgres:dbname=a user=b password={written};data=/x"
    reading, password = lake(text).for_reading()
    assert "password" not in reading.catalog and "dbname=a user=b" in reading.catalog
    assert password == ("secret" if written == "secret" else "it's secret\\ ;data=x")
    assert lake("ducklake:postgres:dbname=a;data=/x").for_reading()[1] == "of the environment"


def test_a_user_who_only_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    owned = lake("ducklake:postgres:dbname=a user=b password=c;data=/x")
    monkeypatch.setenv("SPECVIZ_STORE_READER", "user=reader password='only reads'")
    reading, password = owned.for_reading()
    assert "user=reader" in reading.catalog and "user=b" not in reading.catalog
    assert password == "only reads"
    monkeypatch.delenv("PGPASSWORD", raising=False)
    monkeypatch.setenv("SPECVIZ_STORE_READER", "user=reader")
    assert owned.for_reading()[1] == ""
    monkeypatch.setenv("SPECVIZ_STORE_READER", "only reads")
    with pytest.raises(UsageError, match="SPECVIZ_STORE_READER is written user=") as raised:
        owned.for_reading()
    assert "only reads" not in str(raised.value)
