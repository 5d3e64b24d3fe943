"""`python -m benchmarks [NAME …]`: run all benchmarks or those named, update results and docs."""

from __future__ import annotations

import argparse
import runpy
import sys

from benchmarks.tables.documents import write_tables

NAMES = (
    *("first_token", "embedded_speed", "lossless", "speedup", "tracing_cost"),
    *("policy_cost", "routing"),
    *("plans", "side_by_side", "client_cost", "k_prediction", "page_changes", "history_scale"),
    *("setup_time", "sql_snapshot", "hostile_sql", "hostile_input", "soak", "coverage"),
    "exchange_memory",
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", nargs="*", choices=[*NAMES, []], help="default: all")
    for name in parser.parse_args().name or NAMES:
        print(f"== {name}", flush=True)
        sys.argv = [name, "--save"]
        runpy.run_module(f"benchmarks.{name}", run_name="__main__")
    write_tables()


if __name__ == "__main__":
    main()
