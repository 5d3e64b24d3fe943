"""What every engine offers."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from specviz.config import Prompt, Sampling
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
