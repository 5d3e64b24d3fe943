"""`vllm bench serve` repeatedly in one process, because importing vLLM takes ten seconds.

Reads one JSON list of arguments per line and answers each with a line when that benchmark is done.
"""

from __future__ import annotations

import json
import sys

from vllm.benchmarks.serve import add_cli_args, main
from vllm.utils.argparse_utils import FlexibleArgumentParser


def serve() -> None:
    answers, sys.stdout = sys.stdout, sys.stderr  # what vLLM prints goes to the log
    parser = FlexibleArgumentParser()
    add_cli_args(parser)
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        main(parser.parse_args(json.loads(line)))
        print("done", file=answers, flush=True)


if __name__ == "__main__":
    serve()
