"""The shipped heads on real vLLM servers: they load, and accept as often as measured offline."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from specviz.config import Method
from specviz.demo.batches import Encoded
from specviz.demo.evaluate import load_target
from specviz.demo.family import HEAD_NAMES, SPECULATORS_NAME
from specviz.demo.heads.evaluate import head_hits
from specviz.demo.heads.load import load_head
from specviz.demo.tokenizer import chat_prompt
from specviz.engines.vllm.commands import ServerSpec
from specviz.engines.vllm.server import Server
from specviz.paths import DEMO_TARGET, MODELS
from specviz.prompts import CATEGORIES, load_prompts

pytestmark = pytest.mark.integration

K = 5
TOKENS = 100
# A server rounds bf16 products in another order, so that now and then another token comes out on
# top: of about 500 proposals, where the two differ by chance alone in one or two.
TOLERANCE = 0.03

Counters = Callable[[Server], dict[str, float]]


@pytest.fixture(scope="module")
def target() -> tuple[LlamaForCausalLM, PreTrainedTokenizerFast]:
    return load_target(MODELS)


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    """The server next door has the cores."""
    torch.set_num_threads(1)


@pytest.mark.parametrize(
    ("method", "folder"),
    [
        (Method.MEDUSA, HEAD_NAMES["medusa"]),
        (Method.EAGLE, HEAD_NAMES["eagle"]),
        (Method.EAGLE3, HEAD_NAMES["eagle3"]),
        (Method.EAGLE3, SPECULATORS_NAME),
    ],
)
def test_server_accepts_as_often_as_the_evaluation_says(
    method: Method,
    folder: str,
    target: tuple[LlamaForCausalLM, PreTrainedTokenizerFast],
    start: Callable[[ServerSpec], Server],
    ask: Callable[..., Any],
    spec_counters: Counters,
) -> None:
    """The same text, drafted for by vLLM's head and by ours, token for token as many accepted."""
    model, tokenizer = target
    server = start(ServerSpec(str(DEMO_TARGET), method, str(MODELS / folder), K, trace=False))
    prompts = [load_prompts(category)[0].text for category in CATEGORIES]
    texts = []
    for prompt in prompts:
        ids = tokenizer.encode(chat_prompt(prompt), add_special_tokens=False)
        answer = ask(server, ids, traced=False, max_tokens=TOKENS).token_ids
        texts.append(Encoded(ids + answer, len(ids)))
    counted = spec_counters(server)
    server.stop()
    # A head is the same in both formats; the other one is read without our loader.
    name = HEAD_NAMES["eagle3"] if folder == SPECULATORS_NAME else folder
    accepted, steps = expected(head_of(name, model), model, texts)
    assert counted["drafts"] == pytest.approx(steps, rel=TOLERANCE, abs=2)
    served = counted["accepted_tokens"] / counted["draft_tokens"]
    assert served == pytest.approx(accepted / (steps * K), abs=TOLERANCE)


def head_of(name: str, model: LlamaForCausalLM) -> Any:
    return load_head(Path(MODELS / name), model)


def expected(head: Any, model: LlamaForCausalLM, texts: list[Encoded]) -> tuple[int, int]:
    """Accepted tokens and steps by our modules over the server's own texts.

    A server also counts what is accepted beyond the limit of tokens, which we cannot see: in the
    last step of a text all that fits is taken to be accepted.
    """
    accepted = steps = 0
    for text in texts:
        hits = head_hits(head, model)(text, K)
        at = 1
        while at < len(hits):
            offered = len(hits[at])
            taken = next((n for n in range(offered) if not hits[at][n]), offered)
            accepted, steps, at = accepted + taken, steps + 1, at + taken + 1
    return accepted, steps
