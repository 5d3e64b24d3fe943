"""Who calls: the app's own user, somebody with the token, or neither.

The operator sets SPECVIZ_INGEST_TOKEN for the app and for whoever may use it from elsewhere:
programs send `Authorization: Bearer TOKEN` (RFC 6750), browsers ask for it as a password (RFC
7617, any user name). Commands of the app's user send the secret next to the store. It does not
protect against somebody who reads the network: between machines put TLS in front of the app.
"""

from __future__ import annotations

import base64
import binascii
import hmac
from enum import StrEnum

from starlette.datastructures import Headers
from starlette.types import Scope

from specviz.remote.token import SECRET_HEADER, TOKEN, own_token
from specviz.web.peer import is_own_process

FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
"""Headers that a proxy adds: behind one on this machine every caller looks local."""


class Caller(StrEnum):
    OWNER = "owner"
    """Has the secret."""

    TOKEN = "token"

    OWN_PROCESS = "own process"
    """A process of the app's user on this machine, a browser for example."""

    STRANGER = "stranger"


class Refused(Exception):
    """A request that is not let in: its HTTP status and a sentence that says what to do.

    Not a SpecvizError: it may be raised while a route reads the body, and no route answers it.
    """

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def caller_of(scope: Scope, headers: Headers, secret: str, *, password: bool) -> Caller:
    """Raises Refused for a wrong secret or token. `password`: the token may come as a browser's."""
    token, given = own_token(), headers.get(SECRET_HEADER)
    if given is not None and _same(given, secret):
        return Caller.OWNER
    shown = _token_in(headers.get("authorization", ""), password=password)
    if token is not None and shown is not None:
        if _same(shown, token):
            return Caller.TOKEN
        raise Refused(401, f"The token differs from the app's: set {TOKEN} to the same value.")
    if given is not None:
        raise Refused(401, "The secret differs from the app's: it was restarted, so try again.")
    if any(name in headers for name in FORWARDED):
        return Caller.STRANGER
    own = is_own_process(scope.get("client"), scope.get("server"))
    return Caller.OWN_PROCESS if own else Caller.STRANGER


def uninvited(*, program: bool) -> Refused:
    """For a caller that shows neither secret nor token and needs one."""
    status = 403 if own_token() is None else 401
    if program:
        return Refused(
            status,
            "A program needs the app's secret, a file next to its store that the app's user can "
            f"read, or a token: set {TOKEN} for the app and for the program.",
        )
    return Refused(
        status,
        "This app answers the browser of its own user on its own machine, and others with a "
        f"token: set {TOKEN} for the app, and give it as the password.",
    )


def _token_in(authorization: str, *, password: bool) -> str | None:
    scheme, _, given = authorization.partition(" ")
    if scheme.lower() == "bearer":
        return given.strip()
    if scheme.lower() == "basic" and password:
        try:
            return base64.b64decode(given.strip(), validate=True).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            return ""
    return None


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode(), wanted.encode())
