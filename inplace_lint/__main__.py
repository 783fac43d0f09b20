"""`python -m inplace_lint` is `inplace-lint`."""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Run the command line of this process; an interrupt is handled from the first import to the end."""
    try:
        from inplace_lint.cli.main import main as run  # noqa: PLC0415 - an interrupt may come while it is imported

        status = run()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        status = 130
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is told: what comes later would end the interpreter at its exit
    return status


if __name__ == "__main__":
    sys.exit(main())
