"""What pip is configured to use, as uv's environment variables: `eval "$(python pip_settings.py)"`.

uv reads no file of pip's and none of its variables. A variable of uv's that is set stays. Any
Python with a pip may run this, older ones than specviz's too.
"""

from __future__ import annotations

import ast
import os
import shlex
import subprocess
import sys

# pip's name, uv's variable, and what separates several values in it: pip's are separated by space.
VARIABLES = [
    ("index-url", "UV_DEFAULT_INDEX", " "),
    ("extra-index-url", "UV_INDEX", " "),
    ("find-links", "UV_FIND_LINKS", ","),
    ("trusted-host", "UV_INSECURE_HOST", " "),
    ("no-index", "UV_NO_INDEX", " "),
    ("cert", "SSL_CERT_FILE", " "),
    ("client-cert", "SSL_CLIENT_CERT", " "),
    ("proxy", "ALL_PROXY", " "),
    ("default-timeout", "UV_HTTP_TIMEOUT", " "),
    ("timeout", "UV_HTTP_TIMEOUT", " "),
]


def pip_settings(listed: str) -> dict[str, str]:
    """Each option's value out of `pip config list`: [install] goes before [global], PIP_* first."""
    found: dict[str, str] = {}
    for section in ("global", "install", ":env:"):
        for line in listed.splitlines():
            name, _, value = line.partition("=")
            if name.startswith(f"{section}."):
                found[name[len(section) + 1 :]] = ast.literal_eval(value)
    return found


def uv_variables(settings: dict[str, str]) -> dict[str, str]:
    """The same for uv: an index is searched for the best version among all of them, as pip does."""
    variables = {"UV_INDEX_STRATEGY": "unsafe-best-match"}
    for option, variable, separator in VARIABLES:
        if option in settings:
            variables[variable] = separator.join(settings[option].split())
    return variables


def main() -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "config", "list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for variable, value in uv_variables(pip_settings(listed)).items():
        if variable not in os.environ:
            print(f"export {variable}={shlex.quote(value)}")


if __name__ == "__main__":
    main()
