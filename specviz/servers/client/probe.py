"""What a server is: found out by asking it, never assumed from its name."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx2

from specviz.errors import (
    MalformedReply,
    NotAnOpenAIServer,
    RequestRefused,
    ServerUnreachable,
    UsageError,
)
from specviz.servers import checked
from specviz.servers.capabilities import Capabilities
from specviz.servers.client.api_key import api_key, wants_key
from specviz.servers.dialect import Dialect, Get
from specviz.servers.kinds import KINDS, OPENAI
from specviz.servers.pages import Page, read_page

MAX_PORT = 65_535
MAX_MODELS = 10_000
LONGEST_NAME = 4096
"""Characters of a model's name or folder."""


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A server as found at `url`, the root of its API.

    `model` is the first of the served `models`, `model_root` where the server loaded it from: a
    folder on this machine if it runs here.
    """

    url: str
    model: str
    models: tuple[str, ...]
    dialect: Dialect
    capabilities: Capabilities
    model_root: str | None = None
    max_model_len: int | None = None

    @property
    def software(self) -> str | None:
        """Product and version, None where the server does not say."""
        version = self.capabilities.version
        return f"{self.dialect.name} {version}" if version else None

    @property
    def advice(self) -> str | None:
        """What to switch on to see more; None where nothing is missing."""
        found = self.capabilities
        return None if found.tracing or found.speculates is False else self.dialect.advice

    def check_serves(self, model: str | None) -> None:
        """Raise RequestRefused for a model that is not served; None takes the first one."""
        if model is not None and model not in self.models:
            raise RequestRefused(
                f"The server at {self.url} does not serve {model!r}: "
                f"it serves {checked.listed(self.models)}."
            )


def base_url(url: str) -> str:
    """The server's root from whatever was pasted: with or without scheme, `/v1` or slash.

    Raises UsageError for something that is not an http(s) URL.
    """
    text = url.strip()
    text = text if "://" in text else f"http://{text}"
    try:
        parsed = httpx2.URL(text)
    except httpx2.InvalidURL:
        parsed = httpx2.URL("")
    usable = parsed.scheme in ("http", "https") and parsed.host and not set(text) & set(" \t\n")
    if not usable or (parsed.port or 0) > MAX_PORT:
        raise UsageError(f"{url!r} is not a server URL: write one like http://127.0.0.1:8000.")
    return text.rstrip("/").removesuffix("/v1").rstrip("/")


def client_of(url: str) -> httpx2.AsyncClient:
    """A client for the server at `url`, with its API key, for the caller to close."""
    headers = {"Authorization": f"Bearer {api_key(base_url(url))}"}
    return httpx2.AsyncClient(headers=headers, follow_redirects=False)


@asynccontextmanager
async def connecting(
    url: str, model: str | None
) -> AsyncIterator[tuple[FoundServer, httpx2.AsyncClient]]:
    """The server at `url` as found, and a client for it, for the caller to keep.

    The client is closed only where something is raised, here or in the caller's block. Raises
    ServerUnreachable, NotAnOpenAIServer, or RequestRefused for a model it does not serve.
    """
    http = client_of(url)
    try:
        server = await probe(url, http)
        server.check_serves(model)
        yield server, http
    except BaseException:
        await http.aclose()
        raise


async def probe(url: str, http: httpx2.AsyncClient) -> FoundServer:
    """Ask a server what it is.

    Raises ServerUnreachable, or NotAnOpenAIServer where something else answers.
    """
    root = base_url(url)
    models = await _models_page(http, root)
    served = _read_models(root, models)
    dialect, capabilities = await _identify(_pages(http, root, {"/v1/models": models.text}))
    first = served[0]
    return FoundServer(
        url=root,
        model=first.name,
        models=tuple(model.name for model in served),
        dialect=dialect,
        capabilities=capabilities,
        model_root=first.root,
        max_model_len=first.max_model_len,
    )


async def find_server(url: str) -> FoundServer:
    """What answers at `url`. Raises ServerUnreachable or NotAnOpenAIServer, UsageError."""
    async with connecting(url, None) as (server, http):
        await http.aclose()
        return server


@dataclass(frozen=True, slots=True)
class _Model:
    name: str
    root: str | None
    max_model_len: int | None


async def _identify(get: Get) -> tuple[Dialect, Capabilities]:
    for dialect in (*KINDS, OPENAI):
        if capabilities := await dialect.identify(get):
            return dialect, capabilities
    raise AssertionError("any server is OpenAI-compatible")


def _pages(http: httpx2.AsyncClient, root: str, known: dict[str, str | None]) -> Get:
    """The server's pages, each asked for once."""

    async def get(path: str) -> str | None:
        if path not in known:
            try:
                page = await read_page(http, f"{root}{path}")
                known[path] = page.text if page.status == 200 else None
            except httpx2.TransportError:
                known[path] = None  # /v1/models has answered: this page is simply not there
        return known[path]

    return get


async def _models_page(http: httpx2.AsyncClient, root: str) -> Page:
    try:
        return await read_page(http, f"{root}/v1/models")
    except httpx2.TransportError as error:
        raise ServerUnreachable(
            f"Nothing answers at {root} ({_reason(error)}): "
            "check the address and that the server is running."
        ) from error


def _read_models(root: str, page: Page) -> list[_Model]:
    if page.location is not None:
        raise NotAnOpenAIServer(
            f"The server at {root} redirects to {page.location}, and requests are not sent on to "
            "another address: paste that one if you trust it."
        )
    if page.status in (401, 403):
        raise NotAnOpenAIServer(wants_key(root))
    said = f"status {page.status}"
    if page.status == 200:
        try:
            listing = checked.json_object(checked.parsed(page.text, "it"), "it")
            models = checked.array(listing.get("data"), "data", MAX_MODELS)
            if models:
                return [_read_model(model) for model in models]
        except MalformedReply as error:
            said = str(error)
    raise NotAnOpenAIServer(
        f"What answers at {root} is not an OpenAI-compatible server (/v1/models: {said}): "
        "paste the address of an inference server."
    )


def _read_model(value: object) -> _Model:
    model = checked.json_object(value, "a model")
    return _Model(
        checked.label(model.get("id"), "id", LONGEST_NAME),
        checked.optional(checked.label, model.get("root") or None, "root", LONGEST_NAME),
        checked.optional(checked.count, model.get("max_model_len"), "max_model_len", 1),
    )


def _reason(error: Exception) -> str:
    return checked.excerpt(str(error)) or type(error).__name__
