"""
One job: run one target of a program under watch, and emit records of what was seen.

They are the records of the watches, `mark` records of the witness, `numbers` records if the order wants them, and at
the end how the target ended. Targets are: the statements of a module, the same as a program, a call, a factory, a
class.
"""

from __future__ import annotations

import importlib
import importlib.util
import operator
import os
import sys
import types
from typing import Any, Callable, Dict, List, Optional, Set

from .attempt import Answer, attempt, in_words
from .framework_adapter import FrameworkAdapter
from .meter import Meter
from .paddle_adapter import PaddleAdapter
from .synthesize.trial import Reached, Stage, Trials
from .torch_adapter import TorchAdapter
from .variants.forms import UNDOING, Forms, prepare
from .variants.loading import Change, compiled, patched
from .variants.rewrite import Form
from .variants.tree import Place
from .watch.manager import WatchManager
from .watch.witness import Mark, Witness

_SHARE = 0.8  # of the time limit that trials may take
_ADAPTERS = {"torch": TorchAdapter, "paddle": PaddleAdapter}
SHARING = {"call", "class", "function"}  # kinds of targets that first import the same module
_OUTPUT_MODULE = "_inplace_lint_target"


def run(order: Dict[str, Any], emit: Callable[[Dict[str, Any]], None]) -> None:
    """Run the target of an order."""
    target = prepared(order)
    if order["entry"]["kind"] in SHARING:
        target.load()
    target.begin(order, emit)
    target.run()


def prepared(order: Dict[str, Any]) -> Target:
    """Watch this process, and have it load the file of an order in the form that the order names."""
    framework = importlib.import_module(order["framework"])
    sys.path[:0] = order["paths"]
    sys.argv = [order["path"]]
    adapter: FrameworkAdapter = _ADAPTERS[order["framework"]](framework, order["device"])
    adapter.settle()
    adapter.count()
    form = Form.of(order["form"]) if order.get("form") else Form("")
    target = Target(order["path"], adapter, Witness(adapter, marks_of(order)), prepare(adapter, form))
    lines = tuple((number, Place(*place)) for number, place in order["lines"])
    repairs = tuple(Form.of(item) for item in order.get("repairs", ()))
    if order.get("numbers") or lines or repairs:
        patched(order["written"], Change((form, *repairs), lines, bool(order.get("numbers"))))
    for path, forms in order.get("beside", {}).items():
        patched(path, Change(tuple(Form.of(item) for item in forms)))
    if form.kind in UNDOING:
        target.watches.undoes, target.forms.undo = target.witness.writes_at, target.undo
    target.forms.counts_nodes = bool(order.get("nodes"))
    target.watches.mends = bool(order.get("numbers"))  # they are compared with those of a run without other faults
    adapter.seed()
    if order.get("gain"):  # watches would keep tensors, and the framework's own checks away
        Meter(adapter, order["gain"]["folder"], counts=order["gain"]["counts"]).start()
    else:
        target.watches.start()
    target.witness.start()
    return target


def marks_of(order: Dict[str, Any]) -> List[Mark]:
    """Return the marks that an order asks for."""
    return [Mark(item["number"], _ranges(item["writes"]), _ranges(item["saves"])) for item in order["marks"]]


def _ranges(places: List[List[Any]]) -> List[Any]:
    return [tuple(place) for place in places]


class Target:
    """What is run, and the records of it; they are kept until `begin` says where to send them."""

    def __init__(self, path: str, adapter: FrameworkAdapter, witness: Witness, forms: Forms) -> None:
        self.path, self.adapter, self.witness, self.forms = path, adapter, witness, forms
        self._kept: List[Dict[str, Any]] = []
        self.emit: Callable[[Dict[str, Any]], None] = self._kept.append
        self.watches = WatchManager(self._pass_on)
        self.loaded: Optional[Answer] = None
        self.order: Dict[str, Any] = {}
        self._imported = set(sys.modules)
        self.broke = False
        self.reached: Set[int] = set()

    def undo(self, number: int) -> Callable[[], None]:
        """Have backward ignore what a statement changes, if it is the place of a mark."""
        is_marked = any(mark.number == number for mark in self.witness.marks)
        return self.watches.undone() if is_marked else lambda: None

    def load(self) -> None:
        """Import the file, whatever comes of it."""
        self.loaded = attempt(lambda: load(self.path))

    def begin(self, order: Dict[str, Any], emit: Callable[[Dict[str, Any]], None]) -> None:
        """Go on with an order, here or in a copy of the process: emit what was kept so far, and all that follows."""
        self.order, self.emit = order, emit
        self.watches.resume()
        self.witness.expect(marks_of(order))
        for record in self._kept:
            emit(record)

    def run(self) -> None:
        """Run it to its end; report which packages of the framework it imported besides."""
        self._run()
        packages = (name for name in sys.modules.keys() - self._imported if name.count(".") == 1)
        inner = self.order["framework"] + "."
        self.emit({"kind": "imported", "names": sorted(name for name in packages if name.startswith(inner))})

    def _run(self) -> None:
        kind, name = self.order["entry"]["kind"], self.order["entry"]["name"]
        if kind == "main":
            self._close(attempt(self._as_program))
            return
        place = self.path if kind != "probe" else name.partition(":")[0]
        loaded = self.loaded or attempt(lambda: load(place))
        if kind == "module" and loaded.error is None:
            self.adapter.note_variables(vars(loaded.value))
        if kind == "module" or loaded.error is not None:
            self._close(loaded, "importing it: " if kind != "module" else "")
            return
        found = attempt(lambda: operator.attrgetter(name.rpartition(":")[2])(loaded.value))
        if found.error is not None:
            self._close(found)
        elif kind in {"call", "probe"}:
            answer = attempt(lambda: self._called(found.value))
            if isinstance(answer.value, self.adapter.layer):
                self._report_end(answer)
                self._try("made", answer.value)
            else:
                self._close(answer)
        else:
            self._try(kind, found.value)

    def _as_program(self) -> None:
        path = self.path
        with open(path, "rb") as file:
            source = file.read()
        module = types.ModuleType("__main__")
        module.__dict__.update(__file__=path, __builtins__=__builtins__)
        sys.modules["__main__"] = module
        sys.path.insert(0, os.path.dirname(path))
        exec(compiled(source, path), module.__dict__)
        self.adapter.note_variables(module.__dict__)

    def _called(self, call: Callable[[], Any]) -> Any:
        """Call a function of the program; backward starts from its result, unless the function ran one itself."""
        before = self.adapter.backwards
        result = call()
        self.adapter.note(result, "the result")
        if self.adapter.backwards == before:
            self.adapter.backward(result)
        return result

    def _try(self, kind: str, value: Any) -> None:
        self.emit({"kind": "made up"})
        trials = Trials(Stage(self.adapter, self._ended, self.order["seconds"] * _SHARE))
        self.witness.begin()
        if kind == "class":
            trials.of_class(value, self.order["entry"].get("method", ""))
        else:
            trials.of_call(value)
        self.emit({"kind": "done", "error": "" if trials.succeeded else trials.problem})

    def _ended(self, answer: Answer) -> Reached:
        """Report the end of one trial; return what was reached by then."""
        self._report_end(answer)
        self.reached |= {mark.number for mark in self.witness.marks if mark.ran}
        self.witness.begin()
        return Reached(bool(self.reached), len(self.reached) == len(self.witness.marks), self.broke)

    def _pass_on(self, record: Dict[str, Any]) -> None:
        """Emit a record of a watch."""
        self.broke = self.broke or "write" in record
        self.emit(record)

    def _close(self, answer: Answer, doing: str = "") -> None:
        self._report_end(answer)
        error = answer.error
        self.emit({"kind": "done", "error": "" if error is None or _is_end(error) else doing + in_words(error)})

    def _report_end(self, answer: Answer) -> None:
        self.watches.ended_by(answer.error)
        for mark in self.witness.marks:
            record = mark.record()
            if record["ran"] or mark.number in self.forms.ran:
                is_complete = record["complete"] and (answer.error is None or _is_end(answer.error))
                self.emit({**record, "complete": bool(is_complete)})
        if self.adapter.meter is not None:
            error = None if answer.error is None or _is_end(answer.error) else in_words(answer.error)
            self.emit(self.adapter.meter.record(error, [mark.number for mark in self.witness.marks if mark.ran]))
        elif self.order.get("numbers"):
            numbers = [] if self.adapter.is_spoiled else [list(one) for one in self.adapter.numbers]
            self.emit({"kind": "numbers", "values": numbers})


def _is_end(error: BaseException) -> bool:
    """Check whether an error is how a program ends that did all it wanted."""
    return isinstance(error, SystemExit) and error.code in {None, 0}


def load(place: str) -> Any:
    """Import a module by its file, under the name it has in its packages, or by its dotted name."""
    if not os.path.exists(place):
        return importlib.import_module(place)
    folder, file = os.path.split(os.path.abspath(place))
    parts: List[str] = [] if file == "__init__.py" else [file[: -len(".py")]]
    while os.path.exists(os.path.join(folder, "__init__.py")):
        folder, package = os.path.split(folder)
        parts.insert(0, package)
    if folder not in sys.path[:1]:
        sys.path.insert(0, folder)
    name = ".".join(parts)
    if len(parts) > 1 or _is_free(name, place):
        module = importlib.import_module(name)
        if os.path.samefile(getattr(module, "__file__", None) or os.devnull, place):
            return module
    spec = importlib.util.spec_from_file_location(_OUTPUT_MODULE, place)
    if spec is None or spec.loader is None:
        msg = "%s is no module" % place
        raise ImportError(msg)
    module = sys.modules[_OUTPUT_MODULE] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _is_free(name: str, place: str) -> bool:
    """Check whether a name means this file, and not a module of the standard library or of a framework."""
    if name in sys.modules or not name.isidentifier():
        return False
    spec = importlib.util.find_spec(name)
    return spec is not None and spec.origin is not None and os.path.samefile(spec.origin, place)
