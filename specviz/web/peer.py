"""Whose process is at the other end of a connection from this machine.

Linux lists every TCP socket with its user (proc(5), /proc/net/tcp). A socket that is closed
already belongs to nobody there, so nothing can be sent and the sender hidden.
"""

from __future__ import annotations

import os
import sys
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

Address = tuple[str, int]

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
ROOT = 0
_LOCAL, _REMOTE, _UID, _INODE = 1, 2, 7, 9  # columns


def is_own_process(client: Address | None, server: Address | None) -> bool:
    """Whether a program of this machine and of this process's user (or root) is at the other end.

    Where the system has no table (not on Linux), every program of this machine counts.
    """
    if client is None or server is None or not _is_here(client[0], server[0]):
        return False
    if not TABLES[0].exists():
        return True
    return uid_of(client, server) in (os.geteuid(), ROOT)


def uid_of(client: Address, server: Address) -> int | None:
    """The user whose open socket is connected from `client` to `server`; None without one."""
    pairs = {
        (_as_listed(here, client[1]), _as_listed(there, server[1]))
        for here, there in zip(_forms(client[0]), _forms(server[0]), strict=False)
    }
    for table in TABLES:
        if not table.exists():
            continue
        for line in table.read_text(encoding="ascii").splitlines()[1:]:
            columns = line.split()
            if (columns[_LOCAL], columns[_REMOTE]) in pairs and columns[_INODE] != "0":
                return int(columns[_UID])
    return None


def address_of(host: str) -> IPv4Address | IPv6Address | None:
    """An address in its plain form (a socket for both families has ::ffff:1.2.3.4); None for a
    name."""
    try:
        address = ip_address(host)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _is_here(client: str, server: str) -> bool:
    address = address_of(client)
    return address is not None and (address.is_loopback or address == address_of(server))


def _forms(host: str) -> tuple[bytes, ...]:
    """The packed address; an IPv4 one also as a socket for both families has it."""
    address = address_of(host)
    if isinstance(address, IPv4Address):
        return address.packed, b"\0" * 10 + b"\xff\xff" + address.packed
    return (address.packed,) if address else ()


def _as_listed(packed: bytes, port: int) -> str:
    """In hexadecimal, each word of four bytes in the machine's order."""
    words = (packed[start : start + 4] for start in range(0, len(packed), 4))
    return "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words) + f":{port:04X}"
