"""What a server is: found out by asking it, never assumed from its name."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2

from specviz.errors import NotAnOpenAIServer, RequestRefused, ServerUnreachable, UsageError
from specviz.servers.capabilities import Capabilities
from specviz.servers.client.api_key import api_key, wants_key
from specviz.servers.dialect import Dialect, Get
from specviz.servers.kinds import KINDS, OPENAI

PROBE_TIMEOUT_S = 10.0


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
                f"it serves {', '.join(self.models)}."
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
    if not usable:
        raise UsageError(f"{url!r} is not a server URL: write one like http://127.0.0.1:8000.")
    return text.rstrip("/").removesuffix("/v1").rstrip("/")


@asynccontextmanager
async def connecting(
    url: str, model: str | None
) -> AsyncIterator[tuple[FoundServer, httpx2.AsyncClient]]:
    """The server at `url` as found, and a client for it, for the caller to keep.

    The client is closed only where something is raised, here or in the caller's block. Raises
    ServerUnreachable, NotAnOpenAIServer, or RequestRefused for a model it does not serve.
    """
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {api_key(base_url(url))}"})
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
    models = _read_models(root, await _get(http, f"{root}/v1/models", root))
    dialect, capabilities = await _identify(_pages(http, root))
    first = models[0]
    return FoundServer(
        url=root,
        model=str(first["id"]),
        models=tuple(str(model["id"]) for model in models),
        dialect=dialect,
        capabilities=capabilities,
        model_root=first.get("root"),
        max_model_len=first.get("max_model_len"),
    )


async def _identify(get: Get) -> tuple[Dialect, Capabilities]:
    for dialect in (*KINDS, OPENAI):
        if capabilities := await dialect.identify(get):
            return dialect, capabilities
    raise AssertionError("any server is OpenAI-compatible")


def _pages(http: httpx2.AsyncClient, root: str) -> Get:
    async def get(path: str) -> str | None:
        try:
            response = await http.get(f"{root}{path}", timeout=PROBE_TIMEOUT_S)
        except httpx2.TransportError:
            return None  # /v1/models has answered: this page is simply not there
        return response.text if response.status_code == 200 else None

    return get


async def _get(http: httpx2.AsyncClient, url: str, root: str) -> httpx2.Response:
    try:
        return await http.get(url, timeout=PROBE_TIMEOUT_S)
    except httpx2.TransportError as error:
        raise ServerUnreachable(
            f"Nothing answers at {root} ({_reason(error)}): "
            "check the address and that the server is running."
        ) from error


def _read_models(root: str, response: httpx2.Response) -> list[dict[str, Any]]:
    if response.status_code in (401, 403):
        raise NotAnOpenAIServer(wants_key(root))
    try:
        models = response.json()["data"]
        if response.status_code == 200 and models and all("id" in model for model in models):
            return list(models)
    except (ValueError, KeyError, TypeError):
        pass  # reported below, with the status
    raise NotAnOpenAIServer(
        f"What answers at {root} is not an OpenAI-compatible server (/v1/models gave status "
        f"{response.status_code}): paste the address of an inference server."
    )


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
