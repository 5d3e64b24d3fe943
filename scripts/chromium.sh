#!/usr/bin/env bash
# The browser tests need a Chromium: find it or, as root on Debian or Ubuntu, install it.
set -euo pipefail

found() {
    command -v chromium || command -v chromium-browser || command -v google-chrome
}

if found >/dev/null; then
    exit
fi
if [[ $(id -u) -eq 0 ]] && command -v apt-get >/dev/null; then
    echo "Installing Chromium for the browser tests ..."
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null || true
fi
if ! found >/dev/null; then
    echo "No Chromium was found or could be installed, so the browser tests cannot run: install the package chromium and run make test again." >&2
fi
