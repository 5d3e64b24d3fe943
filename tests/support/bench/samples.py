"""Made-up samples and engines that answer with them."""

from __future__ import annotations

import asyncio
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from specviz.config import Prompt, RunConfig, Sampling
from specviz.opening import TimedArm
from specviz.prompts.sets import Conversation
from specviz.sample import Sample
from specviz.servers.metrics import SpecCounters
from specviz.trace import Fidelity


def new_sample(text: str = "fine", *, ms: float = 2.0, accepted: Sequence[int] = (1, 2)) -> Sample:
    """Three chunks; drafts of 3 of which `accepted` were accepted."""
    return Sample(
        request_id=uuid.uuid4().hex,
        fidelity=Fidelity.COUNTED,
        text=text,
        finish_reason="stop",
        ttft_ms=ms / 2,
        e2el_ms=ms,
        chunk_ms=(ms / 2, 0.75 * ms, ms),
        chunk_tokens=(1, 2, 3),
        token_ids=(5, 6, 7, 8, 9, 10),
        output_tokens=6,
        prompt_tokens=4,
        per_step_accepted=tuple(accepted),
        per_step_drafted=(3,) * len(accepted),
    )


def conversations(number: int, turns: int = 1) -> tuple[Conversation, ...]:
    return tuple(
        Conversation(f"item-{index}", tuple(f"prompt {index}.{turn}" for turn in range(turns)))
        for index in range(number)
    )


@dataclass
class FakeEngine:
    """Answers after `seconds`; `say` may raise instead. Counts as a server does, `more` on top."""

    seconds: float = 0.0
    say: Callable[[Prompt], None] = lambda prompt: None
    counts: bool = False
    more: int = 0
    dead: Exception | None = None
    asked: list[Prompt] = field(default_factory=list)
    answered: Counter[str] = field(default_factory=Counter)
    samplings: list[Sampling] = field(default_factory=list)
    under_way: int = 0
    most: int = 0
    closed: threading.Event = field(default_factory=threading.Event)
    _counted: int = 0

    async def sample(self, prompt: Prompt, sampling: Sampling) -> Sample:
        self.asked.append(prompt)
        self.samplings.append(sampling)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            await asyncio.sleep(self.seconds)
            if self.dead is not None:
                raise self.dead
            self.say(prompt)
        finally:
            self.under_way -= 1
        self._counted += 1 + self.more
        self.answered[prompt.text] += 1
        return new_sample(f"answer to {prompt.text}", ms=max(1.0, self.seconds * 1000))

    async def counters(self) -> SpecCounters | None:
        if self.dead is not None:
            raise self.dead
        n = self._counted
        return SpecCounters(2 * n, 6 * n, 3 * n, ()) if self.counts else None

    async def prefix_caching(self) -> bool | None:
        return False

    async def close(self) -> None:
        self.closed.set()

    def opened(self, config: RunConfig) -> TimedArm:
        return TimedArm(self, config, None, self.counters, lambda: None)


class WhenAllAreAsked(FakeEngine):
    """Answers nobody before it was asked `count` times."""

    def __init__(self, count: int, seconds: float = 0.0) -> None:
        super().__init__(seconds=seconds)
        self.left = count
        self.everyone = asyncio.Event()

    async def sample(self, prompt: Prompt, sampling: Sampling) -> Sample:
        self.left -= 1
        if self.left == 0:
            self.everyone.set()
        await self.everyone.wait()
        return await super().sample(prompt, sampling)
