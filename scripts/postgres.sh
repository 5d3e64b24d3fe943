#!/usr/bin/env bash
# The tests of the shared store start a PostgreSQL: find it or, as root on Debian or Ubuntu, install it.
set -euo pipefail

found() {
    command -v initdb || compgen -G '/usr/lib/postgresql/*/bin/initdb' || compgen -G '/usr/pgsql-*/bin/initdb'
}

if found >/dev/null; then
    exit
fi
if [[ $(id -u) -eq 0 ]] && command -v apt-get >/dev/null; then
    echo "Installing PostgreSQL for the tests of the shared store ..."
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq postgresql >/dev/null || true
fi
if ! found >/dev/null; then
    echo "No PostgreSQL was found or could be installed, so the tests of the shared store cannot run: install the package postgresql and run make test again." >&2
fi
