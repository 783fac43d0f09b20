"""`python -m inplace_lint` is `inplace-lint`."""

from __future__ import annotations

import signal
import sys

from inplace_lint.cli import FAILED, INTERRUPTED


def main() -> int:
    """
    Run the command line of this process; interrupts and our own defects are handled from the first import to the end.

    What Python does with an uncaught exception would not do: its exit status 1 says that something was found.
    """
    try:
        from inplace_lint.cli.main import main as run  # noqa: PLC0415 - an interrupt may come while it is imported

        status = run()
    except KeyboardInterrupt:
        status = _interrupted()
    except Exception as error:  # noqa: BLE001 - see above
        status = _failed(error)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is told: what comes later would end the interpreter at its exit
    return status


def _interrupted() -> int:
    sys.stderr.write("interrupted\n")
    return INTERRUPTED


def _failed(error: Exception) -> int:
    from inplace_lint.cli.terminal import report_defect  # noqa: PLC0415 - only where there is one
    from inplace_lint.driver.crashes import hides_interrupt  # noqa: PLC0415

    if hides_interrupt(error):
        return _interrupted()
    report_defect(error)
    return FAILED


if __name__ == "__main__":
    sys.exit(main())
