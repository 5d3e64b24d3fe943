"""What a running server offers beyond OpenAI's API."""

from __future__ import annotations

from dataclasses import dataclass

from specviz.methods import Method
from specviz.trace import Fidelity

NO_PLUGIN = "the server runs without specviz's tracing plugin"
NO_PLUGIN_FOR_KIND = "specviz has a tracing plugin for vLLM only"
ACCEPTS_AT_A_RATE = "Accepts at a given rate, whatever the target says: for speed tests."


@dataclass(frozen=True, slots=True)
class Verifier:
    """The rule by which a server accepts draft tokens.

    `name` is the server's own word for it. `is_lossless`: whether output keeps the distribution of
    plain decoding; None where specviz does not know the rule. `note` says what to know about it.
    """

    name: str
    is_lossless: bool | None
    note: str

    @property
    def verdict(self) -> str:
        return {True: "lossless", False: "not lossless", None: "not known whether lossless"}[
            self.is_lossless
        ]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What probing a server found. None: the server does not say.

    `speculates`: whether it drafts at all. `method`, `k` (num_speculative_tokens), `draft` and
    `fixes`: what the tracing plugin or the server itself reports. `tracing_reason`: why tracing is
    off. `prefix_caching` is for kinds that do not say it on their metrics page. `drafts_trees`,
    `adapts_k`: the server's counts for a request are not of chains, or not of one length.
    `counts_tokens`: every chunk says how many tokens were emitted, drafted and accepted so far, so
    that steps are known as they come. `runner`: vLLM's model runner, "v1" or "v2". `hidden`: why a
    trace lacks some of the server's decisions, one sentence per reason. `follows_policy`: requests
    may ask for a K of their own. `slots`: how many requests it answers at once.
    """

    version: str | None = None
    speculates: bool | None = None
    tracing: bool = False
    tracing_reason: str | None = None
    method: Method | None = None
    k: int | None = None
    draft: str | None = None
    fixes: tuple[str, ...] = ()
    verifier: Verifier | None = None
    prefix_caching: bool | None = None
    drafts_trees: bool = False
    adapts_k: bool = False
    counts_tokens: bool = False
    runner: str | None = None
    hidden: tuple[str, ...] = ()
    follows_policy: bool = False
    slots: int | None = None

    @property
    def expected_fidelity(self) -> Fidelity:
        """The label of a request unless its stream shows otherwise."""
        if self.speculates is False or self.counts_tokens:
            return Fidelity.COUNTED  # where nothing is drafted, every token is the target's
        return Fidelity.TRACED if self.tracing else Fidelity.INFERRED

    def settled(self, method: Method | None, k: int | None) -> tuple[Method | None, int | None]:
        """Method and K: what the server reports, else what the caller believes."""
        if self.speculates is False:
            return Method.BASELINE, None
        return self.method or method, self.k or k
