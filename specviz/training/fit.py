"""The training loop of one phase: Muon and AdamW, warm-up, plateau and decay, checkpoints.

It does not know targets or drafts: a phase is a model, a loss and batches.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from torch import Tensor, nn

from specviz.training.muon import Muon
from specviz.training.stream.batches import Batch, split

WARM_UP_STEPS = 50
DECAY_SHARE = 0.4
CHECKPOINT_SECONDS = 240.0
LOSS_WINDOW = 50

# The summed loss of a batch and the weight it is a sum over.
Loss = Callable[[Batch], tuple[Tensor, float]]


@dataclass(frozen=True)
class Phase:
    """One phase of training, bounded by `minutes` and, if given, by `steps`.

    Minutes bound the time on a busy machine; steps make two runs equal.
    """

    name: str
    minutes: float
    muon_lr: float
    adam_lr: float
    steps: int | None = None


@dataclass(frozen=True)
class Outcome:
    """What the model card says of a phase. `loss`: the mean of the last `LOSS_WINDOW` steps."""

    name: str
    steps: int
    tokens: int
    seconds: float
    loss: float
    next_document: int


def optimizers(model: nn.Module, phase: Phase) -> list[torch.optim.Optimizer]:
    """Muon for the matrices inside the layers, AdamW for embeddings, vocabulary matrices and norms.

    Muon orthogonalises every update, which at this size reaches the same loss in about half the
    steps of AdamW (https://kellerjordan.github.io/posts/muon/).
    """
    named = list(model.named_parameters())
    hidden = [p for name, p in named if _is_hidden_matrix(name, p)]
    others = [p for name, p in named if not _is_hidden_matrix(name, p)]
    return [
        Muon(hidden, lr=phase.muon_lr, weight_decay=0.05),
        torch.optim.AdamW(others, lr=phase.adam_lr, betas=(0.9, 0.95), weight_decay=0.0),
    ]


def _is_hidden_matrix(name: str, parameter: nn.Parameter) -> bool:
    return parameter.ndim == 2 and "embed" not in name and "lm_head" not in name


def learning_rate_factor(step: int, done: float) -> float:
    """Linear warm-up over steps, plateau, linear decay over the last `DECAY_SHARE` of the phase.

    `done` is the finished share of the phase, from 0 to 1.
    """
    return min(1.0, (step + 1) / WARM_UP_STEPS, max(0.01, (1.0 - done) / DECAY_SHARE))


def fit(
    model: nn.Module,
    phase: Phase,
    batches: Callable[[int], Iterator[Batch]],
    loss: Loss,
    *,
    checkpoint: Path,
    progress: Callable[[str], None],
    snapshot: Callable[[], None],
) -> Outcome:
    """Train `model` in place; continue from `checkpoint` if it exists.

    `batches(start)` yields batches from document `start` on. `snapshot` is called with every
    checkpoint, so that a usable model exists before the end.
    """
    optims = optimizers(model, phase)
    state = State()
    if checkpoint.exists():
        state = _load(checkpoint, model, optims)
        progress(f"{phase.name}: continues at step {state.step}")
    began, last_save = time.monotonic() - state.seconds, time.monotonic()
    model.train()
    stream = batches(state.document)
    with gradient_workers() as pool:
        while (done := _share_done(phase, state)) < 1.0:
            batch = next(stream)
            for optim, rate in zip(optims, (phase.muon_lr, phase.adam_lr), strict=True):
                optim.param_groups[0]["lr"] = rate * learning_rate_factor(state.step, done)
            value = set_gradients(model, loss, batch, pool)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            for optim in optims:
                optim.step()
            state = State(
                step=state.step + 1,
                tokens=state.tokens + batch.ids.numel(),
                document=batch.next_document,
                seconds=time.monotonic() - began,
                recent=[*state.recent[1 - LOSS_WINDOW :], value],
            )
            if state.step % 10 == 0:
                progress(_status(phase, state))
            finished = _share_done(phase, state) >= 1.0
            if finished or time.monotonic() - last_save > CHECKPOINT_SECONDS:
                _save(checkpoint, model, optims, state)
                snapshot()
                last_save = time.monotonic()
    return Outcome(
        phase.name, state.step, state.tokens, state.seconds, _mean(state.recent), state.document
    )


@dataclass(frozen=True)
class State:
    """The progress of a phase; stored in the checkpoint next to the weights."""

    step: int = 0
    tokens: int = 0
    document: int = 0
    seconds: float = 0.0
    recent: list[float] = field(default_factory=list)


def gradient_workers() -> ThreadPoolExecutor:
    """One thread per core, each computing alone on its share of a batch.

    Splitting a batch costs one synchronisation per step; splitting every matrix product costs
    thousands, which is far slower on a busy machine.
    """
    workers = torch.get_num_threads()
    return ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,))


def set_gradients(model: nn.Module, loss: Loss, batch: Batch, pool: ThreadPoolExecutor) -> float:
    """Set every parameter's gradient of the mean loss over `batch`; returns that loss.

    On a CPU every thread computes a share of the documents, on a GPU one all of them.
    """
    parameters = list(model.parameters())

    parts = torch.get_num_threads() if parameters[0].device.type == "cpu" else 1

    def share(part: Batch) -> tuple[tuple[Tensor, ...], float, float]:
        total, weight = loss(part)
        return torch.autograd.grad(total, parameters), total.item(), weight

    shares = list(pool.map(share, split(batch, parts)))
    weight = sum(w for _, _, w in shares)
    for index, parameter in enumerate(parameters):
        parameter.grad = torch.stack([g[index] for g, _, _ in shares]).sum(0) / weight
    return sum(total for _, total, _ in shares) / weight


def _share_done(phase: Phase, state: State) -> float:
    of_steps = 0.0 if phase.steps is None else state.step / phase.steps
    return max(of_steps, state.seconds / (phase.minutes * 60))


def _status(phase: Phase, state: State) -> str:
    done = _share_done(phase, state)
    left = state.seconds * (1 - done) / done / 60 if done else 0.0
    speed = state.tokens / state.seconds
    return (
        f"{phase.name}: step {state.step}, loss {_mean(state.recent):.3f}, {speed:.0f} tokens/s, "
        f"{max(left, 0):.0f} min left"
    )


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _load(path: Path, model: nn.Module, optims: list[torch.optim.Optimizer]) -> State:
    saved = torch.load(path, weights_only=True)
    model.load_state_dict(saved["model"])
    for optim, optim_state in zip(optims, saved["optimizers"], strict=True):
        optim.load_state_dict(optim_state)
    return State(**saved["state"])


def _save(path: Path, model: nn.Module, optims: list[torch.optim.Optimizer], state: State) -> None:
    """Write next to `path` and rename, so that a kill never leaves a partial checkpoint."""
    fresh = path.with_suffix(".new")
    torch.save(
        {
            "model": model.state_dict(),
            "optimizers": [optim.state_dict() for optim in optims],
            "state": asdict(state),
        },
        fresh,
    )
    fresh.replace(path)
