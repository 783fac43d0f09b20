"""
What a watch of any framework does: it records saves and writes in a ledger, and reports what breaks backward.

`TorchWatch` and `PaddleWatch` add how their framework tells of saves and writes. Inside hooks of saved tensors neither
framework compares versions, so `unpack` does it here. A failed check is reported and the program goes on with what is
in the storage now: a training that would have stopped shows its further faults as well.
"""

from __future__ import annotations

import abc
import functools
import os
import re
import sys
from types import TracebackType
from typing import Any, Callable, ClassVar, Dict, List, Optional, Tuple, Type

from .ledger import Ledger, Save, Storage, Write
from .patches import Patches
from .places import Places, Spot, described

NOWHERE = Spot(None)


class FrameworkWatch(abc.ABC):
    """Watches one framework from `start` until `stop`."""

    name: ClassVar[str]
    stale: ClassVar[str]  # the framework's own words for a version that does not match
    refusals: ClassVar[Tuple[Tuple[str, str], ...]]  # checks of writes, each with a pattern of its error
    errors: ClassVar[Tuple[Type[BaseException], ...]]  # the classes of such errors

    def __init__(self, framework: Any, ledger: Ledger, layer: type, optimizer: type) -> None:
        self.framework, self.ledger, self.tensor = framework, ledger, framework.Tensor
        self._layer = layer
        self.places = Places(os.path.dirname(os.path.abspath(framework.__file__)), layer, optimizer)
        self.undoes: Callable[[Spot], bool] = lambda _spot: False  # whether backward ignores what is written there
        self.mends = False  # whether backward gets the value from before a write that should have made it fail
        self.patches = Patches()

    @staticmethod
    @abc.abstractmethod
    def is_supported(framework: Any) -> bool:
        """Check whether a release has all that watching needs."""

    @abc.abstractmethod
    def pack(self, tensor: Any) -> Save:
        """Record a save; the node keeps what is returned instead of the tensor."""

    @abc.abstractmethod
    def version(self, tensor: Any) -> int:
        """Return the version of a tensor."""

    @abc.abstractmethod
    def storage_of(self, value: Any) -> Optional[int]:
        """Identify the storage of a tensor; None for anything that has none."""

    @abc.abstractmethod
    def is_whole(self, tensor: Any) -> bool:
        """Check whether a tensor covers its storage, as far as that can be known."""

    @abc.abstractmethod
    def reached(self, save: Save) -> Optional[Write]:
        """Return the first write after a save that reached elements of what was saved, counted or not."""

    @abc.abstractmethod
    def copied(self, tensor: Any) -> Any:
        """Return a copy of a tensor without its history; None where it has no values."""

    @abc.abstractmethod
    def has_values(self, tensor: Any, values: Any) -> bool:
        """Check whether a tensor has the values of another one; those that are no numbers count as equal."""

    @abc.abstractmethod
    def op_of(self, save: Save) -> str:
        """Name the op whose backward needs a save now."""

    def start(self) -> None:
        """Record where layers are constructed; subclasses record saves and writes."""
        constructor = self._layer.__init__  # type: ignore[misc]
        self.patches.replace(self._layer, "__init__", self.ledger.constructing(constructor, self.places))

        for owner, name in self.engines():
            self.patches.replace(owner, name, self._noted(getattr(owner, name)))

    @abc.abstractmethod
    def engines(self) -> List[Tuple[Any, str]]:
        """Return the functions that run backward, each by its owner and its name."""

    def _noted(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Report that a backward ran."""

        @functools.wraps(original)
        def run(*args: Any, **options: Any) -> Any:
            self.ledger.report("backward", (), {"framework": self.name})
            return original(*args, **options)

        return run

    def stop(self) -> None:
        """Restore the framework; saves made before are from then on checked as the framework checks them."""
        self.ledger.close()
        self.patches.close()

    def save(self, tensor: Any) -> Save:
        """Record that a tensor is saved by the line of the program that runs now."""
        identity = self.storage_of(tensor)
        if identity is None:
            return self.unrecorded(tensor)
        storage, spot = self.ledger.storage(identity), self.places.spot(sys._getframe(1))
        save = Save(tensor, self.version(tensor), self.ledger.next_number(), spot, storage)
        storage.keep(save)
        return save

    def saves(self) -> List[Save]:
        """Return all saves that are alive, but for those of what their own op writes."""
        storages = list(self.ledger.storages.values())
        return [save for storage in storages for save in storage.living() if not save.own]

    def unrecorded(self, tensor: Any) -> Save:
        """Return a save that the ledger does not know."""
        return Save(tensor, self.version(tensor), 0, NOWHERE, None)

    def unpack(self, save: Save) -> Any:
        """
        Compare versions, as the framework would, and look for writes that it does not count, or not compare.

        Raises: what the framework would, where nobody is listening or the write was not seen.
        """
        if save.undone is not None:
            return save.undone
        now = self.version(save.tensor)
        is_stale = save.checked and now != save.version
        write = save.first_counted(now) if is_stale else None
        if is_stale and (write is None or not self.ledger.active):
            raise RuntimeError(self.stale.format(now=now, then=save.version))
        if write is not None:
            self.report("stale", save, write, self.op_of(save))
            if self.mends and save.before is not None:
                return save.before
        else:
            self.report_uncounted(save)
        return save.tensor

    def add(self, storage: Storage, write: Write) -> None:
        """Record a write that is about to happen; what was saved is copied before the first one."""
        for save in storage.first_written():
            save.before = None if save.own else self.copied(save.tensor)
        if self.undoes(write.spot):
            for save in storage.living():
                save.undone = save.undone if save.own or save.undone is not None else self.copied(save.tensor)
        storage.add(write)

    def overwritten(self, save: Save) -> Optional[Write]:
        """Return the first write that reached what was saved; None where it has its value still, or again."""
        write = self.reached(save)
        is_same = write is not None and save.before is not None and self.has_values(save.tensor, save.before)
        return None if is_same else write

    def report_uncounted(self, save: Save, op: Optional[str] = None, part: str = "") -> None:
        """Report a write to what was saved that the framework does not notice, if there was one."""
        write = self.overwritten(save) if self.ledger.active and not save.own else None
        if write is not None:
            self.report("untracked", save, write, self.op_of(save) if op is None else op, part)

    def report(self, kind: str, save: Save, write: Write, op: str, part: str = "") -> None:
        """Report that backward of `op` runs now and needs a save that was overwritten."""
        backward = described(self.places.spot(sys._getframe(1), layers=False).where)
        fields = self._fields(save, write, op, part=part or self.part(save))
        self.ledger.report(kind, (write.spot.where, save.spot.where, op), {**fields, "backward": backward})

    def is_named(self, _save: Save) -> bool:
        """Check whether a save is asked for only to name it."""
        return False

    def report_recomputed(self, save: Save, op: str, write: Write) -> None:
        """Report that a function read something which was written before backward ran the function again."""
        fields = {**self._fields(save, write, op), "backward": None}
        self.ledger.report("recomputed", (write.spot.where, save.spot.where), fields)

    def _fields(self, save: Save, write: Write, op: str, **more: str) -> Any:
        return {
            "framework": self.name,
            "save": self.ledger.access(op, save.spot, writes=False, **more),
            "write": self.ledger.access(write.op, write.spot, writes=True, parameter=write.parameter),
        }

    def part(self, save: Save) -> str:
        """Name what was saved: `self.weight` of the layer at work, or in the framework's own words."""
        layer = save.spot.layer
        owned = () if layer is None else (*layer.named_parameters("", False), *layer.named_buffers("", False))
        storage = self.storage_of(save.tensor)
        return next((f"self.{name}" for name, value in owned if self.storage_of(value) == storage), save.part)

    def refusal(self, error: BaseException, trace: Optional[TracebackType]) -> None:
        """Report an error by which the framework refused a write, if it is one."""
        if trace is None:
            return
        check, spot, is_late = self.refused(error, trace)
        if check:
            raised = self.places.raised_at(trace)
            spot = spot or raised
            write = self.ledger.access("", spot, writes=True, parameter=False)
            write["at"] = self.compiled_at(trace) or write["at"]
            later = described(raised.where) if is_late else None
            fields = {"framework": self.name, "check": check, "write": write, "backward": later}
            self.ledger.report("refused", (check, spot.where), fields)

    @abc.abstractmethod
    def refused(self, error: BaseException, trace: TracebackType) -> Tuple[str, Optional[Spot], bool]:
        """
        Name the check that an error comes from, and the refused write if that is not the line that raised.

        Returned last is whether the write itself was carried out, and a later use of what it wrote refused.
        """

    def compiled_at(self, _trace: TracebackType) -> Optional[Dict[str, Any]]:
        """Return the position in the program that compiled code carried out when it raised; None for other code."""
        return None

    def check_of(self, error: BaseException) -> str:
        """Name the check by which the framework refused a write; empty for any other error."""
        if not isinstance(error, self.errors):
            return ""
        return next((check for check, text in self.refusals if re.search(text, str(error))), "")
