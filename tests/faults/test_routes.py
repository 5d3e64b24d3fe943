"""Who may do what, tried on every route of the real app: docs/security.md has the same tables.

The rows come from the running app, so that a route without a row fails. Refusals are the guard's:
what the app itself answers is marked by `served_app`.
"""

from __future__ import annotations

import base64
import inspect
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from specviz.paths import PROJECT_ROOT
from specviz.remote.token import SECRET_HEADER, TOKEN
from specviz.store.secret import read_secret, secret_path
from specviz.web.rules import RULES, WEBSOCKET, Rule, Who
from tests.support.children import environment, wait_for_port
from tests.support.faults import raw_http

SERVED_LIMIT = 2**20
NOBODY_UID = 65534
NOT_ROOT = os.geteuid() != 0
SENT = {
    "path": "",
    "file_id": "f",
    "kind": "runs",
    "place": "0",
    "action": "cancel",
}
CHUNK = "10000\r\n" + "x" * 65536 + "\r\n"


@dataclass(frozen=True)
class App:
    port: int
    store: Path
    token: str
    secret: str = field(repr=False)
    routes: tuple[tuple[str, tuple[str, ...]], ...]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("guarded")
    folder.chmod(0o755)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    store, routes, token = folder / "runs.duckdb", folder / "routes.json", "a-token"
    variables = {
        "SPECVIZ_STORE": str(store),
        "STREAMLIT_SERVER_PORT": str(port),
        "STREAMLIT_SERVER_MAX_UPLOAD_SIZE": "1",
        TOKEN: token,
    }
    command = [sys.executable, "-m", "tests.support.faults.served_app", str(port), str(routes)]
    with (folder / "app.log").open("w") as log:
        process = subprocess.Popen(
            command, cwd=PROJECT_ROOT, env=environment(**variables), stdout=log, stderr=log
        )
        try:
            wait_for_port(port, process)
            listed = tuple(
                (path, tuple(methods)) for path, methods in json.loads(routes.read_text())
            )
            secret = read_secret(store)
            assert secret is not None
            yield App(port, store, token, secret, listed)
        finally:
            process.terminate()
            process.wait(60)
    assert not secret_path(store).exists()


# What a caller shows. "{host}" is the app's own name.
Headers = dict[str, str]
PAGE = {"Origin": "http://{host}", "Sec-Fetch-Site": "same-origin"}
ELSEWHERE = {"X-Forwarded-For": "10.0.0.5"}
LINK = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}


def callers(app: App) -> dict[str, Headers]:
    """Every kind of caller, and the headers that it sends."""
    bearer = {"Authorization": f"Bearer {app.token}"}
    secret = {SECRET_HEADER: app.secret}
    password = base64.b64encode(f"me:{app.token}".encode()).decode()
    evil = f"evil.test:{app.port}"
    return {
        "a page of the app": PAGE,
        "a program": {},
        "a program with the secret": secret,
        "a program with the token": bearer,
        "a wrong token": {"Authorization": "Bearer b-token"},
        "a wrong secret": {SECRET_HEADER: "0" * 64},
        "two secrets": {SECRET_HEADER: f"{app.secret}\r\n{SECRET_HEADER}: {app.secret}"},
        "a page of another site": {"Origin": "http://evil.test", **secret},
        "a page of another port": {"Origin": "http://127.0.0.1:1", "Sec-Fetch-Site": "same-site"},
        "a file's page": {"Origin": "null", **bearer},
        "a rebound name": {"Host": evil, "Origin": f"http://{evil}", **secret},
        "a rebound name, a program": {"Host": evil, **bearer},
        "no name": {"Host": "", **secret},
        "a link": {**LINK, "Sec-Fetch-Dest": "document"},
        "a link's Origin": {**LINK, "Sec-Fetch-Dest": "document", "Origin": "http://evil.test"},
        "a frame": {**LINK, "Sec-Fetch-Dest": "iframe"},
        "a picture": {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
        "another machine": {**PAGE, **ELSEWHERE},
        "another machine with the token": {**bearer, **ELSEWHERE},
        "another machine with the password": {
            **PAGE,
            **ELSEWHERE,
            "Authorization": f"Basic {password}",
        },
    }


PAGES_ADMIT = {
    "a page of the app",
    "a program with the secret",
    "a program with the token",
    "another machine with the token",
    "another machine with the password",
}
ADMITTED = {
    Who.PAGES: PAGES_ADMIT,
    Who.PROGRAMS: {
        "a program with the secret",
        "a program with the token",
        "another machine with the token",
    },
    Who.OWNER: {"a program with the secret"},
    Who.NOBODY: set[str](),
}


def admitted(rule: Rule, method: str) -> set[str]:
    """Who of `callers` gets through, as written in docs/security.md."""
    found = set(ADMITTED[rule.who])
    if rule.who is Who.PAGES and method != WEBSOCKET:
        found.add("a program")
    if rule.linked:
        found.add("a link")
    return found


def request(app: App, path: str, method: str, headers: Headers, body: str = "") -> str:
    """One request as text. A body goes as it is given, with its own headers."""
    host = f"127.0.0.1:{app.port}"
    sent = {"Host": host, **headers}
    if method == WEBSOCKET:
        method = "GET"
        sent |= {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
        sent["Sec-WebSocket-Key"] = base64.b64encode(b"0" * 16).decode()
    else:
        sent["Connection"] = "close"
    path = re.sub(r"{(\w+)(:\w+)?}", lambda match: SENT.get(match[1], "x"), path)
    lines = [f"{name}: {value.replace('{host}', host)}" for name, value in sent.items()]
    return "\r\n".join([f"{method} {path} HTTP/1.1", *lines, body if body else "\r\n"])


ROWS = [pytest.param(rule, id=f"{'+'.join(rule.methods)} {rule.path}") for rule in RULES]


def test_every_route_has_a_row(app: App) -> None:
    """What is not in the table is refused, and the table has nothing that is not there."""
    routes = {
        (path, method)
        for path, methods in app.routes
        for method in methods
        if method != "HEAD" and (method != "OPTIONS" or "agent" in path)  # CORS: no row, refused
    }
    rows = {(rule.path, method) for rule in RULES for method in rule.methods}
    assert routes == rows, "give the new route a row in specviz/web/rules.py and docs/security.md"


@pytest.mark.parametrize("rule", ROWS)
def test_a_route_admits_whom_the_table_names(app: App, rule: Rule) -> None:
    for method in rule.methods:
        sent = {
            caller: request(app, rule.path, method, headers)
            for caller, headers in callers(app).items()
        }
        found = dict(zip(sent, raw_http.answers(app.port, list(sent.values())), strict=True))
        inside = {caller for caller, (_, was_inside, _) in found.items() if was_inside}
        assert inside == admitted(rule, method), {name: found[name] for name in found}
        statuses = {status for status, was_inside, _ in found.values() if not was_inside}
        assert statuses <= {400, 401, 403, 404}


@pytest.mark.skipif(NOT_ROOT, reason="only root may become another user")
def test_another_users_process_needs_the_token(app: App) -> None:
    """It can claim any header; it can neither read the secret nor own the app's socket."""
    forged = {**PAGE, "X-Specviz-Caller": "own"}
    bearer = {"Authorization": f"Bearer {app.token}"}
    cases = [
        (rule, method, with_token)
        for rule in RULES
        for method in rule.methods
        for with_token in (False, True)
    ]
    asked = [
        request(app, rule.path, method, bearer if with_token else forged)
        for rule, method, with_token in cases
    ]
    for case, (_, inside, _) in zip(cases, _as_nobody(app.port, asked), strict=True):
        rule, _, with_token = case
        assert inside == (with_token and rule.who in (Who.PAGES, Who.PROGRAMS)), case
    read = f"open({str(secret_path(app.store))!r}).read()"
    refused = _run_as_nobody(["-c", read], "")
    assert refused.returncode != 0 and "Permission denied" in refused.stderr


def _as_nobody(port: int, requests: list[str]) -> list[tuple[int, bool, str]]:
    source = inspect.getsource(raw_http)
    done = _run_as_nobody(["-c", source], json.dumps({"port": port, "requests": requests}))
    assert done.returncode == 0, done.stderr
    return [tuple(answer) for answer in json.loads(done.stdout)]


def _run_as_nobody(arguments: list[str], text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["python3", "-I", *arguments], user=NOBODY_UID, group=NOBODY_UID, extra_groups=[],
        input=text, capture_output=True, text=True, timeout=240, cwd="/",
        env={"PATH": "/usr/local/bin:/usr/bin:/bin"},
    )  # fmt: skip


@pytest.mark.parametrize(
    "rule",
    [
        row
        for row, rule in zip(ROWS, RULES, strict=True)
        if rule.who is not Who.NOBODY and WEBSOCKET not in rule.methods
    ],
)
def test_a_body_has_a_limit_with_and_without_its_length(app: App, rule: Rule) -> None:
    limit = rule.max_body
    if limit is None or limit > SERVED_LIMIT:
        limit = SERVED_LIMIT  # as `served_app` has it
    secret = {SECRET_HEADER: app.secret}
    announced = {**secret, "Content-Length": str(limit + 2**17)}
    chunked = {**secret, "Transfer-Encoding": "chunked"}
    for method in set(rule.methods) - {"DELETE"}:
        (status, inside, text), *_ = raw_http.answers(
            app.port, [request(app, rule.path, method, announced)]
        )
        if rule.max_body is not None:
            assert (status, inside) == (413, False), text
            assert "The body may take at most" in text
        if method == "GET":
            continue  # nothing reads it
        chunks = CHUNK * (limit // 65536 + 2)
        (status, inside, text), *_ = raw_http.answers(
            app.port, [request(app, rule.path, method, chunked, f"\r\n{chunks}0\r\n\r\n")]
        )
        if rule.max_body is not None and "{action}" not in rule.path:  # which reads none either
            assert (status, inside) == (413, False), text


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/query", "[" * 100_000),
        ("/api/query", '{"sql": "SELECT 1", "limit": 1e999}'),
        ("/api/query", '{"sql": "SELECT 1", "limit": -1e999}'),
        ("/api/query", '{"sql": "SELECT 1", "limit": NaN}'),
        ("/api/query", '{"sql": "SELECT 1", "limit": 1' + "0" * 4000 + "}"),
        ("/api/ingest", "[" * 200_000),
        ("/api/ingest", '{"requests": [], "run": ' + "[" * 100_000),
        ("/api/ingest", '{"requests": [], "run": {"k": 1e999}}'),
        ("/api/benchmarks", "[" * 200_000),
        ("/api/benchmarks", '{"plan": "a = ' + "[" * 60_000 + '"}'),
        ("/api/benchmarks", '{"plan": "a = ' + "{a=" * 20_000 + '"}'),
        ("/api/benchmarks", '{"plan": "a' + ".a" * 30_000 + ' = 1"}'),
        ("/api/benchmarks", '{"plan": "[[arms]]\\nmethod = \\"ngram\\"\\nk = 1e999"}'),
    ],
)
def test_a_hostile_body_is_refused_with_a_sentence(app: App, path: str, body: str) -> None:
    headers = {SECRET_HEADER: app.secret, "Content-Length": str(len(body))}
    ((status, inside, text),) = raw_http.answers(
        app.port, [request(app, path, "POST", headers, f"\r\n{body}")]
    )
    assert (status, inside) == (400, True), text
    assert '{"error":"' in text


def test_the_page_itself_says_that_no_site_may_frame_it(app: App) -> None:
    text = request(app, "/", "GET", PAGE).encode()
    with socket.create_connection(("127.0.0.1", app.port), timeout=60) as connection:
        connection.sendall(text)
        head = connection.recv(65536).partition(b"\r\n\r\n")[0].lower()
    assert b"x-frame-options: sameorigin" in head


LIMITS = {None: "Streamlit's", 64 * 1024: "64 KiB", 256 * 1024: "256 KiB", 2**20: "1 MiB"}
LIMITS |= {256 * 2**20: "256 MiB", 8 * 2**30: "8 GiB"}


def test_the_table_of_the_documentation_is_the_rules() -> None:
    text = (PROJECT_ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    written = re.findall(r"^\| `(/\S*)` \| (.*?) \| (.*?) \| (.*?) \|$", text, re.MULTILINE)
    rows = [
        (
            rule.path,
            ", ".join(rule.methods),
            rule.who.value + (", and links" if rule.linked else ""),
            "–" if WEBSOCKET in rule.methods else LIMITS[rule.max_body],
        )
        for rule in RULES
    ]
    assert written == rows, "\n" + "\n".join(
        f"| `{row[0]}` | {' | '.join(row[1:])} |" for row in rows
    )


def test_the_callers_of_the_documentation_are_these() -> None:
    """A "yes" in docs/security.md per kind of caller and kind of route, as tried above."""
    text = (PROJECT_ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    written = {
        caller: [cell.strip() == "yes" for cell in cells.split("|")]
        for caller, cells in re.findall(
            r"^\| (an? [^|`]+?|another[^|`]+?) \|((?: (?:yes|no) \|){4})$", text, re.MULTILINE
        )
        for cells in [cells.rstrip("|")]
    }
    kinds = [
        (Rule("/", ("GET",), Who.PAGES), "GET"),
        (Rule("/", (WEBSOCKET,), Who.PAGES), WEBSOCKET),
        (Rule("/", ("GET",), Who.PROGRAMS), "GET"),
        (Rule("/", ("GET",), Who.OWNER), "GET"),
    ]
    for caller, cells in written.items():
        if caller.startswith("another user's"):
            continue  # has a test of its own above
        assert cells == [caller in admitted(rule, method) for rule, method in kinds], caller
    assert len(written) >= 10
