"""The options that decide what is checked and told, and which findings count for the exit status."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from inplace_lint.cli.machines.executor_options import executor_options
from inplace_lint.cli.options import parsed, shard_of
from inplace_lint.cli.param_types import OneOf
from inplace_lint.config.schema import ASSUMPTIONS, SEVERITIES, assume_of, sentences


def exit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options about the exit status to a command."""
    zero = click.option("--exit-zero", is_flag=True, help="Exit with status 0 even if something was found.")
    least = click.option(
        "--fail-on", type=OneOf(SEVERITIES), metavar="|".join(SEVERITIES),
        help="Least severity that makes the exit status 1; default warning.",
    )  # fmt: skip
    return zero(least(command))


def config_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options about configuration files to a command."""
    config = click.option(
        "--config", "configs", multiple=True, metavar="FILE|KEY=VALUE", help="A configuration file, or a setting."
    )
    isolated = click.option("--isolated", is_flag=True, help="Ignore all configuration files.")
    return config(isolated(command))


def told_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add these options to a command."""
    options = (
        click.option(
            "--assume", multiple=True, type=OneOf(ASSUMPTIONS), metavar="|".join(ASSUMPTIONS), callback=_assumed,
            help="What to assume of inputs that no known caller decides.",
        ),
        click.option(
            "--only-assuming", multiple=True, callback=_sentences, metavar="WORDS",
            help="Report only findings whose assumptions contain these words.",
        ),
        click.option(
            "--hide-assuming", multiple=True, callback=_sentences, metavar="WORDS",
            help="Do not report findings whose assumptions contain these words.",
        ),
        exit_options,
        executor_options,
        click.option("--shard", metavar="K/N", callback=shard_of, help="Check only the K-th of N parts of the files."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def _assumed(_context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    return parsed(parameter, assume_of, values)


def _sentences(_context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    return parsed(parameter, sentences, values)
