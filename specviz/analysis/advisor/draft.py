"""Whether a small model is a good draft for a large one: one check per thing that can go wrong.

`engines/model_folder.py` reads the files; the checks here judge their figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from specviz.analysis.advisor.deployment import KnownFacts
from specviz.analysis.advisor.evidence import Evidence, Kind
from specviz.analysis.advisor.inputs import Answer
from specviz.analysis.advisor.rules import guidelines, rule, rule_evidence
from specviz.analysis.text import digits, percent


class Verdict(StrEnum):
    PASS = "pass"
    FAIL = "fail"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Check:
    """`finding` is what was found; `advice` what to do, empty where nothing is to be done."""

    name: str
    verdict: Verdict
    finding: str
    evidence: Evidence | None
    advice: str = ""


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """One model folder. `parameters`, `weight_bytes` from the weights' headers, `kv_bytes` per
    token from `config.json`; None where the file is not there, `problem` says which and why."""

    name: str
    family: str | None = None
    architecture: str | None = None
    parameters: int | None = None
    weight_bytes: int | None = None
    kv_bytes: int | None = None
    context: int | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class TokenizerComparison:
    """`same` None: one of the files is not there. `finding` names the first difference."""

    same: bool | None
    finding: str


@dataclass(frozen=True, slots=True)
class Pair:
    """A target and a draft for it."""

    target: ModelFacts
    draft: ModelFacts
    tokenizers: TokenizerComparison


@dataclass(frozen=True, slots=True)
class Load:
    """What has to fit: `context` tokens for each of `concurrency` requests, in `spare_gb`."""

    context: int
    concurrency: int
    spare_gb: float | None


def check_pair(
    pair: Pair, load: Load, acceptance: float | None, source: Evidence | None, text: str | None
) -> tuple[Check, ...]:
    """All checks in the order in which they matter."""
    return (
        _tokenizer(pair),
        _family(pair),
        _size(pair),
        _memory(pair.draft, load),
        _acceptance(acceptance, source),
        _k(acceptance, text),
    )


def draft_bytes(draft: ModelFacts, load: Load) -> int | None:
    """Weights + 2 · layers · KV heads · head size · bytes per value · tokens; None if not known."""
    if draft.weight_bytes is None or draft.kv_bytes is None:
        return None
    return draft.weight_bytes + draft.kv_bytes * load.context * load.concurrency


def facts_of(checks: Sequence[Check], pair: Pair) -> KnownFacts:
    """What the pair answers in the tree: whether the draft fits."""
    fits = next(check for check in checks if check.name == _FITS)
    if fits.verdict is Verdict.UNKNOWN:
        return KnownFacts({}, {})
    answers: dict[str, Answer] = {"draft_fits": fits.verdict is Verdict.PASS}
    return KnownFacts(
        answers, {"draft_fits": Evidence(Kind.MEASURED, f"{pair.draft.name}: {fits.finding}")}
    )


_FITS = "Fits in memory"


def _tokenizer(pair: Pair) -> Check:
    found = pair.tokenizers
    verdict = {True: Verdict.PASS, False: Verdict.FAIL, None: Verdict.UNKNOWN}[found.same]
    advice = {
        Verdict.FAIL: "Choose a draft with the target's tokenizer: other ids mean other text.",
        Verdict.UNKNOWN: "Give two folders that hold tokenizer.json.",
    }.get(verdict, "")
    return Check("Same tokenizer", verdict, found.finding, rule_evidence("same_tokenizer"), advice)


def _family(pair: Pair) -> Check:
    target, draft = pair.target, pair.draft
    evidence = rule_evidence("same_family")
    if target.family is None or draft.family is None:
        return Check(
            "Same family", Verdict.UNKNOWN, _problems(pair), evidence, "Give two model folders."
        )
    if target.family == draft.family:
        finding = f"both are {target.family} ({target.architecture})"
        if target.architecture != draft.architecture:
            finding = f"both are {target.family}: {target.architecture} and {draft.architecture}"
        return Check("Same family", Verdict.PASS, finding, evidence)
    return Check(
        "Same family", Verdict.FAIL, f"target {target.family}, draft {draft.family}", evidence,
        "A draft that was trained like the target is accepted more often: prefer one.",
    )  # fmt: skip


def _size(pair: Pair) -> Check:
    smallest, largest = rule("size_ratio_min"), rule("size_ratio_max")
    name = f"Size 1/{1 / smallest.threshold:.0f} to 1/{1 / largest.threshold:.0f} of the target"
    target, draft = pair.target.parameters, pair.draft.parameters
    if not target or not draft:
        advice = "Give two folders with safetensors weights."
        return Check(name, Verdict.UNKNOWN, _problems(pair), smallest.evidence, advice)
    ratio = draft / target
    finding = f"{_count(draft)} of {_count(target)} parameters, 1/{digits(1 / ratio)}"
    if not largest.fires(ratio):
        advice = "A large draft costs time at every step: measure it, or take a smaller one."
        return Check(name, Verdict.FAIL, finding, largest.evidence, advice)
    if not smallest.fires(ratio):
        advice = "A very small draft may be rejected often: measure its acceptance."
        return Check(name, Verdict.FAIL, finding, smallest.evidence, advice)
    return Check(name, Verdict.PASS, finding, smallest.evidence)


def _memory(draft: ModelFacts, load: Load) -> Check:
    needed = draft_bytes(draft, load)
    evidence = rule_evidence("draft_fits")
    if needed is None or draft.weight_bytes is None:
        return Check(
            _FITS, Verdict.UNKNOWN, draft.problem or "its size is not known", evidence,
            "Give the draft's folder.",
        )  # fmt: skip
    finding = (
        f"weights {_gb(draft.weight_bytes)} + KV cache {_gb(needed - draft.weight_bytes)} "
        f"({load.concurrency} × {load.context:,} tokens) = {_gb(needed)}"
    )
    if load.spare_gb is None:
        return Check(_FITS, Verdict.UNKNOWN, finding, evidence, "Say how much GPU memory is spare.")
    finding += f" of {load.spare_gb:g} GB spare"
    if needed <= load.spare_gb * 1e9:
        return Check(_FITS, Verdict.PASS, finding, evidence)
    return Check(
        _FITS, Verdict.FAIL, finding, evidence,
        "Take a smaller draft, a shorter context, fewer requests at once, or a lookup method.",
    )  # fmt: skip


def _acceptance(acceptance: float | None, source: Evidence | None) -> Check:
    aim, harmful = rule("acceptance_aim"), rule("acceptance_harmful")
    name = f"Acceptance at least {percent(aim.threshold)}"
    if acceptance is None:
        return Check(
            name, Verdict.UNKNOWN, "no stored benchmark has this pair", aim.evidence,
            "Measure it: run a benchmark with this draft on your own prompts.",
        )  # fmt: skip
    finding = percent(acceptance, 1) + (f", {source}" if source else "")
    if aim.fires(acceptance):
        return Check(name, Verdict.PASS, finding, aim.evidence)
    if harmful.fires(acceptance):
        return Check(
            name, Verdict.FAIL, f"{finding}: harmful", harmful.evidence,
            "Fine-tune the draft (specviz train --finetune-draft) or choose another one.",
        )  # fmt: skip
    return Check(
        name, Verdict.FAIL, f"{finding}: below the aim, above {percent(harmful.threshold)}",
        rule_evidence("acceptance_fine_tune"),
        "Fine-tune the draft (specviz train --finetune-draft), or use a small K.",
    )  # fmt: skip


def _k(acceptance: float | None, text: str | None) -> Check:
    """Both guidelines, because they do not agree everywhere."""
    table, aim = guidelines(), rule("acceptance_aim")
    kind = {"code_generation": "code generation", "creative_writing": "creative text"}.get(
        text or ""
    )
    strength = None
    if acceptance is not None:
        strength = "strong draft" if aim.fires(acceptance) else "weak draft"
    found = [table[name] for name in (strength, kind) if name]
    if not found:
        every = ("strong draft", "weak draft", "code generation", "creative text")
        listed = ", ".join(f"{name} {table[name].low}–{table[name].high}" for name in every)
        return Check(
            "K", Verdict.UNKNOWN, listed, table["strong draft"].evidence,
            "Say the kind of text, or measure the acceptance.",
        )  # fmt: skip
    listed = ", ".join(f"{one.low}–{one.high} ({one.situation})" for one in found)
    return Check("K", Verdict.PASS, listed, found[0].evidence)


def _problems(pair: Pair) -> str:
    found = [model.problem for model in (pair.target, pair.draft) if model.problem]
    return "; ".join(found) or "config.json does not say"


def _count(parameters: int) -> str:
    for size, letter in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if parameters >= size:
            return f"{digits(parameters / size)}{letter}"
    return str(parameters)


def _gb(count: float) -> str:
    return f"{digits(count / 1e9)} GB" if count >= 1e8 else f"{digits(count / 1e6)} MB"
