#!/usr/bin/env bash
# The unit tests in another Python than that of .venv, in .venv-3.12 for Python 3.12: without torch
# and vLLM, so that it takes minutes. Usage: scripts/test_pythons.sh [PYTHON] [-- PYTEST ARGUMENTS]
set -euo pipefail

version() {
    "$1" -c 'import sys; print(f"{sys.version_info[0]}.{sys.version_info[1]}")'
}

named=
if [[ $# -gt 0 && $1 != -- ]]; then
    named=$1
    shift
fi
if [[ ${1:-} == -- ]]; then shift; fi

mine=$(version .venv/bin/python)
if [[ $named ]]; then
    python=$(scripts/python.sh "$named") || {
        echo "$named is not one of the Pythons that specviz runs on." >&2
        exit 1
    }
else
    python=$(scripts/python.sh --but "$mine") || {
        echo "Skipped: of the Pythons that specviz runs on, this machine has $mine only; name another with make test-pythons PYTHON=/path/to/python."
        exit
    }
fi
if [[ ! -x .venv/bin/uv ]]; then
    echo "Skipped: uv, which makes the second environment, could not be installed in .venv."
    exit
fi

other=.venv-$(version "$python")
eval "$(.venv/bin/python scripts/pip_settings.py)"
if [[ ! -x $other/bin/python ]]; then
    .venv/bin/uv venv --quiet --python "$python" "$other"
fi
.venv/bin/uv pip sync --quiet --python "$other/bin/python" requirements/app.lock
echo "Unit tests in $("$other/bin/python" --version), with requirements/app.lock:"
# The benchmarks' processes, too, find specviz here.
PYTHONPATH=$PWD "$other/bin/python" -m pytest -p no:cacheprovider -n auto tests/unit "$@"
