"""
The options that several commands have, and those of `check` about what it reports.

Every start of the program imports this module, so it imports little.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from inplace_lint.cli.options import complete_rule, costs_of, parsed_by, rules_of, shard_of
from inplace_lint.cli.param_types import Count, OneOf, Output, Positive
from inplace_lint.config.schema import ASSUMPTIONS, COLORS, FORMATS, LANGS, SEVERITIES, assume_of, sentences, version

Command = TypeVar("Command", bound=Callable[..., Any])
_EXECUTORS = ("local", "ray")
_LIMITS = ("device", "confirm_seconds", "confirm_memory", "confirm_output")  # of --confirm, and useless without it
_DEVICES = ("cpu", "cuda")


def together(*options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Return the decorator that adds several options to a command, in this order."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


_rules = partial(click.option, multiple=True, callback=parsed_by(rules_of), shell_complete=complete_rule)
selectors = together(
    _rules("--select", help="Rules to enable: code, prefix, name or ALL."),
    _rules("--extend-select", help="Rules to enable in addition to --select."),
    _rules("--ignore", help="Rules to disable."),
)
versions = together(
    click.option(
        "--torch-version", callback=parsed_by(version), metavar="VERSION", help="The version of torch to check for."
    ),
    click.option(
        "--paddle-version", callback=parsed_by(version), metavar="VERSION", help="The version of Paddle to check for."
    ),
)
jobs = click.option("-j", "--jobs", type=Count(), metavar="N", help="Number of processes; default one per CPU.")
lang = click.option("--lang", type=OneOf(LANGS), help="Language of the output.")
color = partial(click.option, "--color", type=OneOf(COLORS), help="When to use colors.")
output_format = click.option("--output-format", type=OneOf(FORMATS), help="Output format of findings.")
output_file = click.option("-o", "--output-file", type=Output(), metavar="FILE", help="Write findings to this file.")
diff = click.option("--diff", is_flag=True, help="Show what fixes would change as a diff, without changing files.")
config = click.option(
    "--config", "configs", multiple=True, metavar="FILE|KEY=VALUE", help="A configuration file, or one setting."
)
config_options = together(config, click.option("--isolated", is_flag=True, help="Ignore all configuration files."))
exit_options = together(
    click.option("--exit-zero", is_flag=True, help="Exit with status 0 even if something was found."),
    click.option(
        "--fail-on", type=OneOf(SEVERITIES), help="Lowest severity that makes the exit status 1; default warning."
    ),
)
executor_options = together(
    click.option(
        "--executor",
        type=OneOf(_EXECUTORS),
        default="local",
        help="Where to check files: in processes of this machine, or on a Ray cluster.",
    ),
    click.option(
        "--ray-address",
        metavar="ADDRESS",
        help="The Ray cluster: HOST:PORT, ray://HOST:PORT, auto or local; default $RAY_ADDRESS, or local.",
    ),
)
proof_options = together(
    click.option("--device", type=OneOf(_DEVICES), default="cpu", help="Device for --confirm."),
    click.option(
        "--confirm-seconds",
        type=Positive(),
        default=30.0,
        metavar="N",
        help="Time limit for each run of --confirm; default 30.",
    ),
    click.option(
        "--confirm-memory",
        type=Count(),
        default=4096,
        metavar="MB",
        help="Memory limit for each run of --confirm; default 4096.",
    ),
    click.option("--confirm-output", is_flag=True, help="Show on stderr what the code that --confirm runs prints."),
    click.option("--python", metavar="PATH", help="The interpreter or virtual environment for --confirm."),
)
confirm_options = together(
    click.option("--confirm", is_flag=True, help="Run the flagged code to reproduce each finding."), proof_options
)
report_options = together(
    click.option(
        "--assume",
        multiple=True,
        type=OneOf(ASSUMPTIONS),
        callback=parsed_by(lambda words: assume_of([*words])),
        help="Whether inputs require grad where no caller in the project decides it; default unknown.",
    ),
    click.option(
        "--only-assuming",
        multiple=True,
        callback=parsed_by(lambda words: sentences([*words])),
        metavar="WORDS",
        help="Report only findings whose assumptions contain these words.",
    ),
    click.option(
        "--hide-assuming",
        multiple=True,
        callback=parsed_by(lambda words: sentences([*words])),
        metavar="WORDS",
        help="Do not report findings whose assumptions contain these words.",
    ),
    exit_options,
    executor_options,
    click.option("--shard", metavar="K/N", callback=shard_of, help="Check only the K-th of N parts of the files."),
    click.option(
        "--shard-costs",
        metavar="FILE",
        callback=costs_of,
        help="Divide the files by what `cache costs` measured; the same file for all parts.",
    ),
)


def proof_of(options: dict[str, Any]) -> dict[str, Any]:
    """
    Remove the options of `--confirm` from those of a command, and return them with the interpreter.

    Raises: `click.UsageError` for one that is given without `--confirm`.
    """
    proof = {key: options.pop(key) for key in ("confirm", *_LIMITS)}
    source = click.get_current_context().get_parameter_source
    for key in _LIMITS:
        if not proof["confirm"] and source(key) is ParameterSource.COMMANDLINE:
            msg = f"`--{key.replace('_', '-')}` can only be used with `--confirm`"
            raise click.UsageError(msg)
    return {**proof, "python": options["python"]}
