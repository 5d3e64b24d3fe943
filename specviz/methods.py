"""The speculative decoding methods: one record per method holds every fact about it.

CONTRIBUTING.md has what a new method takes; `tests/unit/test_methods.py` lists whatever is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

Shape = Literal["chain", "tree"]

VLLM = "vllm"
LLAMA_CPP = "llama.cpp"


class Method(StrEnum):
    """How tokens are drafted; `baseline` is plain decoding."""

    BASELINE = "baseline"
    DRAFT_MODEL = "draft_model"
    NGRAM = "ngram"
    SUFFIX = "suffix"
    MEDUSA = "medusa"
    EAGLE = "eagle"
    EAGLE3 = "eagle3"
    LAYER_SKIP = "layer_skip"
    SWIFT = "swift"
    MIRROR = "mirror"


@dataclass(frozen=True, slots=True)
class ServerSupport:
    """How a kind of server supports a method.

    `default_k`: K when none is given, None for plain decoding. `last_version`: the last release
    that has the method, None while it has not been removed. `package`: a Python package that the
    server needs for it.
    """

    default_k: int | None = None
    last_version: str | None = None
    package: str | None = None


@dataclass(frozen=True, slots=True)
class MethodRecord:
    """Everything specviz knows about a method.

    `mechanism`: how it drafts, in a sentence or two. `source`: papers or projects, as Markdown
    links. `embedded_k`: K on the embedded engine when none is given; None if that engine drafts
    nothing with it. `servers`: the kinds of server that have it, by name. `shapes`: what the
    embedded engine can draft with it, the usual shape first. `draft`: what its own weights are
    called, None if it has none. `techniques`: its names in the published documents
    (`specviz.reference`), the most general first.
    `is_lookup`: a step may find nothing to draft; all other methods draft in every step.
    `is_redraftable`: its chain depends only on the answer so far, and for a smaller K is the
    beginning of the longer chain. `has_typical_acceptance`: it was published with an acceptance
    rule of its own that is not lossless. `skips_layers`: it drafts with part of the target.
    """

    mechanism: str
    source: str
    embedded_k: int | None
    servers: Mapping[str, ServerSupport] = field(default_factory=dict)
    shapes: tuple[Shape, ...] = ("chain",)
    draft: str | None = None
    techniques: tuple[str, ...] = ()
    is_lookup: bool = False
    is_redraftable: bool = False
    has_typical_acceptance: bool = False
    skips_layers: bool = False

    @property
    def needs_draft(self) -> bool:
        """Whether it drafts with its own weights: a draft model, heads or a layer."""
        return self.draft is not None

    @property
    def usual_shape(self) -> Shape:
        return self.shapes[0]

    @property
    def has_shapes(self) -> bool:
        """Whether there is a shape to choose."""
        return len(self.shapes) > 1


METHODS: Mapping[Method, MethodRecord] = {
    Method.BASELINE: MethodRecord(
        mechanism="Nothing drafts: the target decodes one token per step.",
        source="",
        embedded_k=None,
        servers={VLLM: ServerSupport(), LLAMA_CPP: ServerSupport()},
        techniques=("Baseline",),
    ),
    Method.DRAFT_MODEL: MethodRecord(
        mechanism="A small model with the same vocabulary drafts K tokens, one forward pass per "
        "token; the target verifies all of them in one pass.",
        source="[Leviathan et al., 2211.17192](https://arxiv.org/abs/2211.17192) · "
        "[Chen et al., 2302.01318](https://arxiv.org/abs/2302.01318)",
        embedded_k=5,
        servers={VLLM: ServerSupport(default_k=4), LLAMA_CPP: ServerSupport(default_k=4)},
        draft="draft model",
        techniques=("Vanilla SD",),
        is_redraftable=True,
    ),
    Method.NGRAM: MethodRecord(
        mechanism="No model drafts: the last tokens are looked up earlier in prompt and answer, "
        "and what followed them there is the draft. Without a match, the target decodes one "
        "token.",
        source="[Saxena, prompt lookup decoding]"
        "(https://github.com/apoorvumang/prompt-lookup-decoding)",
        embedded_k=5,
        servers={VLLM: ServerSupport(default_k=4), LLAMA_CPP: ServerSupport(default_k=4)},
        techniques=("Prompt Lookup",),
        is_lookup=True,
        is_redraftable=True,
    ),
    Method.SUFFIX: MethodRecord(
        mechanism="Suffix trees of the prompt, this answer and earlier answers count which tokens "
        "followed; the likelier the continuation, the longer the draft.",
        source="[Oliaro et al., SuffixDecoding, 2411.04975](https://arxiv.org/abs/2411.04975)",
        embedded_k=5,
        servers={VLLM: ServerSupport(default_k=8, package="arctic_inference")},
        shapes=("chain", "tree"),
        is_lookup=True,
    ),
    Method.MEDUSA: MethodRecord(
        mechanism="Extra heads on the target's last hidden state predict the next tokens all at "
        "once, each without seeing the others' choice; their best guesses form a tree.",
        source="[Cai et al., Medusa, 2401.10774](https://arxiv.org/abs/2401.10774)",
        embedded_k=12,  # a tree needs more tokens, and they cost the heads nothing
        servers={VLLM: ServerSupport(default_k=3, last_version="0.32")},
        shapes=("tree", "chain"),
        draft="Medusa heads",
        techniques=("Medusa-2",),
        is_redraftable=True,
        has_typical_acceptance=True,
    ),
    Method.EAGLE: MethodRecord(
        mechanism="One decoder layer predicts the target's next hidden state from the last one "
        "and the token just drawn; the target's own LM head turns it into a token.",
        source="[Li et al., EAGLE, 2401.15077](https://arxiv.org/abs/2401.15077)",
        embedded_k=5,
        servers={VLLM: ServerSupport(default_k=3)},
        shapes=("chain", "tree"),
        draft="EAGLE head",
        techniques=("EAGLE", "EAGLE-1"),
        is_redraftable=True,
    ),
    Method.EAGLE3: MethodRecord(
        mechanism="A head reads low, middle and high features of the target and was trained on "
        "its own predictions, so that later positions hold up better; it can grow a tree.",
        source="[Li et al., EAGLE-3, 2503.01840](https://arxiv.org/abs/2503.01840)",
        embedded_k=5,
        servers={VLLM: ServerSupport(default_k=3)},
        shapes=("chain", "tree"),
        draft="EAGLE-3 head",
        techniques=("EAGLE-3",),
        is_redraftable=True,
    ),
    Method.LAYER_SKIP: MethodRecord(
        mechanism="The target drafts for itself with a fixed set of its layers skipped, and "
        "verifies with all of them: one set of weights, one KV cache.",
        source="[Zhang et al., Draft & Verify, 2309.08168](https://arxiv.org/abs/2309.08168) · "
        "[Elhoushi et al., LayerSkip, 2404.16710](https://arxiv.org/abs/2404.16710)",
        embedded_k=5,
        techniques=("Layer skip",),
        is_redraftable=True,
        skips_layers=True,
    ),
    Method.SWIFT: MethodRecord(
        mechanism="The target drafts for itself, and while it decodes it searches for the layers "
        "that it can skip on this very text; a draft ends early where it is unsure.",
        source="[Xia et al., SWIFT, 2410.06916](https://arxiv.org/abs/2410.06916)",
        embedded_k=5,
        techniques=("SWIFT",),
        skips_layers=True,
    ),
    Method.MIRROR: MethodRecord(
        mechanism="The draft model keeps drafting for the likeliest outcomes while the target "
        "still verifies; if one of them comes true, the next draft is ready at once.",
        source="[Bhendawade et al., Mirror, 2510.13161](https://arxiv.org/abs/2510.13161)",
        embedded_k=5,
        draft="draft model",
    ),
}

TECHNIQUES = {name: method for method, record in METHODS.items() for name in record.techniques}
"""The method of each technique that the published documents name; some have none here."""


def record_of(name: str | None) -> MethodRecord | None:
    """The record of a method by name; None if no method is known, as of an unknown server."""
    return next((record for method, record in METHODS.items() if method == name), None)


def served_by(kind: str) -> tuple[Method, ...]:
    """The methods that a kind of server has, the baseline first."""
    return tuple(method for method, record in METHODS.items() if kind in record.servers)
