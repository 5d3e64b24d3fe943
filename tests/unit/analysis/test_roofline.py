"""The roofline by hand, its corners, and what it becomes where memory decides alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.hardware import HARDWARE, Precision, gpu, gpus
from specviz.analysis.theory import theory
from specviz.analysis.theory.roofline import MOST_SEQUENCES, Roofline
from specviz.errors import UsageError

TUTORIAL = Roofline(parameters=70e9, bytes_per_parameter=2, bandwidth_gb_s=2000, peak_tflops=312)

rooflines = st.builds(
    Roofline,
    parameters=st.floats(1e8, 1e12),
    bytes_per_parameter=st.sampled_from([0.5, 1.0, 2.0]),
    bandwidth_gb_s=st.floats(50, 20_000),
    peak_tflops=st.floats(1, 5_000),
    kv_bytes=st.floats(0, 1e9),
)


def test_the_tutorials_70b_on_an_a100() -> None:
    assert TUTORIAL.weights_bytes == 140e9
    assert TUTORIAL.step_ms(1) == pytest.approx(70.0)
    assert TUTORIAL.output_throughput() == pytest.approx(14.2857, abs=1e-4)  # its "14 tokens/s"
    assert TUTORIAL.utilisation() == pytest.approx(0.00641, abs=1e-5)  # its "1-2 %"


def test_corners_by_hand() -> None:
    # 140 GB / 2 TB/s = 2 × 70e9 × batch / 312e12: batch 156; with 6 tokens each a sixth of it.
    assert TUTORIAL.critical_batch() == pytest.approx(156)
    assert TUTORIAL.critical_batch(6) == pytest.approx(26)
    assert TUTORIAL.step_ms(156) == pytest.approx(70.0)
    assert TUTORIAL.step_ms(312) == pytest.approx(140.0)
    assert TUTORIAL.step_ms(52, tokens=6) == pytest.approx(140.0)
    # 1 GB of KV cache per sequence: 0.5 ms each to read, 0.4487 ms each to compute.
    with_kv = replace(TUTORIAL, kv_bytes=1e9)
    assert with_kv.step_ms(4) == pytest.approx(72.0)
    assert with_kv.critical_batch() is None
    assert with_kv.critical_batch(6) == pytest.approx(70 / (6 * 0.448718 - 0.5), abs=1e-3)


def test_speedup_by_hand() -> None:
    # α 1, K 1, free drafts: 2 tokens per step; compute-bound, a step of twice the time.
    assert TUTORIAL.speedup(1.0, 1, 0.0, batch=1) == pytest.approx(2.0)
    assert TUTORIAL.speedup(1.0, 1, 0.0, batch=312) == pytest.approx(1.0)
    assert TUTORIAL.speedup(1.0, 1, 0.5, batch=312) == pytest.approx(0.8)
    assert TUTORIAL.speedup(0.5, 1, 0.0, batch=117) == pytest.approx(1.0)  # 1.5 against 1.5
    assert TUTORIAL.last_gaining_batch(0.5, 1, 0.0) in (116, 117)  # 117 is exact: floats decide


@given(rooflines, st.floats(0, 1), st.integers(0, 32), st.floats(0, 1))
def test_where_memory_decides_it_is_the_formula(
    roofline: Roofline, alpha: float, k: int, cost: float
) -> None:
    verifying = roofline.critical_batch(k + 1)
    if verifying is not None and verifying < 1:
        return
    assert roofline.speedup(alpha, k, cost) == pytest.approx(theory.speedup(alpha, k, cost))


@given(rooflines, st.floats(0, 1), st.integers(0, 32), st.floats(0, 1), st.data())
def test_the_speedup_never_rises_with_the_batch(
    roofline: Roofline, alpha: float, k: int, cost: float, data: st.DataObject
) -> None:
    batches = data.draw(st.tuples(st.integers(1, 4096), st.integers(1, 4096)))
    low, high = sorted(batches)
    before, after = (roofline.speedup(alpha, k, cost, batch) for batch in (low, high))
    assert after <= before * (1 + 1e-9)
    last = roofline.last_gaining_batch(alpha, k, cost)
    if last is None:
        assert roofline.speedup(alpha, k, cost, MOST_SEQUENCES) >= 1
        return
    assert last == 0 or roofline.speedup(alpha, k, cost, last) >= 1
    assert roofline.speedup(alpha, k, cost, last + 1) < 1


@given(rooflines, st.integers(1, 32))
def test_verification_leaves_the_memory_bound_earlier(roofline: Roofline, k: int) -> None:
    plain, verifying = roofline.critical_batch(), roofline.critical_batch(k + 1)
    if plain is not None:
        assert verifying is not None
        assert verifying <= plain / (k + 1) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"parameters": 0}, "number of parameters must be above 0"),
        ({"bytes_per_parameter": -1}, "bytes per parameter"),
        ({"bandwidth_gb_s": float("nan")}, "memory bandwidth"),
        ({"peak_tflops": float("inf")}, "peak compute"),
        ({"kv_bytes": -1}, "KV cache"),
    ],
)
def test_machines_that_cannot_be_are_named(values: dict[str, float], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        replace(TUTORIAL, **values)


@pytest.mark.parametrize("batch", [0, -3, MOST_SEQUENCES + 1])
def test_batches_that_cannot_be_are_named(batch: int) -> None:
    with pytest.raises(UsageError, match="The batch is from 1"):
        TUTORIAL.step_ms(batch)


def test_every_gpu_has_its_source_and_date() -> None:
    lines = HARDWARE.read_text(encoding="utf-8").splitlines()
    assert len(gpus()) == len(lines) - 1
    for found in gpus().values():
        assert found.memory_gb > 0
        assert found.bandwidth_gb_s > found.memory_gb
        assert found.source.startswith(("https://", "Tutorial"))
        assert found.date.count("-") == 2
        # A roofline's ridge is at tens to hundreds of operations per byte on every GPU.
        for peak in found.peak_tflops.values():
            assert 20 < peak * 1000 / found.bandwidth_gb_s < 1000


def test_gpus_by_name() -> None:
    assert gpu("A100 80GB (tutorial)").bandwidth_gb_s == 2000
    assert gpu("A100 80GB (tutorial)").peak_tflops == {}
    assert gpu("A100 80GB SXM").peak_tflops[Precision.BF16] == 312
    assert Precision.FP8 not in gpu("A100 80GB SXM").peak_tflops
    with pytest.raises(UsageError, match="no GPU 'A1000'"):
        gpu("A1000")
