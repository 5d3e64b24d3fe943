"""The cache as a list of slots."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from specviz.engines.embedded.kv_cache import BLOCK, FIRST_CAPACITY, KVCache
from tests.support.embedded.tiny_models import CPU


def new_cache() -> KVCache:
    return KVCache(layers=2, kv_heads=2, head_dim=4, dtype=torch.float32, device=CPU)


def write(cache: KVCache, numbers: list[int]) -> None:
    """Slots that hold a number each, as a forward pass writes them."""
    cache.reserve(len(numbers))
    end = cache.length + len(numbers)
    values = torch.tensor(numbers, dtype=torch.float32)[:, None]
    cache.keys[:, :, cache.length : end] = values
    cache.values[:, :, cache.length : end] = -values
    cache.length = end


def read(cache: KVCache) -> list[int]:
    keys, values = cache.keys[:, :, : cache.length], cache.values[:, :, : cache.length]
    assert torch.equal(keys, -values)
    assert torch.equal(keys, keys[:1, :1, :, :1].expand_as(keys))
    return keys[0, 0, :, 0].int().tolist()


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("write"), st.integers(0, 40)),
            st.tuples(st.just("rollback"), st.integers(0, 100)),
            st.tuples(st.just("keep"), st.integers(1, 12), st.sets(st.integers(0, 11))),
        ),
        max_size=20,
    )
)
def test_cache_behaves_like_a_list(operations) -> None:
    cache, model, number = new_cache(), [], 1
    for kind, *details in operations:
        if kind == "rollback":
            model = model[: len(model) * details[0] // 100]
            cache.rollback(len(model))
            continue
        start, new = len(model), list(range(number, number + details[0]))
        number += details[0]
        write(cache, new)
        model += new
        if kind == "keep":
            kept = sorted(offset for offset in details[1] if offset < details[0])
            cache.keep(start, kept)
            model[start:] = [new[offset] for offset in kept]
        assert read(cache) == model
        assert cache.length == len(model)


def test_growing_keeps_what_is_there_and_room_for_a_block() -> None:
    cache = new_cache()
    write(cache, list(range(FIRST_CAPACITY - BLOCK)))
    assert cache.keys.shape[2] == FIRST_CAPACITY
    before = cache.nbytes
    write(cache, list(range(3 * FIRST_CAPACITY)))
    assert read(cache) == [*range(FIRST_CAPACITY - BLOCK), *range(3 * FIRST_CAPACITY)]
    assert cache.keys.shape[2] >= cache.length + BLOCK
    assert cache.nbytes == before * cache.keys.shape[2] // FIRST_CAPACITY
    assert cache.nbytes == cache.keys.nbytes + cache.values.nbytes
