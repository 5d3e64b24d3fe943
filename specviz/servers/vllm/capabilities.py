"""What a server can tell: found out by asking it, never assumed from its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx2

from specviz.errors import NotAnOpenAIServer, RequestRefused, ServerUnreachable, UsageError
from specviz.methods import Method
from specviz.servers.vllm.metrics import parse_counters
from specviz.trace import Fidelity

PROBE_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class Capabilities:
    """A server as found.

    `model_root` is where the server loaded the model from, a folder on this machine if it runs
    here. `speculates` is None where nothing says so. `method` and `k` come from the tracing
    plugin; a stock server does not tell them. `tracing_reason` says why tracing is off.
    """

    url: str
    model: str
    models: tuple[str, ...]
    model_root: str | None = None
    max_model_len: int | None = None
    vllm_version: str | None = None
    speculates: bool | None = None
    tracing: bool = False
    tracing_reason: str | None = None
    method: Method | None = None
    k: int | None = None
    draft: str | None = None
    fixes: tuple[str, ...] = ()

    @property
    def is_vllm(self) -> bool:
        return self.vllm_version is not None

    @property
    def expected_fidelity(self) -> Fidelity:
        """What a request will be labelled with unless its stream says otherwise."""
        if self.speculates is False:
            return Fidelity.COUNTED  # nothing is drafted: every token is the target's
        return Fidelity.TRACED if self.tracing else Fidelity.INFERRED

    @property
    def advice(self) -> str | None:
        """What to switch on to see more; None where nothing is missing."""
        if self.tracing or self.speculates is False:
            return None
        if self.is_vllm:
            return (
                "Start the server with `specviz serve` to see rejected drafts and probabilities, "
                "or with `--per-request-spec-decode-metrics detailed` for exact counts."
            )
        return "Only vLLM tells what was drafted: start one with `specviz serve`."

    def settled(self, method: Method | None, k: int | None) -> tuple[Method | None, int | None]:
        """Method and K: the server's own word where it tells, else what the caller believes."""
        believed = Method.BASELINE if self.speculates is False else self.method or method
        return believed, self.k or k

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


async def probe(url: str, http: httpx2.AsyncClient) -> Capabilities:
    """Ask a server what it is.

    Raises ServerUnreachable, or NotAnOpenAIServer where something else answers.
    """
    root = base_url(url)
    models = _read_models(root, await _get(http, f"{root}/v1/models", root))
    version = await _optional_json(http, f"{root}/version")
    handshake = await _optional_json(http, f"{root}/specviz/handshake")
    vllm_version = version.get("version")
    metrics = await _optional_text(http, f"{root}/metrics") if vllm_version else None
    first = models[0]
    return Capabilities(
        url=root,
        model=str(first["id"]),
        models=tuple(str(model["id"]) for model in models),
        model_root=first.get("root"),
        max_model_len=first.get("max_model_len"),
        vllm_version=vllm_version,
        speculates=None if metrics is None else parse_counters(metrics) is not None,
        **_plugin_fields(handshake),
    )


def _plugin_fields(handshake: Mapping[str, Any]) -> dict[str, Any]:
    if not handshake:
        return {"tracing_reason": "the server runs without specviz's tracing plugin"}
    method = handshake.get("method")
    return {
        "tracing": bool(handshake.get("tracing")),
        "tracing_reason": handshake.get("reason"),
        "method": Method(method) if method in set(Method) else None,
        "k": handshake.get("num_speculative_tokens"),
        "draft": handshake.get("draft_model"),
        "fixes": tuple(handshake.get("fixes") or ()),
    }


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
        raise NotAnOpenAIServer(
            f"The server at {root} wants an API key: set OPENAI_API_KEY and try again."
        )
    try:
        models = response.json()["data"]
        if response.status_code == 200 and models and all("id" in model for model in models):
            return list(models)
    except (ValueError, KeyError, TypeError):
        pass  # said below, with the status
    raise NotAnOpenAIServer(
        f"What answers at {root} is not an OpenAI-compatible server (/v1/models gave status "
        f"{response.status_code}): paste the address of vLLM's API server."
    )


async def _optional_json(http: httpx2.AsyncClient, url: str) -> dict[str, Any]:
    """The JSON object at `url`, or {} where the server has no such page."""
    text = await _optional_text(http, url)
    try:
        value = httpx2.Response(200, text=text or "{}").json()
    except ValueError:
        return {}  # another server's catch-all page
    return value if isinstance(value, dict) else {}


async def _optional_text(http: httpx2.AsyncClient, url: str) -> str | None:
    try:
        response = await http.get(url, timeout=PROBE_TIMEOUT_S)
    except httpx2.TransportError:
        return None  # /v1/models has answered: this page is simply not there
    return response.text if response.status_code == 200 else None


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
