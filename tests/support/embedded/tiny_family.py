"""A target with a vocabulary of six, and for every method a drafter that is sometimes right."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from specviz.config import Sampling
from specviz.engines.embedded.decode import Decoder
from specviz.engines.embedded.model import Llama
from specviz.engines.embedded.options import Options
from specviz.engines.embedded.proposers.factory import open_proposer
from specviz.engines.embedded.proposers.self_draft import SelfDrafter
from specviz.engines.embedded.proposers.swift import Swift, SwiftSettings
from specviz.engines.embedded.sampler import Sampler
from specviz.methods import METHODS, Method
from tests.support.embedded.exactness import Check, Output, compare, joint_distribution
from tests.support.embedded.random_models import some_skipped
from tests.support.embedded.remembered import (
    Passes,
    RememberedLlama,
    RememberedSampler,
    remember,
    wait_for_branches,
)
from tests.support.embedded.tiny_models import (
    CPU,
    load_tiny,
    save_eagle,
    save_eagle3,
    save_medusa,
    save_tiny,
)

VOCABULARY = 6
PROMPT = (2, 3, 4, 2, 3)
TINY = {
    "vocab_size": VOCABULARY,
    "num_hidden_layers": 4,
    "sharpness": 0.3,
    "pad_token_id": None,
    "eos_token_id": None,
}


@dataclass(frozen=True, slots=True)
class Case:
    """One way to draft at one temperature."""

    method: Method
    temperature: float
    k: int = 3
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def name(self) -> str:
        reported = [self.method.value, *(f"{key}={value}" for key, value in self.options)]
        return " ".join([*reported, f"K={self.k}", f"T={self.temperature}"])


LISTED: tuple[tuple[Method, int, dict[str, Any]], ...] = (
    (Method.DRAFT_MODEL, 3, {}),
    (Method.DRAFT_MODEL, 2, {"draft_sampling": "greedy"}),
    (Method.DRAFT_MODEL, 3, {"stop_below": 0.3}),
    (Method.NGRAM, 3, {}),
    (Method.SUFFIX, 3, {}),
    (Method.SUFFIX, 4, {"shape": "tree"}),
    (Method.LAYER_SKIP, 2, {}),
    (Method.SWIFT, 2, {}),
    (Method.MIRROR, 3, {}),
    (Method.MIRROR, 2, {"patient": True}),
    (Method.MEDUSA, 3, {"shape": "chain"}),
    (Method.MEDUSA, 7, {"shape": "tree"}),
    (Method.MEDUSA, 7, {"shape": "tree", "draft_sampling": "greedy"}),
    (Method.EAGLE, 2, {"shape": "chain"}),
    (Method.EAGLE, 6, {"shape": "tree"}),
    (Method.EAGLE3, 2, {"shape": "chain"}),
    (Method.EAGLE3, 6, {"shape": "tree"}),
)
WAYS = (
    *LISTED,
    *(
        (method, 3, {"shape": shape} if record.has_shapes else {})
        for method, record in METHODS.items()
        if record.embedded_k and method not in {listed for listed, *_ in LISTED}
        for shape in record.shapes
    ),
)
"""Those listed, and every shape of a method that nobody has listed yet."""
CASES = [
    Case(method, temperature, k, tuple(options.items()))
    for method, k, options in WAYS
    for temperature in (0.7, 1.3)
]
TOP_P = 0.9


class TinyFamily:
    """Checkpoints in `folder`, the target in memory."""

    def __init__(self, folder: Path) -> None:
        self.target = load_tiny(save_tiny(folder / "target", **TINY))
        drafter = save_tiny(folder / "draft", **(TINY | {"num_hidden_layers": 1}))
        self.drafts = {
            Method.DRAFT_MODEL: drafter,
            Method.MIRROR: drafter,
            Method.MEDUSA: save_medusa(folder / "medusa", self.target),
            Method.EAGLE: save_eagle(folder / "eagle", self.target),
            Method.EAGLE3: save_eagle3(folder / "eagle3", self.target, drafts=5),
        }
        self._remembered = RememberedLlama(self.target)
        self._drafts_remembered: dict[Path, RememberedLlama] = {}
        self._passes: dict[Method, Passes] = {}

    def decoder(self, case: Case, *, remembered: bool) -> Decoder:
        """The real loop with the case's proposer; UsageError for a draft of another vocabulary."""
        target: Any = self._remembered if remembered else self.target

        def load(path: Path) -> Any:
            if not remembered:
                return load_tiny(path)
            if path not in self._drafts_remembered:
                self._drafts_remembered[path] = RememberedLlama(load_tiny(path))
            return self._drafts_remembered[path]

        cache = target.new_cache()
        settings = dict(case.options)
        patient = settings.pop("patient", False)
        options = dataclasses.replace(Options(dtype="float32"), **settings)
        proposer, _ = open_proposer(
            case.method,
            target,
            cache,
            self.drafts.get(case.method),
            options,
            load,
            some_skipped(target.config.layers),
        )
        if case.method is Method.SWIFT:  # outputs are short: the search begins with one token
            proposer = Swift(SelfDrafter(target, cache), SwiftSettings(window=1, confidence=0.4))
        if patient:
            proposer = wait_for_branches(proposer)
        if remembered:
            proposer = remember(proposer, self._passes.setdefault(case.method, {}))
        return Decoder(target, proposer, cache=cache)

    def after(self, sampler: Sampler) -> Callable[[Output], torch.Tensor]:
        """The target's own distribution after an output."""

        def after(output: Output) -> torch.Tensor:
            return next_distribution(self.target, (*PROMPT, *output), sampler)

        return after


@torch.inference_mode()
def next_distribution(model: Llama, token_ids: Output, sampler: Sampler) -> torch.Tensor:
    return sampler.probs(model.forward(token_ids, model.new_cache()).logits[-1:])[0]


def sampler_of(case: Case, seed: int = 1, *, remembered: bool = True) -> Sampler:
    sampling = Sampling(temperature=case.temperature, top_p=TOP_P, seed=seed)
    drawn = dict(case.options).get("draft_sampling") != "greedy"
    return (RememberedSampler if remembered else Sampler)(sampling, CPU, sampled_drafts=drawn)


@dataclass(slots=True)
class Tally:
    """Outputs counted, and how often a drafted token was accepted."""

    outputs: Counter[Output]
    drafted: int = 0
    accepted: int = 0


def decode(decoder: Decoder, sampler: Sampler, k: int, length: int, tally: Tally) -> Output:
    """One request of `length` tokens."""
    output: Output = ()
    for done in decoder.rounds(PROMPT, sampler, k):
        output += done.token_ids
        tally.drafted += len(done.draft.token_ids)
        tally.accepted += len(done.verified.path)
        if len(output) >= length:
            break
    tally.outputs[output[:length]] += 1
    return output


def check_case(
    family: TinyFamily, case: Case, samples: int, length: int = 3, *, remembered: bool = True
) -> tuple[Check, Tally]:
    """`samples` requests through the real loop against the target's own joint distribution."""
    decoder = family.decoder(case, remembered=remembered)
    sampler = sampler_of(case, remembered=remembered)
    tally = Tally(Counter())
    for _ in range(samples):
        decode(decoder, sampler, case.k, length, tally)
    joint = joint_distribution(family.after(sampler), VOCABULARY, length)
    return compare(tally.outputs, joint), tally
