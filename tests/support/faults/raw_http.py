"""Requests exactly as written: `answers` here, or in a process of another user (`main`)."""

from __future__ import annotations

import contextlib
import json
import socket
import sys

TIMEOUT_S = 60.0
UPGRADED = b"HTTP/1.1 101"
"""A WebSocket stays open; all other answers end with the connection."""


def answers(port: int, requests: list[str]) -> list[tuple[int, bool, str]]:
    """Of each request its status, whether the app itself answered, and the first of the body."""
    return [_answer(port, request.encode("latin-1")) for request in requests]


def _answer(port: int, request: bytes) -> tuple[int, bool, str]:
    with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S) as connection:
        with contextlib.suppress(ConnectionError):  # refused before it was all sent
            connection.sendall(request)
        received = b""
        while not (received.startswith(UPGRADED) and b"\r\n\r\n" in received):
            try:
                piece = connection.recv(65536)
            except ConnectionError:
                break
            if not piece:
                break
            received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    status = int(head.split(b" ", 2)[1]) if head else 0
    return status, b"x-inside: 1" in head.lower(), body[:300].decode("latin-1")


def main() -> None:
    asked = json.load(sys.stdin)
    print(json.dumps(answers(asked["port"], asked["requests"])))


if __name__ == "__main__":
    main()
