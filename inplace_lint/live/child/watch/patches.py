"""Attributes of a framework that are replaced while it is watched, and put back afterwards."""

from __future__ import annotations

import contextlib
from typing import Any


class Patches(contextlib.ExitStack):
    """Undoes everything on `close`, in reverse order."""

    def replace(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute of a class or module until `close`; one that is inherited is only hidden until then."""
        if name in vars(owner):
            self.callback(setattr, owner, name, vars(owner)[name])
        else:
            self.callback(delattr, owner, name)
        setattr(owner, name, value)
