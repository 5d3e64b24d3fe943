"""Mutated streams and imports, and kills: the whole suites of `tests/faults`, counted.

The tests fail where something is shown as an exception, left running, lost, or twice there.
"""

from __future__ import annotations

import argparse

from benchmarks.results_file import add_save_option, save
from benchmarks.started.fault_suite import figures_of
from specviz.machine import hardware_summary

STREAMS = "tests/faults/test_mutated_streams.py"
IMPORTS = "tests/faults/test_hostile_imports.py"
KILLS = "tests/faults/test_kills.py"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_save_option(parser, "hostile_input")
    asked = parser.parse_args()
    print(hardware_summary())
    found = figures_of(STREAMS, IMPORTS, KILLS)
    for name, kind in found.items():
        print(f"{name}: {kind}")
    if asked.save:
        save(asked.save, {"suites": found})


if __name__ == "__main__":
    main()
