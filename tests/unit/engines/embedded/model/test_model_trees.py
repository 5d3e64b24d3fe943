"""A tree row is the row of the chain of its ancestors; the cache keeps what it is asked to."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from specviz.engines.embedded.draft import Watch
from specviz.engines.embedded.linear import has_layout
from specviz.engines.embedded.model import Llama, Sublayers, load_model
from specviz.engines.embedded.options import SAME_ROWS
from specviz.trace import ROOT
from tests.support.demo_models import DEMO_TARGET
from tests.support.embedded.model_checks import assert_close, branch, tokens, trees
from tests.support.embedded.tiny_models import CPU, load_tiny, save_tiny


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Llama:
    return load_tiny(save_tiny(tmp_path_factory.mktemp("model"), "qwen3", seed=6))


def logits_after(model: Llama, token_ids: Sequence[int]) -> Tensor:
    """The last row [1, vocabulary] of a text read at once."""
    return model.forward(token_ids, model.new_cache(), logits_from=len(token_ids) - 1).logits


@given(trees(), st.integers(0, 70))
def test_tree_row_is_the_chain_of_its_ancestors(model: Llama, tree, before: int) -> None:
    parents, ids = tree
    context = tokens(before)
    cache = model.new_cache()
    if context:
        model.forward(context, cache)
    rows = model.forward(ids, cache, parents=parents).logits
    for node in range(ROOT, len(parents)):
        text = [*context, ids[0], *(ids[above + 1] for above in branch(parents, node))]
        assert_close(rows[node + 1 : node + 2], logits_after(model, text))


@given(trees(), st.integers(0, 70), st.data())
def test_kept_branch_is_as_if_it_had_been_read(model: Llama, tree, before: int, data) -> None:
    parents, ids = tree
    node = data.draw(st.integers(ROOT, len(parents) - 1))
    path = branch(parents, node)
    context = tokens(before)
    cache = model.new_cache()
    if context:
        model.forward(context, cache)
    model.forward(ids, cache, parents=parents)
    cache.keep(before, [0, *(above + 1 for above in path)])
    text = [*context, ids[0], *(ids[above + 1] for above in path)]
    assert cache.length == len(text)
    assert_close(model.forward([7], cache).logits, logits_after(model, [*text, 7]))


OPERATIONS = st.one_of(
    st.tuples(st.just("read"), st.lists(st.integers(2, 47), min_size=1, max_size=45)),
    st.tuples(st.just("draft"), trees(), st.integers(0, 100)),
    st.tuples(st.just("rollback"), st.integers(0, 100)),
    st.tuples(st.just("skip"), st.lists(st.integers(2, 47), min_size=1, max_size=4)),
)


@given(st.lists(OPERATIONS, min_size=1, max_size=8))
def test_cache_is_what_is_left_of_all_that_happened(model: Llama, operations) -> None:
    """Reading, drafting trees, keeping a branch, forgetting, drafting with fewer layers."""
    cache = model.new_cache()
    text: list[int] = []
    for kind, *details in operations:
        if kind == "read":
            model.forward(details[0], cache)
            text += details[0]
        elif kind == "rollback":
            text = text[: len(text) * details[0] // 100]
            cache.rollback(len(text))
        elif kind == "skip":  # a draft of the target itself, forgotten at once
            run = Sublayers(attention=(True, False), mlp=(False, True))
            model.forward(details[0], cache, run=run)
            cache.rollback(len(text))
        else:
            (parents, ids), choice = details
            model.forward(ids, cache, parents=parents)
            path = branch(parents, choice % (len(parents) + 1) - 1)
            cache.keep(len(text), [0, *(node + 1 for node in path)])
            text += [ids[0], *(ids[node + 1] for node in path)]
        assert cache.length == len(text)
    assert_close(model.forward([9], cache).logits, logits_after(model, [*text, 9]))


def test_sublayers_left_out_are_left_out(model: Llama) -> None:
    ids = tokens(6)
    nothing = Sublayers(attention=(False, False), mlp=(False, False))
    forward = model.forward(ids, model.new_cache(), run=nothing)
    assert_close(forward.hidden, model.norm_final(model.embeddings[ids]))
    assert nothing.skipped == ("attention 0", "mlp 0", "attention 1", "mlp 1")
    everything = Sublayers(attention=(True, True), mlp=(True, True))
    assert torch.equal(
        model.forward(ids, model.new_cache(), run=everything).logits,
        model.forward(ids, model.new_cache()).logits,
    )


def test_watch_sees_the_input_of_its_layer(model: Llama) -> None:
    ids = tokens(6)
    seen: list[Tensor] = []
    forward = model.forward(ids, model.new_cache(), taps=(1,), watch=Watch(1, seen.append))
    assert len(seen) == 1 and forward.taps is not None
    assert torch.equal(seen[0], forward.taps)


@pytest.fixture(scope="module")
def demo_target() -> Llama:
    return load_model(DEMO_TARGET, torch.bfloat16, CPU)


ROWS = ((2, 5), (SAME_ROWS, 61))


@pytest.mark.skipif(not has_layout(torch.bfloat16), reason="torch multiplies bfloat16 alone")
@pytest.mark.parametrize(
    ("count", "before"),
    [
        pytest.param(count, before, marks=[] if (count, before) in ROWS else pytest.mark.slow)
        for count in (2, 3, 6, SAME_ROWS)
        for before in (5, 29, 61, 127, 300)
    ],
)
def test_few_bfloat16_rows_do_not_depend_on_how_many_are_computed(
    demo_target: Llama, count: int, before: int
) -> None:
    """Bit for bit, keys and values too: verification repeats plain decoding exactly."""
    ids = tokens(before + count, demo_target.config.vocabulary, seed=before)
    together, alone = demo_target.new_cache(), demo_target.new_cache()
    for cache in (together, alone):
        demo_target.forward(ids[:before], cache)
    rows = demo_target.forward(ids[before:], together).logits
    singles = torch.cat([demo_target.forward([token], alone).logits for token in ids[before:]])
    assert torch.equal(rows, singles)
    end = before + count
    assert torch.equal(together.keys[:, :, :end], alone.keys[:, :, :end])
    assert torch.equal(together.values[:, :, :end], alone.values[:, :, :end])
