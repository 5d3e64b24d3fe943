"""The operator's API keys, and the servers that they are for.

OPENAI_API_KEY goes to no address that was merely typed or is in a plan. The operator names its
servers: SPECVIZ_API_KEY_HOSTS has them, separated by commas, and OPENAI_BASE_URL (as the OpenAI
client reads it) names one more. A server of the fleet may have a variable of its own; that its
host is named is asked of it all the same, because whoever may edit the fleet need not be the
operator.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

from specviz.machine import is_loopback

KEY = "OPENAI_API_KEY"
KEY_HOSTS = "SPECVIZ_API_KEY_HOSTS"
BASE_URL = "OPENAI_BASE_URL"
NO_KEY = "none"
"""A server started without a key accepts anything."""

_PORTS = {"http": 80, "https": 443}

_variables: dict[str, str] = {}
"""Environment variables with a key, by the URL of their server. Of the process, as those are."""


def use_variables(variables: Mapping[str, str]) -> None:
    """From now on servers at these URLs get the keys in these variables; others OPENAI_API_KEY."""
    global _variables
    _variables = dict(variables)


def api_key(url: str) -> str:
    """The key for the server at `url`, NO_KEY where it was not named."""
    key = os.environ.get(_variable(url), "").strip()
    return key if key and is_named(url) else NO_KEY


def is_named(url: str) -> bool:
    """Whether the key is meant for this server.

    A bare name stands for every port over TLS, and on this machine without it; `http://name` also
    without TLS, and `name:port` for that port only.
    """
    names = [*os.environ.get(KEY_HOSTS, "").split(","), os.environ.get(BASE_URL, "")]
    return any(_covers(name.strip(), urlsplit(url)) for name in names if name.strip())


def wants_key(root: str) -> str:
    """What to say of a server that refuses for want of a key."""
    variable = _variable(root)
    if os.environ.get(variable, "").strip() and not is_named(root):
        url = urlsplit(root)
        return (
            f"The server at {root} wants an API key, and {variable} goes only to servers that were "
            f"named for it: add {url.scheme}://{url.netloc} to {KEY_HOSTS} and try again."
        )
    return f"The server at {root} wants an API key: set {variable} and try again."


def _variable(url: str) -> str:
    return _variables.get(url, KEY)


def _covers(name: str, url: SplitResult) -> bool:
    try:
        named = urlsplit(name if "://" in name else f"//{name}")
        same_port = named.port is None or named.port == (url.port or _PORTS.get(url.scheme))
    except ValueError:
        return False  # no host and no port, so it names nothing
    encrypted = url.scheme == "https" or is_loopback(url.hostname or "")
    same_scheme = named.scheme == url.scheme if named.scheme else encrypted
    return bool(named.hostname) and named.hostname == url.hostname and same_port and same_scheme
