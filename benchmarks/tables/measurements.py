"""The tables of README.md and docs/measurements.md, and those of the shipped plans."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

from benchmarks.tables.markdown import (
    Figures,
    markdown,
    not_measured,
    number,
    p95,
    speedup,
    spread,
    with_source,
)

# embedded_speed

SUMMARY = ("eagle K=5", "ngram K=3", "mirror K=5")
"""One that pays, one that pays a little, one that costs."""


def embedded_summary(figures: Figures) -> str:
    rows = {row["arm"]: row for row in figures["rows"] if row["category"] == "all"}
    chosen = [name for name in SUMMARY if name in rows]
    return with_source(
        figures,
        f"In {figures['dtype']}:",
        markdown(
            ["method", "speed-up, 95 % interval", "acceptance rate", "tokens per step"],
            [
                [
                    name,
                    speedup(rows[name]),
                    number(rows[name]["acceptance"]),
                    number(rows[name]["tokens_per_step"]),
                ]
                for name in chosen
            ],
        ),
    )


def embedded_methods(figures: Figures) -> str:
    """The fastest arm of every group."""
    by_arm = {(row["arm"], row["category"]): row for row in figures["rows"]}
    head = ["arm", "ms/token", "speed-up, 95 % interval", "structured_output"]
    head += ["acceptance rate", "tokens per step", "draft + verify, ms per step"]
    rows = []
    for arm in figures["fastest"]:
        row, structured = by_arm[arm, "all"], by_arm[arm, "structured_output"]
        times = "–"
        if row["draft_ms"] is not None:
            times = f"{row['draft_ms']:.2f} + {row['verify_ms']:.2f}"
        rows.append(
            [
                "plain decoding" if arm == "baseline" else arm,
                number(row["ms_per_token"]),
                speedup(row),
                f"{structured['speedup']:.2f}×" if structured["speedup"] else "–",
                number(row["acceptance"]),
                number(row["tokens_per_step"]),
                times,
            ]
        )
    return with_source(figures, f"In {figures['dtype']}:", markdown(head, rows))


# history_scale


def history_store(figures: Figures) -> str:
    asked = figures["asked_ms"].values()
    slowest = max(median(times) for times in asked)
    slowest_p95 = max(p95(times) for times in asked)
    opened = figures["opened_ms"]
    rows = [
        ["file size per decision", f"{figures['bytes_a_decision']:.1f} bytes"],
        ["ingest, million rows/s", spread(figures["ingest_m_rows_per_s"])],
        ["slowest page query", f"median {slowest:.0f} ms, P95 {slowest_p95:.0f} ms"],
        ["opening one request", f"median {median(opened):.1f} ms, P95 {p95(opened):.1f} ms"],
    ]
    return with_source(figures, markdown(["", ""], rows))


def history_size(figures: Figures) -> str:
    size = f"{figures['bytes_a_decision']:.1f} bytes"
    table = markdown(["", ""], [["file size per decision, five best tokens included", size]])
    return with_source(figures, table)


def history_pages(figures: Figures) -> str:
    rows = []
    for how, title in (("click", "from the navigation"), ("address", "by URL")):
        for page, times in figures["pages_ms"][how].items():
            rows.append([page, title, f"{median(times):,.0f}", f"{p95(times):,.0f}"])
    head = ["page", "opened", "median, ms", "P95, ms"]
    return with_source(figures, markdown(head, rows))


# k_prediction

SOURCES = {"replayed exactly": "redrafted exactly", "predicted from one run": "from one run"}


def k_errors(figures: Figures) -> str:
    """Largest error over K = 1 to 14, per method and source."""
    rows = []
    for method, ks in figures["rows"].items():
        for name in dict.fromkeys(row["source"] for row in ks):
            own = [row for row in ks if row["source"] == name]
            length = max(own, key=lambda row: abs(row["length_off"]))
            timed = [row for row in own if row["speedup_off"] is not None]
            speed = max(timed, key=lambda row: abs(row["speedup_off"])) if timed else None
            rows.append(
                [
                    method,
                    SOURCES.get(name, name),
                    error(length, "length_off"),
                    error(speed, "speedup_off") if speed else "not predicted",
                ]
            )
    head = ["method", "prediction", "largest error, mean acceptance length"]
    return with_source(figures, markdown([*head, "largest error, speed-up"], rows))


def error(row: Mapping[str, Any], key: str) -> str:
    """`+3.6 % (K 5)`; `0 %` where the prediction is exact."""
    off = 100 * row[key]
    return "0 %" if round(off, 2) == 0 else f"{off:+.1f} % (K {row['k']})"


# The others


def coverage(figures: Figures) -> str:
    rows = [
        [
            row["world"],
            str(row["prompts"]),
            number(row["covered"], 3),
            number(1 - row["covered"], 3),
            number(row["picked_covered"], 3),
        ]
        for row in figures["rows"]
    ]
    head = ["noise", "prompts", "covered", "false changes", "picked K, covered"]
    rounds = (
        f"{figures['rounds']:,} simulated benchmarks and {figures['picked_rounds']:,} sweeps each."
    )
    return with_source(figures, markdown(head, rows), rounds)


def arrivals_coverage(figures: Figures) -> str:
    rows = [
        [
            str(row["prompts"]),
            number(row["rate"], 1),
            number(100 * row["shared"], 0),
            *(number(row["covered"][unit], 3) for unit in ("prompts", "busy periods", "blocks")),
        ]
        for row in figures["rows"]
    ]
    head = ["prompts", "rate", "blocks differ by, %", "prompts as units", "busy periods", "blocks"]
    return with_source(figures, markdown(head, rows), f"{figures['rounds']:,} simulated each.")


def held_out(figures: Figures) -> str:
    rows = [
        [
            str(row["seed"]),
            f"{row['checks']:,}",
            number(row["inside"], 3),
            number(row["inside_own_error"], 3),
        ]
        for row in figures["held_out"]
    ]
    head = ["seed", "predictions", "exact figure inside", "inside the method's own error alone"]
    return with_source(figures, markdown(head, rows))


def held_out_line(figures: Figures) -> str:
    rows = [
        [
            row["method"],
            str(row["checks"]),
            f"{100 * row['largest_off']:.1f} %",
            number(row["inside"], 3),
        ]
        for row in figures["held_out_line"]
    ]
    head = ["held out", "predictions", "largest error", "measured speed-up inside"]
    return with_source(figures, markdown(head, rows))


def first_minute(figures: Figures) -> str:
    names = {
        "page_ready_s": "page ready, s after the start of the app",
        "first_token_s": "first token, s after pressing Run at once",
        "first_accepted_s": "first accepted token, s after pressing Run at once",
        "first_speedup": "speed-up that this run shows, ×",
        "second_first_token_s": "first token, s after pressing Run again",
        "second_speedup": "speed-up that the second run shows, ×",
        "llama_cpp_first_accepted_s": "first accepted token after Run starts llama.cpp, s",
        "memory_mib": "memory of the app, MiB",
    }
    starts = figures["starts"]
    rows = [
        [title, spread([start[name] for start in starts], 0 if name == "memory_mib" else 1)]
        for name, title in names.items()
    ]
    return with_source(figures, markdown(["", f"median of {len(starts)} starts (range)"], rows))


def setup_time(figures: Figures) -> str:
    names = {
        "install_s": "`make install`, s",
        "run_s": "`make run` to the page, s",
        "clone_to_page_s": "together, s",
    }
    rounds = figures["rounds"]
    rows = [[title, spread([one[name] for one in rounds], 1)] for name, title in names.items()]
    if figures["pip_install_s"] is not None:
        rows.append(["`make install` without uv, s", number(figures["pip_install_s"], 1)])
    return with_source(figures, markdown(["", f"median of {len(rounds)} clones (range)"], rows))


def tracing_cost(figures: Figures) -> str:
    groups: dict[tuple[str, str, int], list[Figures]] = {}
    for row in figures["rows"]:
        groups.setdefault((row["arm"], row["against"], row["batch"]), []).append(row)
    rows = [
        [
            f"{arm} / {against}",
            str(batch),
            spread([row["tokens_per_s"][0] / row["tokens_per_s"][1] for row in own]),
            spread([row["cpu_ms_per_token"][0] / row["cpu_ms_per_token"][1] for row in own]),
        ]
        for (arm, against, batch), own in groups.items()
    ]
    head = ["compared", "batch", "tokens/s, ratio (range)", "CPU per token, ratio (range)"]
    return with_source(figures, markdown(head, rows))


def categories(figures: Figures) -> str:
    rows = [
        [
            row["category"],
            f"{row['equal']} of {row['prompts']}",
            number(row["acceptance"], 3),
            number(row["tokens_per_step"]),
            speedup(row),
        ]
        for row in figures["rows"]
    ]
    head = ["category", "equal answers", "acceptance rate", "tokens per step"]
    return with_source(figures, markdown([*head, "speed-up, 95 % interval"], rows))


def side_by_side(figures: Figures) -> str:
    names = ("tpot_median_ms", "e2el_median_ms", "tokens_per_s")
    rows = []
    for streams in sorted({row["concurrency"] for row in figures["rounds"]}):
        own = [row for row in figures["rounds"] if row["concurrency"] == streams]
        equal = sum(row["specviz"]["output_tokens"] == row["vllm"]["output_tokens"] for row in own)
        ratios = [spread([r["specviz"][name] / r["vllm"][name] for r in own], 3) for name in names]
        rows.append([str(streams), *ratios, f"{equal} of {len(own)}"])
    head = ["concurrency", *(f"{name}, specviz / vLLM (range)" for name in names)]
    return with_source(figures, markdown([*head, "rounds with equal output tokens"], rows))


def client_cost(figures: Figures) -> str:
    rows = [
        [row["client"], spread(row["rounds"], 0), number(row["cpu_us_per_token"], 1)]
        for row in figures["rows"]
    ]
    head = ["client", "output tokens per CPU second (range)", "CPU µs per token"]
    return with_source(figures, markdown(head, rows))


def page_changes(figures: Figures) -> str:
    rows = []
    for name, changes in figures["ms"].items():
        kinds = [[c[kind] for c in changes if c[kind] is not None] for kind in ("text", "chart")]
        cells = [f"{median(ms):.0f}, P95 {p95(ms):.0f}" if ms else "–" for ms in kinds]
        rows.append([name, *cells])
    head = ["change", "new text, median ms", "new chart, median ms"]
    return with_source(figures, markdown(head, rows))


def lossless(figures: Figures) -> str:
    rows = [
        [row["method"], row["shape"], row["dtype"], f"{row['equal']} of {row['answers']}"]
        for row in figures["rows"]
    ]
    return with_source(figures, markdown(["method", "shape", "dtype", "equal answers"], rows))


def plan(name: str) -> Callable[[Figures], str]:
    def table(figures: Figures) -> str:
        if name not in figures["plans"]:
            return not_measured("plans")
        rows = [
            [
                row["engine"],
                row["arm"],
                f"{row['temperature']:g}",
                row["load"],
                number(row["acceptance"]),
                number(row["mean_acceptance_length"]),
                speedup(row),
            ]
            for row in figures["plans"][name]["rows"]
        ]
        head = ["engine", "arm", "temperature", "load", "acceptance rate", "tokens per step"]
        own = {**figures, "prompts": figures["plans"][name]["prompts"]}
        return with_source(own, markdown([*head, "speed-up, 95 % interval"], rows))

    return table
