"""The training loop: Muon and AdamW, warm-up, plateau and decay, checkpoints.

It does not know targets or drafts: it gets a module, a loss and answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from torch import Tensor, nn

from specviz.training.answers import Answer
from specviz.training.lesson import text_length
from specviz.training.losses import Loss
from specviz.training.precision import has_bfloat16
from specviz.training.workers import worker_count, workers

MUON_RATE, ADAM_RATE = 4e-3, 1e-3
WARM_UP_STEPS = 20
DECAY_SHARE = 0.4
CHECKPOINT_SECONDS = 180.0
LOSS_WINDOW = 50
BATCH = {"cpu": 8, "cuda": 64}
"""Answers of a step."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How long to train: until `minutes` are over or, if given, `steps` are done; and how fast.

    Minutes bound the time on a busy machine; steps make two runs equal. `rate` is a factor on the
    learning rates: below 1 for weights that are trained already.
    """

    minutes: float
    seed: int
    steps: int | None = None
    rate: float = 1.0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a training is; in the checkpoint next to the weights."""

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    recent: list[float] = field(default_factory=list)

    @property
    def loss(self) -> float:
        """The mean over the last `LOSS_WINDOW` steps."""
        return sum(self.recent) / max(1, len(self.recent))


def fit(
    model: nn.Module,
    answers: Sequence[Answer],
    loss: Loss,
    plan: Plan,
    *,
    checkpoint: Path,
    progress: Callable[[str], None],
    snapshot: Callable[[], None],
) -> Progress:
    """Train `model` in place; go on from `checkpoint` if it exists.

    `snapshot` is called with every checkpoint, so that a usable draft is there before the end.
    """
    optimizers = _optimizers(model)
    done = _loaded(checkpoint, model, optimizers) if checkpoint.exists() else Progress()
    began, saved = time.monotonic() - done.seconds, time.monotonic()
    device = next(model.parameters()).device
    batches = _batches(answers, BATCH[device.type], plan.seed, done.step)
    model.train()
    with workers(count := worker_count(device)) as pool:
        while (share := _share_done(plan, done)) < 1.0:
            batch = next(batches)
            _set_rates(optimizers, plan.rate * rate_factor(done.step, share))
            value = _set_gradients(model, loss, batch, pool, count)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            for optimizer in optimizers:
                optimizer.step()
            done = Progress(
                step=done.step + 1,
                tokens=done.tokens + sum(map(text_length, batch)),
                seconds=time.monotonic() - began,
                recent=[*done.recent[1 - LOSS_WINDOW :], value],
            )
            if done.step % 10 == 0:
                progress(_status(plan, done))
            if time.monotonic() - saved > CHECKPOINT_SECONDS:
                _save(checkpoint, model, optimizers, done)
                snapshot()
                saved = time.monotonic()
    _save(checkpoint, model, optimizers, done)
    snapshot()
    return done


def _optimizers(model: nn.Module) -> list[torch.optim.Optimizer]:
    """Muon for the matrices inside the layers, AdamW for vocabulary matrices and norms.

    Muon orthogonalises every update, which at these sizes reaches the same loss in about half the
    steps of AdamW (https://kellerjordan.github.io/posts/muon/). torch's computes in bfloat16: a
    machine without it takes AdamW for all, which is faster there.
    """
    named = list(model.named_parameters())
    fast = has_bfloat16(named[0][1].device.type)
    inner = [p for name, p in named if fast and p.ndim == 2 and not _is_table(name)]
    others = [p for name, p in named if not any(p is one for one in inner)]
    found: list[torch.optim.Optimizer] = []
    if inner:
        found.append(
            torch.optim.Muon(inner, MUON_RATE, weight_decay=0.05, adjust_lr_fn="match_rms_adamw")
        )
    if others:
        found.append(torch.optim.AdamW(others, ADAM_RATE, betas=(0.9, 0.95), weight_decay=0.0))
    for optimizer in found:
        for group in optimizer.param_groups:
            group["full_rate"] = group["lr"]
    return found


def _is_table(name: str) -> bool:
    return "embed" in name or "lm_head" in name


def rate_factor(step: int, share: float) -> float:
    """Linear warm-up over steps, plateau, linear decay over the last `DECAY_SHARE` of the plan.

    `share` of it is done, from 0 to 1.
    """
    return min(1.0, (step + 1) / WARM_UP_STEPS, max(0.01, (1.0 - share) / DECAY_SHARE))


def _set_rates(optimizers: Sequence[torch.optim.Optimizer], factor: float) -> None:
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = factor * group["full_rate"]


def _batches(answers: Sequence[Answer], size: int, seed: int, step: int) -> Iterator[list[Answer]]:
    """Batches from step `step` on, in a new order in every epoch."""
    size = min(size, len(answers))
    in_epoch = len(answers) // size
    epoch, place = divmod(step, in_epoch)
    while True:
        generator = torch.Generator().manual_seed(seed + epoch)
        order = torch.randperm(len(answers), generator=generator).tolist()
        for at in range(place, in_epoch):
            yield [answers[number] for number in order[at * size : (at + 1) * size]]
        epoch, place = epoch + 1, 0


def _set_gradients(
    model: nn.Module, loss: Loss, batch: list[Answer], pool: ThreadPoolExecutor, count: int
) -> float:
    """Set every parameter's gradient of the mean loss over `batch`; return that loss.

    On a CPU every thread computes a share of the answers, on a GPU one all of them.
    """
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]

    def share(part: list[Answer]) -> tuple[tuple[Tensor, ...], float, float]:
        total, weight = loss(part)
        return torch.autograd.grad(total, parameters), total.item(), weight

    batch = sorted(batch, key=text_length)
    parts = [part for start in range(count) if (part := batch[start::count])]
    shares = list(pool.map(share, parts))
    weight = sum(one[2] for one in shares)
    for index, parameter in enumerate(parameters):
        parameter.grad = torch.stack([one[0][index] for one in shares]).sum(0) / weight
    return sum(one[1] for one in shares) / weight


def _share_done(plan: Plan, done: Progress) -> float:
    of_steps = 0.0 if plan.steps is None else done.step / plan.steps
    return max(of_steps, done.seconds / (plan.minutes * 60))


def _status(plan: Plan, done: Progress) -> str:
    share = _share_done(plan, done)
    left = done.seconds * (1 - share) / share / 60
    speed = done.tokens / done.seconds
    return (
        f"training: step {done.step}, loss {done.loss:.3f}, {speed:.0f} tokens/s, "
        f"{max(left, 0):.0f} min left"
    )


def _loaded(path: Path, model: nn.Module, optimizers: Sequence[torch.optim.Optimizer]) -> Progress:
    saved = torch.load(path, weights_only=True)
    model.load_state_dict(saved["model"])
    for optimizer, state in zip(optimizers, saved["optimizers"], strict=True):
        optimizer.load_state_dict(state)
    return Progress(**saved["progress"])


def _save(
    path: Path, model: nn.Module, optimizers: Sequence[torch.optim.Optimizer], done: Progress
) -> None:
    """Write next to `path` and rename, so that a kill never leaves a partial checkpoint."""
    fresh = path.with_suffix(".new")
    saved = {
        "model": model.state_dict(),
        "optimizers": [optimizer.state_dict() for optimizer in optimizers],
        "progress": asdict(done),
    }
    torch.save(saved, fresh)
    fresh.replace(path)
