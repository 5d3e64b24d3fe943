"""Python processes that tests start."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

from specviz.paths import PROJECT_ROOT


def environment(**variables: str) -> dict[str, str]:
    """This process's environment and `variables`; `specviz` and `tests` are found in any folder."""
    return {**os.environ, "PYTHONPATH": str(PROJECT_ROOT), **variables}


def run_python(code: str, *args: object) -> subprocess.CompletedProcess[str]:
    """Run a program in another process."""
    return subprocess.run(
        [sys.executable, "-c", program(code), *map(str, args)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
    )


def program(code: str) -> str:
    """The code for `python -c`, with `sys` imported."""
    return f"import sys\n{textwrap.dedent(code)}"
