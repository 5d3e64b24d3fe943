"""How each method drafts, in a sentence or two, and who says so. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from specviz.config import Method


@dataclass(frozen=True, slots=True)
class Mechanism:
    """What a method does, and the papers or projects that it comes from, as Markdown links."""

    drafts: str
    source: str


MECHANISMS = {
    Method.DRAFT_MODEL: Mechanism(
        "A small model with the same vocabulary writes K tokens, one pass each; the "
        "target checks all of them in one pass.",
        "[Leviathan et al., 2211.17192](https://arxiv.org/abs/2211.17192) · "
        "[Chen et al., 2302.01318](https://arxiv.org/abs/2302.01318)",
    ),
    Method.NGRAM: Mechanism(
        "No model drafts: the last tokens are looked up earlier in prompt and answer, and what "
        "followed them there is the draft. Where nothing is found, the target decodes one token.",
        "[Saxena, prompt lookup decoding](https://github.com/apoorvumang/prompt-lookup-decoding)",
    ),
    Method.SUFFIX: Mechanism(
        "Continuations are counted in suffix trees of the prompt, this answer and earlier ones; "
        "the likelier the continuation, the longer the draft.",
        "[Oliaro et al., SuffixDecoding, 2411.04975](https://arxiv.org/abs/2411.04975)",
    ),
    Method.MEDUSA: Mechanism(
        "Extra heads on the target's last hidden state guess the next tokens all at once, each "
        "without knowing the others' choice; their best guesses make a tree.",
        "[Cai et al., Medusa, 2401.10774](https://arxiv.org/abs/2401.10774)",
    ),
    Method.EAGLE: Mechanism(
        "One decoder layer predicts the target's next hidden state from the last one and the token "
        "just drawn; the target's own vocabulary head turns it into a token.",
        "[Li et al., EAGLE, 2401.15077](https://arxiv.org/abs/2401.15077)",
    ),
    Method.EAGLE3: Mechanism(
        "A head reads low, middle and high features of the target and was trained on its own "
        "predictions, so that later positions hold up better; here it grows a tree.",
        "[Li et al., EAGLE-3, 2503.01840](https://arxiv.org/abs/2503.01840)",
    ),
    Method.LAYER_SKIP: Mechanism(
        "The target drafts for itself with a fixed part of its layers left out, and checks with "
        "all of them: one set of weights, one KV cache.",
        "[Zhang et al., Draft & Verify, 2309.08168](https://arxiv.org/abs/2309.08168) · "
        "[Elhoushi et al., LayerSkip, 2404.16710](https://arxiv.org/abs/2404.16710)",
    ),
    Method.SWIFT: Mechanism(
        "The target drafts for itself, and while it decodes it searches for the layers that it can "
        "leave out on this very text; a draft ends early where it is unsure.",
        "[Xia et al., SWIFT, 2410.06916](https://arxiv.org/abs/2410.06916)",
    ),
    Method.MIRROR: Mechanism(
        "The draft model goes on drafting for the likeliest outcomes while the target still "
        "verifies; if one of them comes true, the next draft is ready at once.",
        "[Bhendawade et al., Mirror, 2510.13161](https://arxiv.org/abs/2510.13161)",
    ),
}
