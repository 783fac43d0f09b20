"""The options of `--confirm`. Every start of the program imports this module, so it imports little."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from inplace_lint.cli.param_types import Count, OneOf, Positive

KEYS = ("confirm", "device", "confirm_seconds", "confirm_memory", "confirm_output")
_DEVICES = ("cpu", "cuda")


def confirm_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `--confirm` to a command."""
    options = (
        click.option("--confirm", is_flag=True, help="Run the flagged code to reproduce each finding."),
        click.option(
            "--device", type=OneOf(_DEVICES), metavar="|".join(_DEVICES), default="cpu",
            help="Device for --confirm.",
        ),
        click.option(
            "--confirm-seconds", type=Positive(), default=30.0, metavar="N",
            help="Time limit for one target of --confirm; default 30.",
        ),
        click.option(
            "--confirm-memory", type=Count(), default=4096, metavar="MB",
            help="Memory limit for one target of --confirm; default 4096.",
        ),
        click.option("--confirm-output", is_flag=True, help="Show the output of the code that runs on stderr."),
        click.option("--python", metavar="PATH", help="The interpreter or virtual environment for --confirm."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command
