"""The options of `--confirm`, and the run they ask for."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from inplace_lint.config import Settings
from inplace_lint.errors import InplaceLintError
from inplace_lint.finding import Finding

KEYS = ("confirm", "device", "confirm_seconds", "confirm_memory", "confirm_output")
_DEVICES = ("cpu", "cuda")
_HAS_CUDA = {
    "torch": "import torch; print(torch.cuda.is_available())",
    "paddle": "import paddle; print(paddle.device.cuda.device_count() > 0)",
}


def confirm_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of `--confirm`."""
    options = (
        click.option("--confirm", is_flag=True, help="Run the flagged code, and say what really happens."),
        click.option("--device", type=click.Choice(_DEVICES), default="cpu", help="Where --confirm runs it."),
        click.option(
            "--confirm-seconds", type=click.FloatRange(min=0, min_open=True), default=30.0, metavar="N",
            help="Time that one target of --confirm may take; default 30.",
        ),
        click.option(
            "--confirm-memory", type=click.IntRange(min=1), default=4096, metavar="MB",
            help="Memory that one target of --confirm may take; default 4096.",
        ),
        click.option("--confirm-output", is_flag=True, help="Show on stderr what --confirm's targets print."),
        click.option("--python", metavar="PATH", help="The interpreter, or virtual environment, for --confirm."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def confirmed(
    findings: Sequence[Finding],
    options: Mapping[str, Any],
    settings: Settings,
    callers_of: Callable[[str], Sequence[str]],
    root_of: Callable[[str], str],
) -> tuple[Finding, ...]:
    """
    Give the findings as they are, or with verdicts if these were asked for.

    Raises: `InplaceLintError` where the interpreter or the device that was asked for is missing.
    """
    if not options["confirm"]:
        return tuple(findings)
    from inplace_lint.live import confirm, launch  # noqa: PLC0415 - never unasked

    python = launch.interpreter(options["python"], settings)
    if options["device"] == "cuda":
        _check_cuda(python, {finding.framework for finding in findings if finding.framework} or {"torch"})
    asked = confirm.Asked(
        python=python,
        device=options["device"],
        seconds=options["confirm_seconds"],
        memory=options["confirm_memory"],
        root=str(settings.root.absolute()),
        probes=settings.probes,
        callers_of=callers_of,
        root_of=root_of,
        hear=_hear if options["confirm_output"] else lambda _what, _printed: None,
    )
    return confirm.confirmed(findings, asked)


def _hear(what: str, printed: str) -> None:
    if printed:
        click.echo(f"{what} printed:\n{printed.rstrip()}", err=True)


def _check_cuda(python: str, frameworks: set[str]) -> None:
    for framework in sorted(frameworks):
        try:
            command = [python, "-c", _HAS_CUDA[framework]]
            said = subprocess.run(command, capture_output=True, text=True, check=False).stdout  # noqa: S603 - the user's own
        except OSError as error:
            msg = f"{python}: does not run as a Python interpreter"
            raise InplaceLintError(msg) from error
        if "True" not in said.split():
            msg = f"--device cuda: {framework} sees no CUDA device in {Path(python)}"
            raise InplaceLintError(msg)
