"""`specviz`, and `python -m specviz`: signals wait until the command is there to be stopped."""

import signal
import sys

signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))

from specviz.commands.ending import exit_code, leave, open_closed_streams, watch_signals  # noqa: E402
from specviz.terminal import escaping  # noqa: E402


def main() -> None:
    """Run the command line and exit."""
    open_closed_streams()
    sys.stdout, sys.stderr = escaping(sys.stdout), escaping(sys.stderr)
    watch_signals()
    leave(exit_code(_run, sys.argv[1:]))


def _run(arguments: list[str]) -> int:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM))
    from specviz.cli import invoke

    return invoke(arguments)


if __name__ == "__main__":
    main()
