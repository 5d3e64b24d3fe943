"""The tables of docs/reliability.md: what each suite saw."""

from __future__ import annotations

from statistics import median

from benchmarks.tables.markdown import Figures, markdown, number, with_source


def sql_snapshot(figures: Figures) -> str:
    names = {
        "in this process": "the same SQL of the app itself",
        "first": "the first question: a process and a copy are made",
        "nothing committed": "nothing was committed since the last one",
        "a small commit": "something was committed: the log is copied",
        "the file changed": "the log was moved into the file: all is copied",
    }
    rows = [
        [title, number(median(figures["ms"][name]), 0), number(max(figures["ms"][name]), 0)]
        for name, title in names.items()
    ]
    size = f"{figures['decisions']:,} decisions, {figures['bytes'] / 1e6:.0f} MB"
    return with_source(figures, markdown([size, "median, ms", "at most, ms"], rows))


def mutated_input(figures: Figures) -> str:
    names = {
        "live client": "streams, live client with the database",
        "timing client": "streams, timing client",
        "imports": "imports",
    }
    rows = [
        [
            title,
            f"{found['cases']:,}",
            number(found["longest_s"], 1),
            f"{found['mb_before']:,.0f}",
            f"{found['mb_at_most']:,.0f}",
        ]
        for name, title in names.items()
        if (found := figures["suites"].get(name))
    ]
    head = ["", "cases", "longest, s", "memory before, MB", "memory at most, MB"]
    return with_source(figures, markdown(head, rows))


def exchange_memory(figures: Figures) -> str:
    rows = [
        [
            f"{name}, {data['bytes'] / 1e6:,.0f} MB",
            what,
            f"{done['file_bytes'] / 1e6:,.0f}",
            f"{done['before_bytes'] / 1e6:,.0f}",
            f"{done['peak_bytes'] / 1e6:,.0f}",
        ]
        for name, data in figures["data"].items()
        for what, done in data["done"].items()
    ]
    head = [
        "what, and its size in memory",
        "",
        "file, MB",
        "memory before, MB",
        "memory at most, MB",
    ]
    return with_source(figures, markdown(head, rows))


def kills(figures: Figures) -> str:
    done = figures["suites"]["kills"]["kills"]
    rows = [[name.replace("_", " "), f"{count}"] for name, count in done.items()]
    return with_source(figures, markdown(["operation", "kills"], rows))


def hostile_sql(figures: Figures) -> str:
    names = {
        "file": "all, on a file",
        "lake": "all, on a shared store",
        "memory": "memory bombs, ten times each, while runs are recorded",
        "app": "questions to an app while bombs run in it",
    }
    rows = [
        [
            title,
            f"{found['statements']:,}",
            str(found["wrong"]),
            number(median(found["back_s"]), 2),
            number(max(found["back_s"]), 2),
        ]
        for name, title in names.items()
        if (found := figures["targets"].get(name))
    ]
    head = ["", "statements", "wrong", "others answered after, s", "at most, s"]
    return with_source(figures, markdown(head, rows))


def soak(figures: Figures) -> str:
    names = {
        "memory_mib": "memory, MiB",
        "descriptors": "open files and sockets",
        "threads": "threads",
        "processes": "processes",
        "spool_files": "files of the tracing server",
        "work_files": "files next to the database",
    }
    held = figures["held"]
    rows = [[title, *(f"{value:,.0f}" for value in held[name])] for name, title in names.items()]
    rounds, minutes = len(figures["samples"]), figures["minutes"]
    head = [f"{rounds} rounds in {minutes:g} minutes", "first third", "last third"]
    return with_source(figures, markdown(head, rows))
