"""Hostile SQL: every statement of `tests/faults/test_sql_bombs.py`, and when others are answered.

The tests fail where a statement has an effect, shows a secret or keeps others waiting.
"""

from __future__ import annotations

import argparse

from benchmarks.results_file import add_save_option, save
from benchmarks.started.fault_suite import figures_of
from specviz.machine import hardware_summary

TESTS = "tests/faults/test_sql_bombs.py"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_save_option(parser, "hostile_sql")
    asked = parser.parse_args()
    print(hardware_summary())
    found = figures_of(TESTS)
    for name, kind in found.items():
        print(f"{name}: {kind['statements']} statements, {max(kind['back_s']):.2f} s at most")
    if asked.save:
        save(asked.save, {"targets": found})


if __name__ == "__main__":
    main()
