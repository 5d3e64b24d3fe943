"""One arm's row of figures and a job's verdict, in the words and number formats of every page.

The same figures in the same order for every arm; a missing one carries its reason.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Any

from specviz.analysis.interval import student_quantile
from specviz.analysis.lossless import Comparison
from specviz.analysis.metrics import Metrics
from specviz.analysis.text import counted, digits
from specviz.config import RunConfig
from specviz.trace import Fidelity

Figure = dict[str, str | None]

NEAR_TIE = "computed in another order than plain decoding here, so a near tie can go either way"

OUTPUT, SPEEDUP, ACCEPTANCE, LENGTH = "output", "speed-up, one run", "acceptance", "accept. length"
TOK_STEP, TOK_S, TTFT, TPOT = "tok/step", "tok/s", "TTFT ms", "TPOT ms"

MEANINGS = {
    OUTPUT: "output tokens, and passes of the target that gave them, the one that reads the prompt "
    "included; plain decoding takes a pass per token",
    SPEEDUP: "end-to-end time of the measured baseline / of this arm, on the same engine and "
    "machine, for outputs of equal length; one answer of each, so it differs from run to run and "
    "has two digits. Run the prompt again and it is the mean of these runs, with a 95 % interval; "
    "a benchmark gives that of many prompts",
    ACCEPTANCE: "draft acceptance rate: accepted / drafted tokens, 0 to 1; of a tree most "
    "candidates cannot be accepted, so compare its accept. length",
    LENGTH: "mean acceptance length as vLLM counts it: 1 + accepted / drafting steps",
    TOK_STEP: "output tokens / engine steps, those without a draft included",
    TOK_S: "output tokens per second, from the request to the last token",
    TTFT: "time to first token",
    TPOT: "time per output token after the first chunk",
}
"""Every label in its place in the row, and what it says when asked. The first is the headline: it
depends on no clock."""


def readout(
    metrics: Metrics | None,
    fidelity: Fidelity | None,
    *,
    baseline: Metrics | None,
    is_baseline: bool,
    finished: bool,
    why_no_baseline: str | None = None,
    earlier: Sequence[float] = (),
) -> list[Figure]:
    """The figures of an arm: label, value and, where there is none, the reason.

    `baseline` is one of the same engine and machine; `why_no_baseline` says what the others lack.
    `earlier`: speed-ups of the same arm in earlier runs of the same prompt.
    """
    if metrics is None:
        empty = "nothing received yet"
        return [_figure(label, None, empty) for label in MEANINGS]
    drafts = _drafts_reason(metrics, fidelity, is_baseline)
    no_ids = "the server streams text without token ids"
    return [
        _passes(metrics, fidelity, no_ids),
        _speedup(
            metrics,
            baseline,
            is_baseline=is_baseline,
            finished=finished,
            why_no_baseline=why_no_baseline,
            earlier=earlier,
        ),
        _figure(ACCEPTANCE, digits(metrics.draft_acceptance_rate), drafts),
        _figure(LENGTH, digits(metrics.mean_acceptance_length), drafts),
        _figure(TOK_STEP, digits(metrics.tokens_per_step), no_ids),
        _figure(TOK_S, digits(metrics.output_throughput), no_ids),
        _figure(TTFT, digits(metrics.ttft_ms), "nothing received yet"),
        _figure(TPOT, digits(metrics.tpot_ms), no_ids if finished else "one chunk so far"),
    ]


def verdict(
    arms: list[RunConfig],
    comparisons: list[Comparison],
    *,
    has_baseline: bool,
    may_part: bool = False,
) -> dict[str, Any] | None:
    """The losslessness line under the strips: ok is True, False, or None where none can be given.

    `comparisons` are those of the finished arms against the finished baseline. `may_part`: an arm's
    rows are added up in another order than plain decoding's.
    """
    if len(arms) < 2:
        return None
    if not has_baseline:
        return {"ok": None, "text": "no baseline arm: losslessness not checked"}
    if any(arm.sampling.temperature > 0 for arm in arms):
        text = "sampled outputs differ by chance: losslessness is checked at temperature 0"
        rules = sorted({arm.acceptance for arm in arms if not arm.is_lossless})
        if rules:
            text = f"{' and '.join(rules)} acceptance is not lossless; " + text
        return {"ok": None, "text": text}
    if not comparisons:
        return {"ok": None, "text": "no output with token ids to compare with the baseline"}
    differing = [comparison for comparison in comparisons if not comparison.equal]
    if not differing:
        tokens = min(comparison.compared for comparison in comparisons)
        subject = "output equals" if len(comparisons) == 1 else "outputs equal"
        return {"ok": True, "text": f"{subject} the baseline, {tokens} of {tokens} tokens"}
    text = _divergence(differing[0])
    return {"ok": False, "text": f"{text}; {NEAR_TIE}" if may_part else text}


def _divergence(comparison: Comparison) -> str:
    if comparison.divergence is None:
        return f"equal for {comparison.compared} tokens, then one output continues"
    text = (
        f"first difference at token {comparison.divergence + 1}: "
        f"baseline {comparison.baseline_text!r}, method {comparison.method_text!r}"
    )
    top = ", ".join(f"{token.text!r} {token.prob:.3f}" for token in comparison.target_top[:2])
    return f"{text}; the target's most likely tokens there: {top}" if top else text


def _speedup(
    metrics: Metrics,
    baseline: Metrics | None,
    *,
    is_baseline: bool,
    finished: bool,
    why_no_baseline: str | None,
    earlier: Sequence[float],
) -> Figure:
    if is_baseline:
        return _figure(SPEEDUP, "1×", None)
    if not finished or baseline is None:
        missing = why_no_baseline or "needs a finished baseline arm"
        reason = missing if finished else "at the end of the run"
        return _figure(SPEEDUP, None, reason)
    now = speedup(metrics, baseline)
    if now is None:
        differ = metrics.output_tokens != baseline.output_tokens
        reason = "the outputs differ in length: compare tok/s" if differ else "no end-to-end time"
        return _figure(SPEEDUP, None, reason)
    if not earlier:
        return _figure(SPEEDUP, f"{_two_digits(now)}×", None)
    mean, low, high = (_two_digits(one) for one in mean_of_runs([*earlier, now]))
    figure = _figure(SPEEDUP, f"{mean}× ({low} to {high})", None)
    return figure | {"label": f"speed-up, {len(earlier) + 1} runs"}


def speedup(metrics: Metrics, baseline: Metrics) -> float | None:
    """End-to-end time of the baseline / of the other, None where their outputs differ in length or
    a time is missing."""
    if metrics.output_tokens is None or metrics.output_tokens != baseline.output_tokens:
        return None
    if not metrics.e2el_ms or not baseline.e2el_ms:
        return None
    return baseline.e2el_ms / metrics.e2el_ms


def mean_of_runs(speedups: Sequence[float]) -> tuple[float, float, float]:
    """The geometric mean of two or more runs' speed-ups, and the ends of its 95 % interval:
    Student's t of their logarithms."""
    logs = [math.log(one) for one in speedups]
    mean, error = fmean(logs), stdev(logs) / math.sqrt(len(logs))
    half = student_quantile(0.975, len(logs) - 1) * error
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def _two_digits(value: float) -> str:
    return f"{float(f'{value:.2g}'):,g}"


def _passes(metrics: Metrics, fidelity: Fidelity | None, no_ids: str) -> Figure:
    if fidelity is Fidelity.INFERRED:
        return _figure(OUTPUT, None, "the server does not report its passes")
    if metrics.output_tokens is None:
        return _figure(OUTPUT, None, no_ids)
    passes = counted(metrics.num_steps, "pass", "passes")
    return _figure(OUTPUT, f"{counted(metrics.output_tokens, 'token')} in {passes}", None)


def _drafts_reason(metrics: Metrics, fidelity: Fidelity | None, is_baseline: bool) -> str:
    if is_baseline:
        return "plain decoding drafts nothing"
    if fidelity is Fidelity.INFERRED:
        return "the server does not report its drafts"
    return "nothing drafted so far" if not metrics.num_drafts else "not known"


def _figure(label: str, value: str | None, reason: str | None) -> Figure:
    return {
        "label": label,
        "value": value,
        "reason": None if value is not None else reason,
        "title": MEANINGS[label],
    }
