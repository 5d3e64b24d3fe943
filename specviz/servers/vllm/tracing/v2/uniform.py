"""`tl.rand(seed, offset)` of Triton, computed on the host: what vLLM's kernels compare with.

Philox 4×32 with ten rounds (Salmon et al., SC 2011); `triton/language/random.py`. `tl_rand32` of
`vllm/v1/worker/gpu/sample/gumbel.py` keeps zero out.
"""

from __future__ import annotations

import struct

ROUNDS = 10
ROUND_A, ROUND_B = 0xD2511F53, 0xCD9E8D57
KEY_A, KEY_B = 0x9E3779B9, 0xBB67AE85
WORD = 0xFFFFFFFF
SMALLEST = 4.6566127342e-10
"""2⁻³¹, also the factor from an integer to [0, 1)."""


def uniform(seed: int, position: int) -> float:
    """The random number in (0, 1) of a 64-bit seed and a position, exact in float32."""
    scaled = _float32(_float32(_signed_magnitude(_philox(seed, position))) * _float32(SMALLEST))
    return max(scaled, _float32(SMALLEST))


def _philox(seed: int, position: int) -> int:
    """The first of the four words."""
    key_0, key_1 = seed & WORD, seed >> 32 & WORD
    c0, c1, c2, c3 = position & WORD, position >> 32 & WORD, 0, 0
    for _ in range(ROUNDS):
        a, b = ROUND_A * c0, ROUND_B * c2
        c0, c1, c2, c3 = b >> 32 ^ c1 ^ key_0, b & WORD, a >> 32 ^ c3 ^ key_1, a & WORD
        key_0, key_1 = key_0 + KEY_A & WORD, key_1 + KEY_B & WORD
    return c0


def _signed_magnitude(word: int) -> int:
    """Read as a signed integer, negative ones mirrored to what is not."""
    return WORD - word if word > WORD >> 1 else word


def _float32(value: float) -> float:
    number: float = struct.unpack("f", struct.pack("f", value))[0]
    return number
