"""The dtype `auto`: whichever is faster for this model on this machine, measured once and kept.

The answer follows from the processor, oneDNN's kernels for it and the compiled kernels, so no list
of processors would stay true.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from functools import cache
from pathlib import Path
from typing import Literal

import torch

from specviz.engines.embedded.compiled.library import fingerprint
from specviz.engines.embedded.model import Llama, load_model
from specviz.paths import cache_folder

Dtype = Literal["float32", "bfloat16"]
DTYPES: dict[Dtype, torch.dtype] = {"float32": torch.float32, "bfloat16": torch.bfloat16}
CPU = torch.device("cpu")

ROUNDS = 7
CONTEXT = 16
PLAIN, VERIFYING = 1, 6
"""Rows of a step of plain decoding, and of one that verifies five drafted tokens."""

_CHOOSES_KERNELS = ("ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "ATEN_CPU_CAPABILITY")

_log = logging.getLogger(__name__)


@cache
def faster_dtype(folder: Path) -> Dtype:
    """The dtype in which a step of plain decoding and one of verification take less time together.

    It is measured on the CPU. Raises UsageError for a model that cannot be loaded.
    """
    file = cache_folder("dtype") / f"{folder.name}-{_key(folder)}.json"
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))["faster"]
        return next(name for name in DTYPES if name == kept)
    except FileNotFoundError:
        pass
    except (OSError, ValueError, LookupError, TypeError, StopIteration) as error:
        _log.warning("The faster dtype is measured again: %s cannot be read (%r).", file, error)
    times = step_times_ms({name: load_model(folder, dtype, CPU) for name, dtype in DTYPES.items()})
    faster = min(times, key=lambda name: times[name])
    try:
        keep_json(file, {"faster": faster, "ms": times})
    except OSError as error:
        _log.warning("The faster dtype will be measured again next time: %s", error)
    return faster


def keep_json(file: Path, value: object) -> None:
    """Write what was found once for a model into the cache, whole or not at all. Raises OSError."""
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f"{file.name}.{os.getpid()}")
    new.write_text(json.dumps(value), encoding="utf-8")
    new.replace(file)  # another process may be writing it too


@torch.inference_mode()
def step_times_ms(models: dict[Dtype, Llama]) -> dict[Dtype, float]:
    """Time of both kinds of step by model, the least of some rounds: the models take turns, so that
    a busy moment hits neither alone."""
    steps = [(name, rows) for name in models for rows in (PLAIN, VERIFYING)]
    least = dict.fromkeys(steps, float("inf"))
    caches = {name: model.new_cache() for name, model in models.items()}
    for name, model in models.items():
        model.forward([0] * CONTEXT, caches[name])
    for _ in range(ROUNDS):
        for name, rows in steps:
            began = time.perf_counter()
            models[name].forward([0] * rows, caches[name])
            least[name, rows] = min(least[name, rows], 1000 * (time.perf_counter() - began))
            caches[name].rollback(CONTEXT)
    return {name: sum(least[name, rows] for rows in (PLAIN, VERIFYING)) for name in models}


def _key(folder: Path) -> str:
    """Hash of all that decides which kernels compute: different machines share home folders."""
    found = hashlib.sha256((folder / "config.json").read_bytes())
    settings = [os.environ.get(name) for name in _CHOOSES_KERNELS]
    found.update(
        f"{torch.__version__} {torch.get_num_threads()} {fingerprint()} {settings}".encode()
    )
    return found.hexdigest()[:16]
