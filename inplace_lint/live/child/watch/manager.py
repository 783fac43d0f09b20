"""Watches whatever frameworks a program imports, from the moment it has imported them."""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
import threading
from types import ModuleType, TracebackType
from typing import Any, Callable, Dict, List, Optional, Set, Type, Union

from ..attempt import attempt
from .framework_watch import FrameworkWatch
from .ledger import Ledger, Save, Write
from .paddle_watch import PaddleWatch
from .places import Spot
from .torch_watch import TorchWatch

_CALLS = os.path.join("torch", "_ops.py")  # calls an op that a mode was shown
_WATCHES: Dict[str, Type[Union[TorchWatch, PaddleWatch]]] = {"torch": TorchWatch, "paddle": PaddleWatch}


class WatchManager:
    """
    The watches of one process.

    `emit` gets each record: `watched` when a framework was found, then what its watch reports.
    """

    def __init__(self, emit: Callable[[Dict[str, Any]], None]) -> None:
        self._emit = emit
        self._watches: Dict[str, FrameworkWatch] = {}
        self.undoes: Callable[[Spot], bool] = lambda _spot: False  # whether backward ignores what is written there
        self.mends = False  # whether backward gets the value from before a write that should have made it fail
        self._finder = _Finder(self._attach)

    def start(self) -> None:
        """Watch frameworks that are imported, and those that will be."""
        for name in _WATCHES:
            if name in sys.modules:
                self._attach(sys.modules[name])
        sys.meta_path.insert(0, self._finder)

    def stop(self) -> None:
        """Watch no more."""
        sys.meta_path.remove(self._finder)
        for watch in reversed(list(self._watches.values())):
            watch.stop()

    def resume(self) -> None:
        """Go on in a copy of the process that was made to go on."""
        for watch in self._watches.values():
            watch.ledger.active = True

    def ended_by(self, error: Optional[BaseException]) -> None:
        """Report what an error that ends the program, or one that led to it, says about a write."""
        seen: List[BaseException] = []
        while error is not None and error not in seen:
            seen.append(error)
            if isinstance(error, ModuleNotFoundError) and error.name in _WATCHES:
                reason = f"{sys.executable} has no {error.name}: --python names another interpreter"
                self._emit({"kind": "unrunnable", "reason": reason})
            for watch in self._watches.values():
                watch.refusal(error, error.__traceback__)
            self._emit({"kind": "ended", "reason": attempt(functools.partial(str, error)).value or ""})
            error = error.__cause__ or error.__context__

    def undone(self) -> Callable[[], None]:
        """Copy all that is saved; return a function that gives backward the copies of what changed since."""
        held = [(watch, save, watch.copied(save.tensor)) for watch in self._watches.values() for save in watch.saves()]

        def ended() -> None:
            for watch, save, values in held:
                if save.undone is None and values is not None and not watch.has_values(save.tensor, values):
                    save.undone = values

        return ended

    def saves_of(self, value: Any) -> List[Save]:
        """Record a tensor as saved, so that writes to it are; nothing for any other value."""
        return [watch.pack(value) for watch in self._watches.values() if isinstance(value, watch.tensor)]

    def reached(self, save: Save) -> Optional[Write]:
        """Return the first write to what was saved."""
        watches = self._watches.values()
        return next((watch.reached(save) for watch in watches if isinstance(save.tensor, watch.tensor)), None)

    def also_in_threads(self, is_ours: Callable[[str], bool]) -> None:
        """Report errors that end threads as well, and show them without the frames of files that are ours."""
        before = threading.excepthook

        def hook(failed: Any) -> None:
            self.ended_by(failed.exc_value)
            trace = cleaned(failed.exc_value, is_ours)
            before(threading.ExceptHookArgs([failed.exc_type, failed.exc_value, trace, failed.thread]))

        threading.excepthook = hook

    def _attach(self, module: ModuleType) -> None:
        name, version = module.__name__, str(getattr(module, "__version__", ""))
        if name in self._watches:
            return
        if not _WATCHES[name].is_supported(module):
            self._emit({"kind": "unrunnable", "reason": f"{name} {version} cannot be watched: it is too old"})
            return
        watch = self._watches[name] = _WATCHES[name](module, Ledger(self._emit))
        watch.undoes, watch.mends = self.undoes, self.mends
        watch.start()
        self._emit({"kind": "watched", "framework": name, "version": version})


class _Finder:
    """Comes before all finders of modules, and lets a framework's own loader do its work first."""

    def __init__(self, attach: Callable[[ModuleType], None]) -> None:
        self._attach = attach
        self._is_asking = False

    def find_spec(self, name: str, *_place: Any) -> Any:
        """Return the framework's own spec with a loader that calls `attach` when the framework is there."""
        if name not in _WATCHES or self._is_asking:
            return None
        self._is_asking = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._is_asking = False
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._attach)  # type: ignore[assignment]
        return spec


class _Loader:
    """A framework's own loader, which is put back as soon as it has done its work."""

    def __init__(self, loader: Any, attach: Callable[[ModuleType], None]) -> None:
        self._loader, self._attach = loader, attach

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: Any) -> Any:
        """Create the module as its own loader does."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, then attach the watch."""
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._attach(module)


def cleaned(error: Optional[BaseException], is_ours: Callable[[str], bool]) -> Optional[TracebackType]:
    """Remove the frames that are ours from an error and those that led to it; return the traceback of the first."""
    walk = error
    seen: Set[int] = set()
    while walk is not None and id(walk) not in seen:
        seen.add(id(walk))
        walk.__traceback__ = _without(walk.__traceback__, is_ours, is_below=False)
        walk = walk.__cause__ or walk.__context__
    return None if error is None else error.__traceback__


def _without(
    trace: Optional[TracebackType], is_ours: Callable[[str], bool], *, is_below: bool
) -> Optional[TracebackType]:
    """Return a traceback without the frames of files that are ours, and of the calls that a mode makes below them."""
    if trace is None:
        return None
    name = trace.tb_frame.f_code.co_filename
    is_own = is_ours(name)
    rest = _without(trace.tb_next, is_ours, is_below=is_own)
    if is_own or (is_below and name.endswith(_CALLS)):
        return rest
    return TracebackType(rest, trace.tb_frame, trace.tb_lasti, trace.tb_lineno)
