"""The embedded engine: requests in, events out, with the decoding loop in its own thread."""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from collections.abc import AsyncGenerator, Iterator, Sequence
from itertools import takewhile

from specviz.analysis.k.redraft import Redraft
from specviz.config import Prompt, Sampling
from specviz.engines.embedded.decode import Decoder
from specviz.engines.embedded.draft import Proposer
from specviz.engines.embedded.kv_cache import KVCache
from specviz.engines.embedded.model import Llama
from specviz.engines.embedded.redraft import accept_nothing, redraft
from specviz.engines.embedded.sampler import Sampler
from specviz.engines.embedded.steps import StepMaker
from specviz.engines.embedded.tokenizer import ChatTokenizer
from specviz.engines.embedded.verify import Rule
from specviz.errors import RequestRefused
from specviz.trace import Event, ExtraBytes, Fidelity, RequestFinished, RequestStarted


class EmbeddedEngine:
    """A target and a proposer, for one request at a time."""

    def __init__(
        self,
        target: Llama,
        tokenizer: ChatTokenizer,
        proposer: Proposer | None,
        *,
        k: int,
        traced: bool = True,
        sampled_drafts: bool = True,
        rule: Rule | None = None,
        cache: KVCache | None = None,
    ) -> None:
        self._decoder = Decoder(target, proposer, rule, cache)
        self._target = target
        self._tokenizer = tokenizer
        self._proposer = proposer
        self._k = k
        self._traced = traced
        self._sampled_drafts = sampled_drafts

    async def generate(self, prompt: Prompt, sampling: Sampling) -> AsyncGenerator[Event, None]:
        """Answer one prompt. Raises RequestRefused for a prompt that does not fit the model."""
        loop = asyncio.get_running_loop()
        events: asyncio.Queue[Event | BaseException | None] = asyncio.Queue()
        stop = threading.Event()

        def put(item: Event | BaseException | None) -> None:
            loop.call_soon_threadsafe(events.put_nowait, item)

        def work() -> None:
            try:
                for event in self.events(prompt, sampling):
                    if stop.is_set():
                        return
                    put(event)
                put(None)
            except BaseException as error:  # raised again where the request was made
                put(error)

        # no daemon: a process that ends while torch computes in one is aborted
        thread = threading.Thread(target=work, name="embedded-decode")
        thread.start()
        try:
            while (item := await events.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            stop.set()
            await asyncio.to_thread(thread.join)

    def events(self, prompt: Prompt, sampling: Sampling) -> Iterator[Event]:
        """The events of one request, computed on demand."""
        started = time.perf_counter()
        prompt_ids = self._tokenizer.encode_chat(prompt.messages)
        longest = min(sampling.max_tokens, self._room(len(prompt_ids)))
        yield RequestStarted(
            uuid.uuid4().hex, Fidelity.TRACED if self._traced else Fidelity.COUNTED
        )
        sampler = Sampler(sampling, self._target.device, sampled_drafts=self._sampled_drafts)
        maker = StepMaker(self._tokenizer, sampler, started, traced=self._traced)
        eos_ids = self._target.config.eos_ids
        emitted = 0
        ttft_ms = elapsed_ms = 0.0
        reason = "length"
        for done in self._decoder.rounds(prompt_ids, sampler, self._k):
            token_ids = [*_through_first(done.token_ids, eos_ids)][: longest - emitted]
            step = maker.step(done, token_ids)
            yield step
            emitted += len(token_ids)
            elapsed_ms = step.elapsed_ms
            ttft_ms = ttft_ms or elapsed_ms
            if token_ids[-1] in eos_ids:
                reason = "stop"
            if reason == "stop" or emitted == longest:
                break
        extra = self._proposer.extra_bytes() if self._proposer else ExtraBytes()
        yield RequestFinished(tuple(prompt_ids), ttft_ms, elapsed_ms, reason, extra)

    def redraft(self, prompt: Prompt, answer: Sequence[int]) -> Redraft:
        """Draft greedily after every token of an answer to the prompt."""
        decoder = Decoder(self._target, self._proposer, accept_nothing, self._decoder.cache)
        prompt_ids = self._tokenizer.encode_chat(prompt.messages)
        return redraft(decoder, prompt_ids, answer, self._k, self._target.device)

    async def close(self) -> None:
        """Models stay loaded for the next engine; the KV cache is freed with this one."""

    def _room(self, prompt_length: int) -> int:
        room = self._target.config.max_positions - prompt_length
        if room < 1:
            raise RequestRefused(
                f"The prompt has {prompt_length} tokens, the model reads at most "
                f"{self._target.config.max_positions}: shorten the prompt."
            )
        return room


def _through_first(token_ids: tuple[int, ...], ends: frozenset[int]) -> Iterator[int]:
    """The tokens up to the first end token, that one included."""
    yield from takewhile(lambda token_id: token_id not in ends, token_ids)
    yield from [token_id for token_id in token_ids if token_id in ends][:1]
