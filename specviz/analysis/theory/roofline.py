"""The roofline of decoding: a step takes as long as the slower of memory and compute.

Williams et al., Communications of the ACM 52(4), 2009, for one step of a transformer: all weights
and the KV cache of every sequence are read once, and every token takes two operations per weight.
Attention's own operations, communication and launches are left out, so times are lower bounds.
Sizes in bytes, bandwidth in GB/s, compute in TFLOPS, times in ms.
"""

from __future__ import annotations

from dataclasses import dataclass

from specviz.analysis.theory import theory
from specviz.errors import UsageError

MOST_SEQUENCES = 1 << 20


@dataclass(frozen=True, slots=True)
class Roofline:
    """A model on a machine.

    `weights_bytes`: parameters × bytes per parameter, all read in every step. `kv_bytes`: KV cache
    of one sequence, read in every step. `bandwidth_gb_s` and `peak_tflops` (dense, in the precision
    that is computed in): of all GPUs together. Raises UsageError for what cannot be.
    """

    parameters: float
    bytes_per_parameter: float
    bandwidth_gb_s: float
    peak_tflops: float
    kv_bytes: float = 0.0

    def __post_init__(self) -> None:
        for name, value in (
            ("number of parameters", self.parameters),
            ("bytes per parameter", self.bytes_per_parameter),
            ("memory bandwidth", self.bandwidth_gb_s),
            ("peak compute", self.peak_tflops),
        ):
            if not 0 < value < float("inf"):
                raise UsageError(f"The {name} must be above 0, not {value:g}.")
        if not 0 <= self.kv_bytes < float("inf"):
            raise UsageError(f"The KV cache per sequence cannot be {self.kv_bytes:g} bytes.")

    @property
    def weights_bytes(self) -> float:
        return self.parameters * self.bytes_per_parameter

    def memory_ms(self, batch: float) -> float:
        """Time to read the weights and the KV cache of `batch` sequences once."""
        return (self.weights_bytes + batch * self.kv_bytes) / (self.bandwidth_gb_s * 1e6)

    def compute_ms(self, batch: float, tokens: int = 1) -> float:
        """Time to compute `tokens` tokens for each of `batch` sequences."""
        return 2 * self.parameters * batch * tokens / (self.peak_tflops * 1e9)

    def step_ms(self, batch: float, tokens: int = 1) -> float:
        """Time of one step that computes `tokens` tokens per sequence."""
        check_batch(batch)
        return max(self.memory_ms(batch), self.compute_ms(batch, tokens))

    def output_throughput(self, batch: float = 1) -> float:
        """Output tokens per second of plain decoding, all sequences together."""
        return batch / self.step_ms(batch) * 1000

    def utilisation(self, batch: float = 1) -> float:
        """Share of the peak compute that plain decoding uses, 0-1."""
        return self.compute_ms(batch) / self.step_ms(batch)

    def critical_batch(self, tokens: int = 1) -> float | None:
        """The batch at which compute takes as long as memory; None: memory always takes longer.

        With `tokens` = K + 1 the same for verification: it is reached earlier.
        """
        per_sequence = self.compute_ms(1, tokens) - self.kv_bytes / (self.bandwidth_gb_s * 1e6)
        return None if per_sequence <= 0 else self.memory_ms(0) / per_sequence

    def speedup(self, alpha: float, k: int, cost: float, batch: float = 1) -> float:
        """Plain decoding's time per token over that of speculation at this batch.

        A draft token costs `cost` plain steps of the same batch: a draft model is taken to be the
        target made smaller. While both are memory-bound this is `theory.speedup`.
        """
        theory.check(alpha=alpha, k=k, cost=cost)
        plain_ms = self.step_ms(batch)
        step_ms = self.step_ms(batch, k + 1) + k * cost * plain_ms
        return theory.expected_tokens(alpha, k) * plain_ms / step_ms

    def last_gaining_batch(self, alpha: float, k: int, cost: float) -> int | None:
        """The largest batch at which speculation is not slower; None: it never becomes slower.

        0 if it is slower at once. The speed-up never rises with the batch.
        """
        if self.speedup(alpha, k, cost, MOST_SEQUENCES) >= 1:
            return None
        low, high = 0, MOST_SEQUENCES
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (
                (middle, high) if self.speedup(alpha, k, cost, middle) >= 1 else (low, middle)
            )
        return low


def check_batch(batch: float) -> None:
    """Raise UsageError for a batch below one sequence or above `MOST_SEQUENCES`."""
    if not 1 <= batch <= MOST_SEQUENCES:
        raise UsageError(f"The batch is from 1 to {MOST_SEQUENCES:,} sequences, not {batch:g}.")
