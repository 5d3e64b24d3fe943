"""Greedy speculative decoding gives the text of plain decoding, on the models that ship.

To the token wherever `repeats_plain` says so: with the compiled kernels for every method, with
oneDNN's layout for short chains in bfloat16. Elsewhere sums are added in another order, which can
tip a tie: if texts part there, the target's two best tokens are within `NEAR_TIE` of each other.
"""

from __future__ import annotations

from functools import cache

import pytest
import torch

from specviz.config import EngineKind, RunConfig, Sampling
from specviz.engines.embedded.decode import Decoder, Round
from specviz.engines.embedded.faster_dtype import Dtype
from specviz.engines.embedded.model import Llama
from specviz.engines.embedded.opening import loaded_model, tokenizer_in
from specviz.engines.embedded.options import Options, engine_version, repeats_plain
from specviz.engines.embedded.proposers.draft_model import DraftModel
from specviz.engines.embedded.proposers.factory import open_proposer
from specviz.engines.embedded.sampler import Sampler
from specviz.methods import METHODS, Method, Shape
from specviz.prompts.shipped import CATEGORIES
from tests.support.demo_models import DEMO_TARGET, DRAFTS, known_prompts
from tests.support.embedded.random_models import some_skipped
from tests.support.embedded.tiny_models import CPU, load_tiny, save_tiny

TOKENS = 24
NEAR_TIE = 0.1
"""Between two probabilities: two steps of a bfloat16 logit of 8 to 16 (1/16 each) at most."""
K_AND_CATEGORY = (
    (1, "short_qa"),
    (3, "translation"),
    (5, "structured_output"),
    (8, "code_generation"),
)
QUICK = ("float32", 3)
WAYS = [
    (method, shape)
    for method, record in METHODS.items()
    if record.embedded_k
    for shape in record.shapes
]


def greedy() -> Sampler:
    return Sampler(Sampling(), CPU)


def rounds_until(decoder: Decoder, prompt_ids: tuple[int, ...], k: int, count: int) -> list[Round]:
    found: list[Round] = []
    for done in decoder.rounds(prompt_ids, greedy(), k):
        found.append(done)
        if sum(len(one.token_ids) for one in found) >= count:
            return found
    raise AssertionError


def tokens_of(rounds: list[Round], count: int = TOKENS) -> list[int]:
    return [token for done in rounds for token in done.token_ids][:count]


@cache
def prompt_ids_of(category: str) -> tuple[int, ...]:
    shortest = min(known_prompts(category), key=lambda prompt: len(prompt.text))
    return tuple(tokenizer_in(DEMO_TARGET).encode_chat(shortest.messages))


@cache
def baseline(category: str, dtype: Dtype) -> list[Round]:
    target = loaded_model(DEMO_TARGET, dtype, CPU)
    return rounds_until(Decoder(target, None), prompt_ids_of(category), 0, TOKENS)


@pytest.mark.parametrize(
    ("dtype", "k", "category"),
    [
        pytest.param(dtype, k, category, marks=[] if (dtype, k) == QUICK else pytest.mark.slow)
        for dtype in ("float32", "bfloat16")
        for k, category in K_AND_CATEGORY
    ],
)
@pytest.mark.parametrize(("method", "shape"), WAYS)
def test_greedy_text_is_that_of_plain_decoding(
    dtype: Dtype, method: Method, shape: Shape, k: int, category: str
) -> None:
    folder = DRAFTS.get(method)
    options = Options(dtype=dtype, shape=shape, device="cpu")
    target = loaded_model(DEMO_TARGET, dtype, CPU)
    kv_cache = target.new_cache()
    proposer, _ = open_proposer(
        method,
        target,
        kv_cache,
        folder,
        options,
        lambda path: loaded_model(path, dtype, CPU),
        some_skipped(target.config.layers),
    )
    if method is Method.MEDUSA and shape == "chain":
        k = min(k, 4)  # as many as there are heads
    decoder = Decoder(target, proposer, cache=kv_cache)
    found = tokens_of(rounds_until(decoder, prompt_ids_of(category), k, TOKENS))
    plain = baseline(category, dtype)
    wanted = tokens_of(plain)
    if found != wanted:
        assert not promised(target, dtype, method, shape, k)
        place = next(i for i, (a, b) in enumerate(zip(found, wanted, strict=True)) if a != b)
        first, second = plain[place].target[0].float().softmax(-1).topk(2).values.tolist()
        assert first - second <= NEAR_TIE, f"at {place}: {first:.3f} against {second:.3f}"


def promised(target: Llama, dtype: Dtype, method: Method, shape: Shape, k: int) -> bool:
    version = engine_version(torch.__version__, dtype, "cpu", target.products)
    options = {"shape": shape}
    config = RunConfig(EngineKind.EMBEDDED, method, k, server_version=version, options=options)
    return repeats_plain(config) is True


def test_all_methods_are_checked() -> None:
    assert {method for method, _ in WAYS} == set(Method) - {Method.BASELINE}
    assert {category for _, category in K_AND_CATEGORY} <= set(CATEGORIES)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory):
    """Models with room for 64 tokens."""
    folder = tmp_path_factory.mktemp("small")
    sizes = {"max_position_embeddings": 64}
    target = load_tiny(save_tiny(folder / "target", seed=1, **sizes))
    return target, load_tiny(save_tiny(folder / "draft", seed=2, num_hidden_layers=1, **sizes))


def test_drafts_end_where_the_model_does(small) -> None:
    """All 64 positions are used, none beyond, and the text is still that of plain decoding."""
    target, draft = small
    prompt_ids = tuple(range(2, 42))
    decoder = Decoder(target, DraftModel(draft))
    plain = tokens_of(rounds_until(Decoder(target, None), prompt_ids, 0, 24))
    rounds = rounds_until(decoder, prompt_ids, 8, 24)
    assert tokens_of(rounds) == plain
    assert decoder.cache.length <= 64
    room = [64 - 40 - len(tokens_of(rounds[:i], 99)) - 1 for i in range(1, len(rounds))]
    assert [len(done.draft.token_ids) <= most for done, most in zip(rounds[1:], room, strict=True)]


def test_a_round_adds_what_was_accepted_and_one(small) -> None:
    target, draft = small
    rounds = rounds_until(Decoder(target, DraftModel(draft)), (5, 6, 7), 4, 20)
    assert not rounds[0].draft.token_ids and len(rounds[0].token_ids) == 1
    for done in rounds:
        accepted = [done.draft.token_ids[node] for node in done.verified.path]
        assert done.token_ids == (*accepted, done.verified.next_token)
        assert done.began <= done.drafted <= done.ended
        assert done.target.shape == (len(done.draft.token_ids) + 1, 48)


def test_same_decoder_starts_anew(small) -> None:
    target, draft = small
    decoder = Decoder(target, DraftModel(draft))
    first = tokens_of(rounds_until(decoder, (5, 6, 7), 4, 20))
    rounds_until(decoder, (9, 9, 8), 4, 20)
    assert tokens_of(rounds_until(decoder, (5, 6, 7), 4, 20)) == first
    assert torch.is_tensor(decoder.cache.keys)
