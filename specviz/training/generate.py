"""A model's own answers, greedy or sampled, in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from specviz.training.stream.encoding import Encoded
from specviz.training.tokenizer import chat_prompt

BATCH = 64
GREEDY = {"do_sample": False}


def answers(
    model: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    prompts: Sequence[str],
    *,
    max_new_tokens: int,
    temperature: float = 0.0,
) -> Iterator[Encoded]:
    """The model's answer to every prompt, in order; a finished one includes the end token.

    Above temperature 0 it is sampled with torch's default generator.
    """
    for start in range(0, len(prompts), BATCH):
        encoded = [
            tokenizer.encode(chat_prompt(prompt), add_special_tokens=False)
            for prompt in prompts[start : start + BATCH]
        ]
        for prompt_ids, answer_ids in zip(
            encoded, _continue(model, encoded, max_new_tokens, temperature), strict=True
        ):
            yield Encoded(prompt_ids + answer_ids, len(prompt_ids))


@torch.inference_mode()
def _continue(
    model: LlamaForCausalLM, prompts: list[list[int]], max_new_tokens: int, temperature: float
) -> list[list[int]]:
    """Continuations; prompts are padded on the left so that all end in the same column."""
    pad, end = model.config.pad_token_id, model.config.eos_token_id
    width = max(map(len, prompts))
    ids = torch.tensor([[pad] * (width - len(p)) + p for p in prompts], device=model.device)
    output = model.generate(
        input_ids=ids,
        attention_mask=(ids != pad).long(),
        max_new_tokens=max_new_tokens,
        **({"do_sample": True, "temperature": temperature, "top_k": 0} if temperature else GREEDY),
        pad_token_id=pad,
        eos_token_id=end,
    )
    found = output[:, width:].tolist()
    return [a[: a.index(end) + 1] if end in a else a for a in found]
