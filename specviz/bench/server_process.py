"""Where the server of an arm runs, and as which process: its work is not somebody else's."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

import psutil

from specviz.analysis.benchmark.disturbance import CLIENT_ONLY, NOT_WATCHED, THIS_MACHINE

FORWARDERS = frozenset({"docker-proxy", "kubectl", "rootlessport", "slirp4netns", "ssh", "sshd"})
"""They listen in place of a server that runs elsewhere."""


def watched_of(url: str | None) -> tuple[str, int | None]:
    """What can be watched of a server, and its process; `url` None: it is a process of ours.

    Of a server on another machine only the client is. Of one on this machine nothing is where its
    process cannot be found, because its work would count as somebody else's.
    """
    if url is None:
        return THIS_MACHINE, None
    parts = urlsplit(url)
    if not _is_here(parts.hostname or ""):
        return CLIENT_ONLY, None
    pid = _listening(parts.port or (443 if parts.scheme == "https" else 80))
    return (NOT_WATCHED, None) if pid is None else (THIS_MACHINE, pid)


def _is_here(host: str) -> bool:
    try:
        addresses = {str(info[4][0]) for info in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    own = {address.address.split("%")[0] for each in psutil.net_if_addrs().values()
           for address in each}  # fmt: skip
    return any(address.startswith("127.") or address in own for address in addresses)


def _listening(port: int) -> int | None:
    """The process that listens on a TCP port; None where it is not shown or only forwards."""
    try:
        found: list[int | None] = [
            each.pid
            for each in psutil.net_connections("tcp")
            if each.status == psutil.CONN_LISTEN and each.laddr.port == port
        ]
        pids = [pid for pid in found if pid is not None]
        if len(pids) < len(found) or not pids or psutil.Process(pids[0]).name() in FORWARDERS:
            return None
    except psutil.Error:
        return None
    return pids[0]
