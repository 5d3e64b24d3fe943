"""The embedded engine's methods against plain decoding and against transformers, on this machine.

All arms but llama.cpp are in one process, on all cores (or the GPU, where there is one), in one
dtype (the engine's `auto`), greedy, batch 1, untraced, and answer the same held-out prompts. Every
arm is warmed up; then each prompt goes through all arms before the next one, in an order that
rotates from prompt to prompt. Suffix and SWIFT learn from the answers they have given, as they
would in use.

Arms: transformers' own `generate` on the same weights; its assisted generation with the demo draft
model (each K with a constant schedule; without K its default schedule); llama.cpp's plain decoding
of the same weights, in float32 and in a process of its own, with as many threads
(`llama_cpp_arm.py`); our plain decoding; and every method with a few K. The table shows the fastest
arm of each group, chosen on these same prompts (transformers' arms too); the JSON has all of them.

speed-up     total time of our plain decoding / total time of the arm, over the prompts that both
             answered with the same tokens; 95 % interval over prompts.
loop         share of an arm's wall time spent drafting and verifying (prefill included); the rest
             is the overhead of the loop. It must be at least 0.9.
predicted    the speed-up that acceptance and step times allow: tokens per step × time of a plain
             step / (draft time + verification time per step). The gap between this and the
             speed-up is prefill, which speculation does not shorten, and the loop.
ideal        the same if verifying K + 1 tokens took as long as one plain step: tokens per step /
             (1 + draft time / plain step) (Leviathan et al., arXiv 2211.17192, theorem 3.8, with
             the measured tokens per step). The gap between this and `predicted` is the cost of
             verifying several rows.
"""

from __future__ import annotations

import argparse
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import torch
import transformers

from benchmarks.embedded_speed.arms import Arm, open_arms, usual_dtype
from benchmarks.embedded_speed.llama_cpp_arm import llama_cpp_arm
from benchmarks.results_file import add_save_option, save
from benchmarks.speedup.pairs import Pair, interval, speedup
from specviz.analysis.metrics import summarise
from specviz.config import Prompt
from specviz.machine import cpu_count, hardware_summary, package_version
from specviz.methods import Method
from specviz.prompts.shipped import CATEGORIES, load_prompts
from specviz.trace import Fidelity, Trace

MAX_TOKENS = 128
ENOUGH = 0.9  # of the wall time in drafting and verification


@dataclass
class Answers:
    """The traces of an arm: one per prompt; times of several rounds are added up."""

    arm: Arm
    traces: list[Trace] = field(default_factory=list)
    wall_ms: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Row:
    """The figures of an arm on some prompts. Rates 0-1, times in ms; None where not applicable."""

    arm: str
    category: str
    prompts: int
    equal: int
    tokens: int
    ms_per_token: float
    speedup: float | None
    low: float | None
    high: float | None
    acceptance: float | None
    tokens_per_step: float | None
    draft_ms: float | None
    verify_ms: float | None
    loop: float | None
    predicted: float | None
    ideal: float | None


def measure(arms: Sequence[Arm], prompts: Sequence[Prompt], rounds: int) -> list[Answers]:
    found = [Answers(arm) for arm in arms]
    for arm in arms:
        for category in CATEGORIES:
            last = load_prompts(category)[-1]
            arm.answer(replace(last, text=last.text[: len(last.text) // 2]), 24)
    for round_number in range(rounds):
        for number, prompt in enumerate(prompts):
            turn = (number + round_number) % len(found)
            for answers in found[turn:] + found[:turn]:
                count = min(prompt.max_tokens or MAX_TOKENS, MAX_TOKENS)
                _add(answers, number, answers.arm.answer(prompt, count))
            print(f"\r{round_number * len(prompts) + number + 1} prompts", end="", flush=True)
    print("\r", end="")
    return found


def _add(answers: Answers, number: int, trace: Trace) -> None:
    assert trace.e2el_ms is not None
    if number == len(answers.traces):
        answers.traces.append(trace)
        answers.wall_ms.append(trace.e2el_ms)
    else:
        answers.wall_ms[number] += trace.e2el_ms


def row(
    answers: Answers, baseline: Answers, prompts: Sequence[Prompt], category: str, rounds: int
) -> Row:
    """The figures of an arm on the prompts of a category, or on `all`."""
    chosen = [n for n, prompt in enumerate(prompts) if category in (prompt.category, "all")]
    pairs = [
        Pair(
            str(prompts[n].category),
            replace(baseline.traces[n], e2el_ms=baseline.wall_ms[n]),
            replace(answers.traces[n], e2el_ms=answers.wall_ms[n]),
        )
        for n in chosen
    ]
    equal = [pair for pair in pairs if pair.equal]
    low, high = interval(equal) if equal else (None, None)
    traces = [answers.traces[n] for n in chosen]
    tokens = sum(len(trace.token_ids) for trace in traces)
    return Row(
        arm=answers.arm.name,
        category=category,
        prompts=len(pairs),
        equal=len(equal),
        tokens=tokens,
        ms_per_token=sum(answers.wall_ms[n] for n in chosen) / (tokens * rounds),
        speedup=speedup(equal) if equal else None,
        low=low,
        high=high,
        **_steps(traces, [baseline.traces[n] for n in chosen]),
    )


def _steps(traces: Sequence[Trace], plain: Sequence[Trace]) -> dict[str, Any]:
    """The part of a row that needs the steps of our own engine; step times leave prefill out."""
    names = "acceptance tokens_per_step draft_ms verify_ms loop predicted ideal".split()
    if any(trace.fidelity is Fidelity.INFERRED for trace in traces):
        return dict.fromkeys(names)
    metrics = [summarise(trace) for trace in traces]
    drafted = sum(one.num_draft_tokens or 0 for one in metrics)
    accepted = sum(one.num_accepted_tokens or 0 for one in metrics)
    steps = [step for trace in traces for step in trace.steps[1:]]
    plain_ms = _mean([step.wall_ms or 0.0 for trace in plain for step in trace.steps[1:]])
    wall_ms = _mean([step.wall_ms or 0.0 for step in steps])
    verify_ms = _mean([step.verify_ms or 0.0 for step in steps])
    draft_ms = wall_ms - verify_ms  # drafting in parallel with verification costs no time
    tokens_per_step = _mean([len(step.emitted) for step in steps])
    worked = sum(step.wall_ms or 0.0 for trace in traces for step in trace.steps)
    values = (
        accepted / drafted if drafted else None,
        tokens_per_step,
        draft_ms,
        verify_ms,
        worked / sum(trace.e2el_ms or 0.0 for trace in traces),
        tokens_per_step * plain_ms / wall_ms,
        tokens_per_step / (1 + draft_ms / plain_ms),
    )
    return dict(zip(names, values, strict=True))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / max(len(values), 1)


def line(one: Row) -> str:
    """One line of the table."""

    def text(value: float | None, digits: int = 2) -> str:
        return "-" if value is None else f"{value:.{digits}f}"

    ratio = f"{text(one.speedup)}x [{text(one.low)}, {text(one.high)}]"
    return (
        f"{one.arm:<28} {one.category:<18} {one.equal:>3}/{one.prompts:<3} "
        f"{one.ms_per_token:6.2f} {ratio:<20} {text(one.acceptance):>6} "
        f"{text(one.tokens_per_step):>6} {text(one.draft_ms):>7} {text(one.verify_ms):>7} "
        f"{text(one.predicted):>6} {text(one.ideal):>6} {text(one.loop, 3):>6}"
    )


HEADING = (
    f"{'arm':<28} {'prompts':<18} {'equal':<7} {'ms/tok':>6} {'speed-up':<20} {'accept':>6} "
    f"{'tok/st':>6} {'draft':>7} {'verify':>7} {'pred.':>6} {'ideal':>6} {'loop':>6}"
)


def fastest(found: Sequence[Answers]) -> list[Answers]:
    """The fastest arm of each group, groups in their order."""
    best: dict[str, Answers] = {}
    for answers in found:
        group = answers.arm.group
        if group not in best or sum(answers.wall_ms) < sum(best[group].wall_ms):
            best[group] = answers
    return list(best.values())


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.embedded_speed",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--prompts", default=5, type=int, help="per category")
    parser.add_argument("--k", nargs="*", default=[], type=int, help="instead of the usual ones")
    parser.add_argument("--rounds", default=1, type=int, help="times that all prompts are answered")
    parser.add_argument("--methods", nargs="*", default=list(Method), type=Method)
    parser.add_argument("--dtype", choices=["bfloat16", "float32"], help="default: the engine's")
    add_save_option(parser, "embedded_speed")
    options = parser.parse_args()
    torch.set_num_threads(cpu_count())
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    dtype = options.dtype or usual_dtype()
    arms = open_arms(options.methods, options.k, dtype)
    prompts = [p for category in CATEGORIES for p in load_prompts(category)[: options.prompts]]
    with llama_cpp_arm() as llama_cpp:
        found = measure([arms[0], llama_cpp, *arms[1:]], prompts, options.rounds)

    rows = {
        (answers.arm.name, category): row(answers, found[0], prompts, category, options.rounds)
        for answers in found
        for category in ("all", *CATEGORIES)
    }
    about = {
        "device": device.type,
        "threads": torch.get_num_threads(),
        "dtype": dtype,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "xllamacpp": package_version("xllamacpp"),
        "prompts_per_category": options.prompts,
        "rounds": options.rounds,
        "max_tokens": MAX_TOKENS,
        "fastest": [answers.arm.name for answers in fastest(found)],
    }
    if options.save:
        table = [asdict(one) for one in rows.values()]
        save(options.save, {**about, "rows": table}, prompts=len(prompts))

    print(f"{dtype}, greedy, batch 1, {about['threads']} threads, {device.type}")
    print(f"{hardware_summary()}; {len(prompts)} prompts, {options.rounds} round(s)\n{HEADING}")
    for answers in fastest(found):
        print(line(rows[answers.arm.name, "all"]))
    for answers in fastest(found):
        print()
        for category in CATEGORIES:
            print(line(rows[answers.arm.name, category]))
    slow = [one.arm for one in rows.values() if one.category == "all" and (one.loop or 1) < ENOUGH]
    print("\nloop below 0.9: " + (", ".join(slow) if slow else "none"))


if __name__ == "__main__":
    main()
