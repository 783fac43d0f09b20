"""The options that say where files are checked: `--executor` and `--ray-address`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from inplace_lint.cli.param_types import OneOf

if TYPE_CHECKING:
    from inplace_lint.driver.executors.executor import Executor

EXECUTORS = ("local", "ray")


def executor_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add these options to a command."""
    where = click.option(
        "--executor", type=OneOf(EXECUTORS), metavar="|".join(EXECUTORS), default="local",
        help="Where files are checked: in processes of this machine, or by Ray.",
    )  # fmt: skip
    address = click.option(
        "--ray-address", metavar="ADDRESS",
        help="The Ray cluster: HOST:PORT, ray://HOST:PORT, auto or local; default $RAY_ADDRESS, or local.",
    )  # fmt: skip
    return where(address(command))


def executor_of(name: str, address: str | None, jobs: int) -> Executor | None:
    """
    Return the executor of these options; None for this machine.

    Raises: `click.UsageError` for an address without Ray.
    """
    if name == "ray":
        from inplace_lint.driver.executors.ray_cluster import LOCAL, RayCluster  # noqa: PLC0415 - most runs do without

        return RayCluster(address or os.environ.get("RAY_ADDRESS") or LOCAL, jobs)
    if address is not None:
        msg = "`--ray-address` goes with `--executor ray`"
        raise click.UsageError(msg)
    return None
