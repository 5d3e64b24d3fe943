"""Everything needed to repeat a run: engine, models, method, K, sampling, machine.

Frozen data with its checks: a value that cannot work raises `UsageError` here, before a server
starts or a request is sent.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from specviz.errors import UsageError
from specviz.methods import METHODS, Method

MAX_K = 32
"""No published method gains anything above this; larger values are typing errors."""


AT_ZERO = "at 0"
"""In the title of an arm whose schedule lets its server draft at no batch size: it could, and never
does, which is what K = 0 of a policy is."""

UNSTORED_DTYPE = "bfloat16"
"""The dtype of embedded runs stored without the option: newer runs store it."""


class EngineKind(StrEnum):
    EMBEDDED = "embedded"
    VLLM = "vllm"
    LLAMA_CPP = "llama.cpp"
    SGLANG = "sglang"
    TENSORRT_LLM = "tensorrt-llm"
    TRITON = "triton"
    LM_STUDIO = "lm-studio"
    OPENAI = "openai"  # another OpenAI-compatible server, which can only be attached


class RunStatus(StrEnum):
    RUNNING = "running"
    FINISHED = "finished"
    PARTIAL = "partial"  # interrupted: what arrived is kept
    FAILED = "failed"  # nothing arrived
    CANCELLED = "cancelled"
    SET_ASIDE = "set aside"  # of a request: measured again, because the machine was busy


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling parameters of one request, in OpenAI's words; `top_k` in vLLM's, 0 is off.

    `spec_k` asks a server that follows a policy for a K of this request; None leaves it to the
    policy.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 128
    seed: int | None = None
    top_k: int = 0
    spec_k: int | None = None

    def __post_init__(self) -> None:
        if not 0.0 <= self.temperature <= 2.0:
            raise UsageError(f"temperature must be between 0 and 2, not {self.temperature:g}.")
        if not 0.0 < self.top_p <= 1.0:
            raise UsageError(f"top_p must be above 0 and at most 1, not {self.top_p:g}.")
        if self.top_k < 0:
            raise UsageError(f"top_k must be at least 1, or 0 to switch it off, not {self.top_k}.")
        if self.max_tokens < 1:
            raise UsageError(f"max_tokens must be at least 1, not {self.max_tokens}.")
        if self.spec_k is not None and not 0 <= self.spec_k <= MAX_K:
            raise UsageError(f"spec_k must be between 0 and {MAX_K}, not {self.spec_k}.")


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation, in OpenAI's words: role system, user, assistant or tool."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """One user message; `prompt_id` and `category` are None for a typed one.

    `earlier` is the conversation before it, oldest first.
    """

    text: str
    prompt_id: str | None = None
    category: str | None = None
    max_tokens: int | None = None
    earlier: tuple[Message, ...] = ()

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise UsageError("The prompt is empty: type one or pick one from a category.")

    @property
    def messages(self) -> list[dict[str, str]]:
        """The conversation in the form that chat APIs and templates take."""
        return [
            *({"role": message.role, "content": message.content} for message in self.earlier),
            {"role": "user", "content": self.text},
        ]


@dataclass(frozen=True, slots=True)
class RunConfig:
    """One arm: how requests are answered, and on what.

    `k` is num_speculative_tokens, None for the baseline. `model`, `server_version`, `hardware`
    and `git_revision` are None until the engine is open. `concurrency` is 0 if requests arrive at
    `request_rate` per second, or as a benchmark's `traffic` of that name has them.
    """

    engine: EngineKind
    method: Method | None  # None: a server that does not report its method
    k: int | None = None
    sampling: Sampling = field(default_factory=Sampling)
    model: str | None = None
    draft: str | None = None
    server_url: str | None = None
    server_version: str | None = None
    traced: bool = True
    concurrency: int = 1
    request_rate: float | None = None
    traffic: str | None = None
    prompt_set: str | None = None
    hardware: str | None = None
    git_revision: str | None = None
    options: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_k(self.method, self.k)

    @property
    def starts_server(self) -> bool:
        """Whether opening this arm starts a server on the machine that opens it."""
        attached = (EngineKind.EMBEDDED, EngineKind.OPENAI)
        return self.engine not in attached and self.server_url is None

    @property
    def acceptance(self) -> str:
        """The acceptance rule: exact, typical, or a server's own word for one that is not exact."""
        return self.options.get("acceptance", "exact")

    @property
    def is_lossless(self) -> bool:
        """Whether output keeps the target's distribution, as far as the engine reports its rule."""
        return self.acceptance == "exact"

    @property
    def judges_typically(self) -> bool:
        """Typical acceptance at work: at temperature 0 it is the target's first choice too."""
        return self.acceptance == "typical" and self.sampling.temperature > 0

    @property
    def title(self) -> str:
        """Short name of the arm for panes and tables: `eagle3 · K 5 · tree`."""
        parts = [self.method.value if self.method else "server"]
        if self.k:
            parts.append(f"K {self.k}")
        if (shape := self.options.get("shape")) in ("chain", "tree"):
            parts.append(shape)
        if "schedule" in self.options:
            ranges = json.loads(self.options["schedule"])
            parts.append("schedule" if any(k for *_, k in ranges) else AT_ZERO)
        if "policy" in self.options:
            parts.append("policy")
        if not self.is_lossless:
            parts.append(f"{self.acceptance}, not lossless")
        return " · ".join(parts)


def check_k(method: Method | None, k: int | None) -> None:
    """Raise UsageError for a K that cannot work with the method."""
    if method is Method.BASELINE:
        if k:
            raise UsageError(f"The baseline drafts nothing: leave K out, not {k}.")
        return
    if k is not None and not 1 <= k <= MAX_K:
        advice = "use the method baseline" if k == 0 else f"use 1 to {MAX_K}"
        raise UsageError(f"K = {k} cannot be used for speculation: {advice}.")


def check_draft_is_used(method: Method, draft: object) -> None:
    """Raise UsageError for a draft that is given to a method without weights of its own."""
    if draft and not METHODS[method].needs_draft:
        raise UsageError(f"The method {method.value} uses no draft model: leave --draft out.")


@dataclass(frozen=True, slots=True)
class Run:
    """One arm as stored: its configuration and its outcome.

    Arms started together share a `group_id`.
    """

    run_id: str
    group_id: str
    config: RunConfig
    status: RunStatus
    started_at: datetime
    finished_at: datetime | None = None
    error: str | None = None
