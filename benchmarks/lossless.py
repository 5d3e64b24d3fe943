"""Is greedy output equal to plain decoding, token by token, for every method and K?

Runs each method of the embedded engine on held-out prompts with K 1, 3, 5 and 8 and compares token
ids with plain decoding in the same dtype. Every divergence is printed with its position and the
target's probabilities there: equal up to rounding is a near tie, anything else a defect.
"""

from __future__ import annotations

import argparse

from benchmarks.results_file import add_save_option, save
from specviz.analysis.lossless import Comparison, compare
from specviz.config import EngineKind, Prompt, RunConfig, Sampling
from specviz.engines.embedded.engine import EmbeddedEngine
from specviz.engines.embedded.opening import open_engine
from specviz.machine import hardware_summary
from specviz.methods import Method
from specviz.prompts.shipped import CATEGORIES, load_prompts
from specviz.trace import Trace, fold

ARMS = [
    *((method, {}) for method in Method if method not in (Method.BASELINE, Method.MEDUSA)),
    (Method.MEDUSA, {"shape": "tree"}),
    (Method.SUFFIX, {"shape": "tree"}),
    (Method.EAGLE, {"shape": "tree"}),
    (Method.EAGLE3, {"shape": "tree"}),
]


def opened(method: Method, k: int | None, options: dict[str, str]) -> EmbeddedEngine:
    return open_engine(RunConfig(EngineKind.EMBEDDED, method, k, options=options))[0]


def answered(engine: EmbeddedEngine, prompt: Prompt, max_tokens: int) -> Trace:
    return fold(engine.events(prompt, Sampling(max_tokens=max_tokens)))


def divergence(found: Comparison) -> str:
    """The first differing token, and the target's best tokens there."""
    tops = ", ".join(f"{top.text!r} {top.prob:.5f}" for top in found.target_top[:3])
    return (
        f"token {found.divergence}: {found.baseline_text!r} against {found.method_text!r}; target: "
        f"{tops or 'not judged there (a bonus token)'}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompts", default=2, type=int, help="per category")
    parser.add_argument("--k", nargs="*", default=[1, 3, 5, 8], type=int)
    parser.add_argument("--max-tokens", default=96, type=int)
    add_save_option(parser, "lossless")
    options = parser.parse_args()
    rows = []
    prompts = [p for category in CATEGORIES for p in load_prompts(category)[-options.prompts :]]
    print(f"{hardware_summary()}; {len(prompts)} prompts, K {options.k}")
    for dtype in ("float32", "bfloat16"):
        baseline = opened(Method.BASELINE, None, {"dtype": dtype})
        plain = [answered(baseline, prompt, options.max_tokens) for prompt in prompts]
        for method, extra in ARMS:
            equal = 0
            for k in options.k:
                engine = opened(method, k, {"dtype": dtype, **extra})
                for prompt, expected in zip(prompts, plain, strict=True):
                    found = compare(expected, answered(engine, prompt, options.max_tokens))
                    assert found is not None  # our own ids are all known
                    equal += found.equal
                    if not found.equal:
                        print(f"  {dtype} {method} K {k} {prompt.prompt_id}, {divergence(found)}")
            of = len(prompts) * len(options.k)
            shape = extra.get("shape", "chain")
            print(f"{dtype:9} {method:12} {shape:6} {equal} of {of} equal")
            rows.append(
                {"dtype": dtype, "method": method, "shape": shape, "equal": equal, "answers": of}
            )
    if options.save:
        save(options.save, {"k": options.k, "rows": rows}, prompts=len(prompts))


if __name__ == "__main__":
    main()
