"""The halves of a decoder layer by the compiled kernels, each in one call."""

from __future__ import annotations

from ctypes import Structure, byref, c_float, c_int64, c_void_p
from dataclasses import dataclass

import torch
from torch import Tensor

from specviz.engines.embedded.attention import Layout
from specviz.engines.embedded.checkpoint import ModelConfig
from specviz.engines.embedded.compiled.library import WIDTH, loaded
from specviz.engines.embedded.compiled.product import Matrix, Product, pointer
from specviz.engines.embedded.kv_cache import KVCache

LONGEST_HEAD = 1024


class _Rows(Structure):
    _fields_ = (
        ("count", c_int64),
        ("first", c_int64),
        ("start", c_int64),
        ("width", c_int64),
        ("positions", c_void_p),
        ("seen", c_void_p),
    )


class _Cache(Structure):
    _fields_ = (("keys", c_void_p), ("values", c_void_p), ("capacity", c_int64))


class _Attention(Structure):
    _fields_ = (
        ("qkv", Matrix),
        ("out", Matrix),
        ("q_norm", c_void_p),
        ("k_norm", c_void_p),
        ("cosine", c_void_p),
        ("sine", c_void_p),
        ("heads", c_int64),
        ("kv_heads", c_int64),
        ("size", c_int64),
        ("eps", c_float),
    )


class _Mlp(Structure):
    _fields_ = (("gate_up", Matrix), ("down", Matrix), ("norm", c_void_p), ("eps", c_float))


@dataclass(frozen=True, slots=True)
class Parts:
    """What a layer computes with; norms of heads are Qwen3's, `rope` is cosines and sines
    [positions, head size]."""

    qkv: Product
    out: Product
    gate_up: Product
    down: Product
    mlp_norm: Tensor
    q_norm: Tensor | None
    k_norm: Tensor | None
    rope: tuple[Tensor, Tensor]


class CompiledLayer:
    """One decoder layer on a few rows."""

    def __init__(self, config: ModelConfig, parts: Parts) -> None:
        self._parts = parts  # the pointers below are theirs
        self._attention = _Attention(
            qkv=parts.qkv.matrix,
            out=parts.out.matrix,
            q_norm=pointer(parts.q_norm),
            k_norm=pointer(parts.k_norm),
            cosine=pointer(parts.rope[0]),
            sine=pointer(parts.rope[1]),
            heads=config.heads,
            kv_heads=config.kv_heads,
            size=config.head_dim,
            eps=config.norm_eps,
        )
        self._mlp = _Mlp(
            parts.gate_up.matrix, parts.down.matrix, pointer(parts.mlp_norm), config.norm_eps
        )
        self._library = loaded()

    def attention(
        self,
        x: Tensor,
        norm: Tensor | None,
        residual: Tensor,
        cache: KVCache,
        index: int,
        layout: Layout,
    ) -> Tensor:
        """As `Layer.attention`."""
        x, residual = x.contiguous(), residual.contiguous()
        out = torch.empty_like(residual)
        rows = _Rows(
            *(x.shape[0], cache.length, layout.start, layout.seen.shape[1]),
            *(layout.positions.data_ptr(), layout.seen.data_ptr()),
        )
        offset = index * cache.keys.stride(0) * cache.keys.element_size()
        slots = _Cache(
            *(cache.keys.data_ptr() + offset, cache.values.data_ptr() + offset),
            cache.keys.shape[2],
        )
        self._library.attention(
            *(byref(self._attention), byref(rows), byref(slots), pointer(norm), x.data_ptr()),
            *(residual.data_ptr(), out.data_ptr(), torch.get_num_threads()),
        )
        return out

    def mlp(self, x: Tensor) -> Tensor:
        """As `Layer.mlp`."""
        x = x.contiguous()
        out = torch.empty_like(x)
        self._library.mlp(
            byref(self._mlp), x.data_ptr(), x.shape[0], out.data_ptr(), torch.get_num_threads()
        )
        return out


def fits(config: ModelConfig) -> bool:
    """Whether heads of this size are computed here."""
    return config.head_dim % WIDTH == 0 and config.head_dim <= LONGEST_HEAD
