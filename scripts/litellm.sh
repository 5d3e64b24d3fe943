#!/usr/bin/env bash
# LiteLLM's proxy in an environment of its own, .litellm-venv: its dependencies are not ours. Prints
# the path of its command; the second call only prints it.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=1.100.0 # the newest whose dependencies are all on the index that we test with
folder=${LITELLM_VENV:-.litellm-venv}

if [[ ! -x $folder/bin/litellm ]]; then
    python=.venv/bin/python
    [[ -x $python ]] || python=python3
    echo "Installing LiteLLM $version into $folder ..." >&2
    if command -v uv >/dev/null; then
        uv venv --quiet --clear --python "$python" "$folder" >&2
        uv pip install --quiet --python "$folder/bin/python" "litellm[proxy]==$version" >&2
    else
        "$python" -m venv --clear "$folder" >&2
        "$folder/bin/python" -m pip install --quiet "litellm[proxy]==$version" >&2
    fi
fi
echo "$(realpath -s "$folder")/bin/litellm"
