"""The arms: the engine's methods, and transformers' `generate`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
import transformers

from specviz.config import EngineKind, Prompt, RunConfig, Sampling
from specviz.engines.embedded.engine import EmbeddedEngine
from specviz.engines.embedded.opening import open_engine, tokenizer_in
from specviz.errors import UsageError
from specviz.methods import Method
from specviz.models.pair import default_draft, pair_of
from specviz.trace import EmittedToken, Fidelity, Origin, Step, Trace, fold

WAYS: tuple[tuple[str, Method, tuple[int, ...], dict[str, str]], ...] = (
    ("draft_model", Method.DRAFT_MODEL, (2, 3, 5), {}),
    ("draft_model stops", Method.DRAFT_MODEL, (5, 8), {"stop_below": "0.4"}),
    ("ngram", Method.NGRAM, (3, 5, 8), {}),
    ("suffix", Method.SUFFIX, (5, 8, 16), {}),
    ("suffix tree", Method.SUFFIX, (8, 16), {"shape": "tree"}),
    ("layer_skip", Method.LAYER_SKIP, (1, 2, 3), {}),
    ("swift", Method.SWIFT, (2, 3, 5), {}),
    ("mirror", Method.MIRROR, (2, 3, 5), {}),
    ("medusa chain", Method.MEDUSA, (2, 3, 4), {"shape": "chain"}),
    ("medusa", Method.MEDUSA, (5, 8, 12), {"shape": "tree"}),
    ("eagle", Method.EAGLE, (2, 3, 5), {}),
    ("eagle stops", Method.EAGLE, (6, 10), {"stop_below": "0.4"}),
    ("eagle tree", Method.EAGLE, (5, 8), {"shape": "tree"}),
    ("eagle3", Method.EAGLE3, (2, 3, 5), {}),
    ("eagle3 stops", Method.EAGLE3, (6, 10), {"stop_below": "0.4"}),
    ("eagle3 tree", Method.EAGLE3, (5, 8), {"shape": "tree"}),
)
"""Group, method, values of K, options."""

BASELINE = "baseline"
ASSISTED = "transformers assisted"


@dataclass(frozen=True)
class Arm:
    """One way to answer a prompt; `group` is its row in the table."""

    group: str
    k: int | None
    answer: Callable[[Prompt, int], Trace]

    @property
    def name(self) -> str:
        return self.group if self.k is None else f"{self.group} K={self.k}"


def open_arms(methods: Sequence[Method], ks: Sequence[int], dtype: str) -> list[Arm]:
    """Plain decoding, transformers, then the methods, all in `dtype` (`bfloat16` or `float32`).

    Arms that cannot open are printed.
    """
    arms = [our_arm(BASELINE, Method.BASELINE, None, {"dtype": dtype})]
    arms += transformers_arms(ks or WAYS[0][2], dtype)
    for group, method, usual, options in WAYS:
        for k in (ks or usual) if method in methods else ():
            try:
                arms.append(our_arm(group, method, k, {"dtype": dtype, **options}))
            except UsageError as error:
                print(f"{group} K={k} left out: {error}")
    return arms


def our_arm(group: str, method: Method, k: int | None, options: dict[str, str]) -> Arm:
    """An arm of the embedded engine. Raises UsageError if it cannot be opened."""
    config = RunConfig(EngineKind.EMBEDDED, method, k=k, traced=False, options=options)
    engine, _ = open_engine(config)
    return Arm(group, k, lambda prompt, count: ours(engine, prompt, count))


def ours(engine: EmbeddedEngine, prompt: Prompt, count: int) -> Trace:
    began = time.perf_counter()
    trace = fold(engine.events(prompt, Sampling(max_tokens=count)))
    return replace(trace, e2el_ms=(time.perf_counter() - began) * 1000)


def usual_dtype() -> str:
    """What the engine's `auto` is on this machine."""
    _, config = open_engine(RunConfig(EngineKind.EMBEDDED, Method.BASELINE, traced=False))
    return str(config.options["dtype"])


def transformers_arms(ks: Sequence[int], dtype: str) -> list[Arm]:
    """`generate` by itself, and assisted by the draft model if there is one."""
    target = _transformers_model(Path(pair_of(None, None, Method.BASELINE).target), dtype)
    alone = Arm("transformers", None, lambda prompt, count: theirs(target, prompt, count))
    folder = default_draft(Method.DRAFT_MODEL)
    if folder is None:
        return [alone]
    draft = _transformers_model(folder, dtype)

    def assisted(k: int | None) -> Callable[[Prompt, int], Trace]:
        settings = {}
        if k is not None:  # else the library's default: 20 tokens, stopped by its own confidence
            settings = {
                "num_assistant_tokens": k,
                "num_assistant_tokens_schedule": "constant",
                "assistant_confidence_threshold": 0.0,
            }
        default = draft.generation_config

        def answer(prompt: Prompt, count: int) -> Trace:
            draft.generation_config = transformers.GenerationConfig(
                **(default.to_dict() | settings)
            )
            return theirs(target, prompt, count, assistant_model=draft)

        return answer

    several = (Arm(ASSISTED, k, assisted(k)) for k in ks)
    return [alone, Arm(ASSISTED, None, assisted(None)), *several]


def _transformers_model(folder: Path, dtype: str) -> Any:
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=dtype)
    return model.to("cuda" if torch.cuda.is_available() else "cpu").eval()


@torch.inference_mode()
def theirs(model: Any, prompt: Prompt, count: int, **more: Any) -> Trace:
    """`generate` from text to token ids; only the total time is known."""
    began = time.perf_counter()
    prompt_ids = torch.tensor(
        [tokenizer_in(Path(model.name_or_path)).encode_chat(prompt.messages)], device=model.device
    )
    out = model.generate(
        prompt_ids,
        attention_mask=torch.ones_like(prompt_ids),
        do_sample=False,
        max_new_tokens=count,
        **more,
    )
    token_ids: list[int] = out[0, prompt_ids.shape[1] :].tolist()
    elapsed_ms = (time.perf_counter() - began) * 1000
    emitted = tuple(EmittedToken(i, token, "", Origin.UNKNOWN) for i, token in enumerate(token_ids))
    step = Step(0, elapsed_ms, (), emitted)
    return Trace(prompt.text, Fidelity.INFERRED, (step,), e2el_ms=elapsed_ms)
