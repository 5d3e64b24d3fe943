#!/usr/bin/env bash
# The browser tests need a Chromium: find it or, as root on Debian or Ubuntu, install it. Debian has
# it without its windows, too, which opens a page in half the processor time.
set -euo pipefail

headless() {
    command -v chromium-headless-shell
}
found() {
    headless || command -v chromium
}
get() {
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$1" >/dev/null 2>&1
}

if headless >/dev/null; then
    exit
fi
if [[ $(id -u) -eq 0 ]] && command -v apt-get >/dev/null; then
    echo "Installing Chromium for the browser tests ..."
    apt-get update -qq || true
    get chromium-headless-shell || found >/dev/null || get chromium || true
fi
if ! found >/dev/null; then
    echo "No Chromium was found or could be installed, so the browser tests cannot run: install the package chromium and run make test again." >&2
fi
