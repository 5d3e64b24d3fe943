"""What the models that ship with the project answer."""

from __future__ import annotations

from functools import cache

from specviz.config import EngineKind, RunConfig, Sampling
from specviz.engines.embedded.opening import open_engine
from specviz.methods import Method
from specviz.prompts.shipped import load_prompts
from specviz.trace import fold

Ids = tuple[int, ...]


@cache
def answers(method: Method, k: int | None = None, length: int = 64) -> tuple[Ids, ...]:
    """Greedy answers in bfloat16 to a prompt that repeats itself and one that does not."""
    options = {"dtype": "bfloat16"}
    engine, _ = open_engine(
        RunConfig(EngineKind.EMBEDDED, method, k, traced=False, options=options)
    )
    prompts = (load_prompts("structured_output")[0], load_prompts("creative_writing")[1])
    sampling = Sampling(0.0, max_tokens=length)
    return tuple(fold(engine.events(prompt, sampling)).token_ids for prompt in prompts)
