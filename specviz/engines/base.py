"""What every engine offers."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from specviz.config import Prompt, Sampling
from specviz.sample import Sample
from specviz.trace import Event


class Engine(Protocol):
    """Answers one prompt at a time and reports how each token was produced."""

    def generate(self, prompt: Prompt, sampling: Sampling) -> AsyncGenerator[Event, None]:
        """Yield the events of one request as they happen.

        Raises an EngineError with a sentence for the user; events yielded before it are valid.
        Closing the iterator cancels the request.
        """
        ...

    async def close(self) -> None:
        """Close connections and free memory."""
        ...


class TimedEngine(Protocol):
    """Answers prompts for a benchmark, as samples without per-token decisions."""

    async def sample(self, prompt: Prompt, sampling: Sampling) -> Sample:
        """Answer one request; several may be in flight.

        Raises an EngineError with a sentence for the user. Cancelling the task aborts the request.
        """
        ...

    async def prefix_caching(self) -> bool | None:
        """Whether prefix caching is on; None if the engine does not report it."""
        ...

    async def close(self) -> None:
        """Close connections and free memory."""
        ...
