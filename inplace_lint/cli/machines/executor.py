"""Where files are checked, by the options `--executor` and `--ray-address`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from inplace_lint.driver.executors.executor import Executor


def executor_of(name: str, address: str | None, jobs: int) -> Executor | None:
    """
    Return the executor of these options; None for this machine.

    Raises: `click.UsageError` for an address without Ray.
    """
    if name == "ray":
        from inplace_lint.driver.executors.apart import Apart  # noqa: PLC0415 - most runs do without
        from inplace_lint.driver.executors.ray_cluster import LOCAL, RayCluster  # noqa: PLC0415

        return Apart(RayCluster(address or os.environ.get("RAY_ADDRESS") or LOCAL, jobs), "Ray")
    if address is not None:
        msg = "`--ray-address` can only be used with `--executor ray`"
        raise click.UsageError(msg)
    return None
