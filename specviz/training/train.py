"""`specviz train` from prompts to a draft: answers, training, export, acceptance before and after.

OUT/work.json          whose answers these are
OUT/answers.jsonl      the target's answers, for all methods
OUT/vocabulary.json    the tokens that heads draft
OUT/METHOD.checkpoint  weights, optimizers and position of a training
OUT/METHOD/            the draft; EAGLE-3 also as OUT/eagle3-speculators/
OUT/METHOD.json        the report
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import Tensor

from specviz.checkpoints.aux_layers import default_layers
from specviz.config import Prompt
from specviz.engines.embedded.model import Llama
from specviz.engines.embedded.opening import loaded_model, tokenizer_in
from specviz.errors import UsageError
from specviz.methods import Method
from specviz.training.answers import LONGEST_ANSWER, ROWS, Answer, Generation, answers
from specviz.training.draft import Draft
from specviz.training.export import export, folders_of
from specviz.training.fit import Plan, Progress, fit
from specviz.training.frozen import Frozen, load_frozen
from specviz.training.heads import Eagle, Eagle3, Head, Medusa, rms
from specviz.training.lesson import gather_rows, prepare
from specviz.training.losses import head_loss
from specviz.training.measure import Acceptance, measure
from specviz.training.precision import frozen_dtype
from specviz.training.prompts import Split, read_prompts

METHODS = (Method.EAGLE3, Method.EAGLE, Method.MEDUSA, Method.DRAFT_MODEL)
DRAFT_VOCABULARY = 8192
"""Tokens that a head drafts, the most frequent of the answers: its matrix would be most of it."""
RATES = {Method.DRAFT_MODEL: 0.25}
"""Factors on the learning rates, see `Plan.rate`."""
SHORTEST_ANSWER = 3
"""A shorter one has no token that a head would draft."""
SIZING = 8
"""Answers from which the size of features is taken."""


@dataclass(frozen=True, slots=True)
class Order:
    """A training that is asked for. `steps` None: as many as `minutes` allow."""

    target: Path
    method: Method
    prompts: tuple[Path, ...]
    out: Path
    tokens: int
    minutes: float
    device: str = "cpu"
    seed: int = 20
    steps: int | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """The end of `specviz train`: `before` is an untrained draft of the same form."""

    target: str
    method: Method
    folders: tuple[str, ...]
    answers: int
    answer_tokens: int
    steps: int
    minutes: float
    loss: float
    before: Acceptance
    after: Acceptance


def train(order: Order, progress: Callable[[str], None]) -> Report:
    """Train a draft and measure it, going on with what an earlier call left in `out`.

    Raises UsageError for a target, prompts or device that cannot be used.
    """
    if order.device == "cuda" and not torch.cuda.is_available():
        raise UsageError("This machine has no CUDA device: use --device cpu.")
    device = torch.device(order.device)
    split = read_prompts(order.prompts, progress)
    target = loaded_model(order.target.resolve(), frozen_dtype(order.device), device)
    frozen = load_frozen(order.target, device)
    _claim(order)
    found = _answers(order, target, split, progress)
    torch.manual_seed(order.seed)
    head = _head(order, frozen, target, found).to(device)
    before = _before(order, head, frozen, split.held_out, progress)
    folder = order.out / order.method
    done = fit(
        head,
        found,
        head_loss(head, target, frozen.matrix[head.target_ids]),
        Plan(order.minutes, order.seed, order.steps, RATES.get(order.method, 1.0)),
        checkpoint=order.out / f"{order.method}.checkpoint",
        progress=progress,
        snapshot=lambda: export(head, frozen, order.target, folder),
    )
    progress("measuring the trained draft on held-out prompts")
    after = measure(order.target, folder, order.method, split.held_out, order.device)
    report = _report(order, found, folders_of(order.method, folder), done, (before, after))
    text = json.dumps(asdict(report), indent=2) + "\n"
    (order.out / f"{order.method}.json").write_text(text, encoding="utf-8")
    return report


def _claim(order: Order) -> None:
    """Take the work folder for this target and seed. Raises UsageError if it is another's."""
    order.out.mkdir(parents=True, exist_ok=True)
    file = order.out / "work.json"
    own = json.dumps({"target": str(order.target.resolve()), "seed": order.seed}, indent=2) + "\n"
    if file.exists() and file.read_text(encoding="utf-8") != own:
        raise UsageError(
            f"{order.out} has the work for another target or seed: name another folder with --out."
        )
    file.write_text(own, encoding="utf-8")


def _answers(
    order: Order, target: Llama, split: Split, progress: Callable[[str], None]
) -> list[Answer]:
    tokenizer, rows = tokenizer_in(order.target), ROWS[order.device]
    work = Generation(target, tokenizer, split.trained, order.seed, rows, LONGEST_ANSWER)
    found = answers(work, order.out / "answers.jsonl", order.tokens, progress)
    learned = [one for one in found if len(one.answer_ids) >= SHORTEST_ANSWER]
    if not learned:
        raise UsageError(
            "No answer has a token that a draft could learn: give other prompts with --prompts."
        )
    return learned


def _head(
    order: Order, frozen: Frozen, target: Llama, found: Sequence[Answer]
) -> Eagle3 | Eagle | Medusa | Draft:
    """The draft before training."""
    ids = _vocabulary(order, found, frozen.config.vocabulary).to(target.device)
    if order.method is Method.DRAFT_MODEL:
        return Draft(frozen, ids, order.target)
    if order.method is Method.EAGLE3:
        return Eagle3(frozen, ids, _tap_sizes(target, frozen, found[:SIZING]))
    return (Eagle if order.method is Method.EAGLE else Medusa)(frozen, ids)


def _vocabulary(order: Order, found: Sequence[Answer], size: int) -> Tensor:
    """The tokens that heads draft, chosen once: a checkpoint has weights for each."""
    file = order.out / "vocabulary.json"
    if not file.exists():
        ids = frequent_tokens(found, size).tolist()
        fresh = file.with_suffix(".new")
        fresh.write_text(json.dumps(ids), encoding="utf-8")
        fresh.replace(file)
    return torch.tensor(json.loads(file.read_text(encoding="utf-8")))


def frequent_tokens(found: Sequence[Answer], vocabulary: int) -> Tensor:
    """The ids of the `DRAFT_VOCABULARY` most frequent answer tokens, ascending.

    Ties are broken by id, so that the choice does not depend on the order of counting.
    """
    counts: Counter[int] = Counter()
    for one in found:
        counts.update(one.answer_ids)
    order = sorted(range(vocabulary), key=lambda token: (-counts[token], token))
    return torch.tensor(sorted(order[:DRAFT_VOCABULARY]))


def tap_layers(layers: int) -> tuple[int, ...]:
    """Those that vLLM, SGLang and llama.cpp read by default; of a smaller model the ends."""
    usual = default_layers(layers)
    return usual if usual[0] < usual[1] < usual[2] else tuple(sorted({0, layers // 2, layers}))


def _tap_sizes(target: Llama, frozen: Frozen, found: Sequence[Answer]) -> dict[int, float]:
    """The root mean square of the features of each layer that EAGLE-3 reads, over answers."""
    layers = tap_layers(frozen.config.layers)
    lesson = prepare(target, found, layers, frozen.matrix[:1])
    features = gather_rows(lesson.taps, lesson.anchors)[lesson.valid]
    parts = features.chunk(len(layers), -1)
    return {layer: rms(part) for layer, part in zip(layers, parts, strict=True)}


def _before(
    order: Order,
    head: Head,
    frozen: Frozen,
    prompts: Sequence[Prompt],
    progress: Callable[[str], None],
) -> Acceptance:
    """Measure the untrained draft."""
    progress("measuring the untrained draft on held-out prompts")
    with TemporaryDirectory(dir=order.out) as folder:
        untrained = Path(folder) / order.method
        export(head, frozen, order.target, untrained)
        return measure(order.target, untrained, order.method, prompts, order.device)


def _report(
    order: Order,
    found: Sequence[Answer],
    folders: Sequence[Path],
    done: Progress,
    measured: tuple[Acceptance, Acceptance],
) -> Report:
    return Report(
        target=str(order.target),
        method=order.method,
        folders=tuple(map(str, folders)),
        answers=len(found),
        answer_tokens=sum(len(one.answer_ids) for one in found),
        steps=done.step,
        minutes=done.seconds / 60,
        loss=done.loss,
        before=measured[0],
        after=measured[1],
    )
