"""The files of a launch: written without overwriting, and packed."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from specviz.deploy.files import archive, write
from specviz.errors import UsageError

FILES = {"repository/model/config.pbtxt": "a\n", "repository/model/1/model.json": "{}\n"}


def test_written_where_the_names_say(tmp_path: Path):
    paths = write(FILES, tmp_path / "new")
    assert [path.read_text(encoding="utf-8") for path in paths] == list(FILES.values())


def test_nothing_is_overwritten_and_nothing_half_written(tmp_path: Path):
    there = tmp_path / "repository/model/1/model.json"
    there.parent.mkdir(parents=True)
    there.write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match=r"model\.json exists: name another folder"):
        write(FILES, tmp_path)
    assert there.read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / "repository/model/config.pbtxt").exists()


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match="Nothing can be written to"):
        write(FILES, tmp_path / "file")


def test_an_archive_has_the_same_bytes_each_time():
    packed = archive(FILES)
    assert packed == archive(dict(reversed(FILES.items())))
    with zipfile.ZipFile(io.BytesIO(packed)) as opened:
        assert {name: opened.read(name).decode() for name in opened.namelist()} == FILES
