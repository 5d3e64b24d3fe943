#!/usr/bin/env bash
# Print the path of a Python that specviz runs on: of PYTHON alone where one is named, else of the
# first that works. Usage: scripts/python.sh [PYTHON | --but VERSION]
set -euo pipefail

# 3.11 first: every test runs on it, vLLM's and the browser's too; on the others, the unit tests.
versions=(3.11 3.12 3.13)
pyenv="${PYENV_ROOT:-$HOME/.pyenv}/versions"

supported() { # by running it: pyenv's command python3.12 may be there where Python 3.12 is not
    "$1" -c 'import sys; sys.exit("%d.%d" % sys.version_info[:2] not in sys.argv[1:])' \
        "${versions[@]}" 2>/dev/null
}

if [[ ${1:-} == --but ]]; then
    versions=("${versions[@]/#"$2"/}")
    shift 2
fi
if [[ $# -gt 0 ]]; then
    candidates=("$1")
else
    shopt -s nullglob
    for version in ${versions[@]}; do
        candidates+=("python$version" "$pyenv/$version".*/bin/python)
    done
    candidates+=(python3 python)
fi
for candidate in "${candidates[@]}"; do
    if supported "$candidate"; then
        exec "$candidate" -c 'import sys; print(sys.executable)'
    fi
done
exit 1
