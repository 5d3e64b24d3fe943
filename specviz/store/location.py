"""Where runs are kept: a DuckDB file of this machine, or a DuckLake that a team shares.

A lake is written `ducklake:postgres:dbname=specviz host=db user=team;data=s3://bucket/specviz`:
libpq's keywords of its catalog, a PostgreSQL database
(https://www.postgresql.org/docs/current/libpq-connect.html), then where its Parquet files are.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from specviz.errors import UsageError
from specviz.paths import DATA
from specviz.store.quoting import literal

LAKE = "ducklake:"
POSTGRES = "ducklake:postgres:"
FILES = ";data="
S3 = "s3://"
EXAMPLE = f"{POSTGRES}dbname=specviz host=db user=team{FILES}s3://bucket/specviz"

READER = "SPECVIZ_STORE_READER"
CONNECT_TIMEOUT_S = 10
_SHOWN = ("dbname", "host", "hostaddr", "port", "user")
_KEYWORD = re.compile(r"\s*(\w+)\s*=\s*('(?:[^'\\]|\\.)*'|(?:[^\s'\\]|\\.)+)(?=\s|$)")


@dataclass(frozen=True, slots=True)
class Lake:
    """A PostgreSQL catalog and its Parquet files. As text it has no password.

    `catalog`: libpq's keywords, which may have one; `files`: an absolute folder or s3://….
    """

    catalog: str = field(repr=False)
    files: str

    def __str__(self) -> str:
        keywords = _keywords(self.catalog)
        shown = " ".join(f"{name}={keywords[name]}" for name in _SHOWN if name in keywords)
        return f"{POSTGRES}{shown}{FILES}{self.files}"

    @property
    def folder(self) -> Path | None:
        """Where the files are, unless they are on S3."""
        return None if self.files.startswith(S3) else Path(self.files)

    def for_reading(self) -> tuple[Lake, str]:
        """The lake as users' SQL may see it, without a password, and the password for PGPASSWORD.

        `$SPECVIZ_STORE_READER` has libpq's keywords of a PostgreSQL user who may only read; without
        it, it is the lake's own user. Raises UsageError, without quoting the keywords.
        """
        keywords = _keywords(self.catalog)
        if given := os.environ.get(READER, "").strip():
            reader = _keywords(given)
            if "user" not in reader:
                raise UsageError(f"{READER} is written user=… password=…, in libpq's keywords.")
            keywords = {**keywords, "password": "", **reader}
        password = _plain(keywords.pop("password", "")) or os.environ.get("PGPASSWORD", "")
        catalog = " ".join(f"{name}={value}" for name, value in keywords.items())
        return Lake(catalog, self.files), password

    def masked(self, text: str) -> str:
        """The text of an error without the catalog's keywords, the password among them."""
        written = _keywords(self.catalog).get("password", "")
        for secret in (self.catalog, literal(self.catalog), written, _plain(written)):
            if secret:
                text = text.replace(secret, "…")
        return text


Location = Path | Lake


def parse_location(text: str) -> Location:
    """The path of a file or the text of a lake. Raises UsageError, without quoting the text."""
    if not text.startswith(LAKE):
        return Path(text).expanduser()
    catalog, separator, files = text.removeprefix(POSTGRES).rpartition(FILES)
    if not text.startswith(POSTGRES) or not separator or not files.strip():
        raise UsageError(f"A shared store is written {EXAMPLE}: the catalog, then the files.")
    if not _keywords(catalog) or "://" in catalog:  # libpq takes a URI as dbname, password and all
        raise UsageError(
            "The catalog of a shared store is written in libpq's keywords, "
            "like dbname=specviz host=db user=team: a value with spaces in single quotes."
        )
    if "connect_timeout" not in _keywords(catalog):
        catalog = f"{catalog.strip()} connect_timeout={CONNECT_TIMEOUT_S}"
    return Lake(catalog, _files(files.strip()))


def default_location() -> Location:
    """`$SPECVIZ_STORE`, else data/specviz.duckdb under the project's root. Raises UsageError."""
    chosen = os.environ.get("SPECVIZ_STORE")
    return parse_location(chosen) if chosen else DATA / "specviz.duckdb"


def _plain(written: str) -> str:
    """The value of a keyword, as it was before quoting."""
    return re.sub(r"\\(.)", r"\1", written.removeprefix("'").removesuffix("'"))


def _files(text: str) -> str:
    if text.startswith(S3):
        return text.rstrip("/") + "/"
    if "://" in text:
        raise UsageError(f"The files of a shared store are in a folder or under {S3}bucket/….")
    return f"{Path(text).expanduser().resolve()}/"


def _keywords(catalog: str) -> dict[str, str]:
    """Names and values as they are written; none if any part is not a keyword with a value."""
    found = {}
    at = 0
    while catalog[at:].strip():
        keyword = _KEYWORD.match(catalog, at)
        if keyword is None:
            return {}
        found[keyword[1].lower()] = keyword[2]
        at = keyword.end()
    return found
