"""What every engine offers."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from specviz.config import Prompt, Sampling
from specviz.sample import Sample
from specviz.trace import Event


class Engine(Protocol):
    """Answers one prompt after the other and says how each token came about."""

    def generate(self, prompt: Prompt, sampling: Sampling) -> AsyncGenerator[Event, None]:
        """Yield the events of one request as they happen.

        Raises an EngineError with a sentence for the user; events yielded before it are valid.
        Closing the iterator cancels the request.
        """
        ...

    async def close(self) -> None:
        """Let go of connections and memory."""
        ...


class TimedEngine(Protocol):
    """Answers prompts for a benchmark: samples, without every decision."""

    async def sample(self, prompt: Prompt, sampling: Sampling) -> Sample:
        """Answer one request; several may be under way.

        Raises an EngineError with a sentence for the user. Cancelling the task drops the request.
        """
        ...

    async def prefix_caching(self) -> bool | None:
        """Whether repeated prompts are answered from a cache; None if it does not tell."""
        ...

    async def close(self) -> None:
        """Let go of connections and memory."""
        ...
