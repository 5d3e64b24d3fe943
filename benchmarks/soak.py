"""An app in use for an hour: what `tests/faults/test_soak.py` does for ten minutes.

The test fails where memory, descriptors, threads or files grow after the first ten minutes.
"""

from __future__ import annotations

import argparse
import os

from benchmarks.results_file import add_save_option, save
from benchmarks.started.fault_suite import figures_of
from specviz.machine import hardware_summary

TESTS = "tests/faults/test_soak.py"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60, help="default: 60")
    add_save_option(parser, "soak")
    asked = parser.parse_args()
    print(hardware_summary())
    os.environ["SPECVIZ_SOAK_MINUTES"] = str(asked.minutes)
    found = figures_of(TESTS)["soak"]
    for name, (before, after) in found["held"].items():
        print(f"{name}: {before:g} after the first minutes, {after:g} at the end")
    if asked.save:
        save(asked.save, {"minutes": asked.minutes, **found})


if __name__ == "__main__":
    main()
