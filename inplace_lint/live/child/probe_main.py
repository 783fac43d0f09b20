"""
Finds out what an operator does by calling it: `RESULT MODULE:FUNCTION ARGUMENTS`; the last are as in a call, or empty.

What was seen goes to the file RESULT as a line of JSON: an entry in the format of `rules/ops/README.md`, or the reason
why there is none. Each question takes a call of its own, on new tensors with the same values; what is written behind
the version counter is found by its values, so that the tensors of a call differ, and a second call has others.
"""

from __future__ import annotations

import importlib
import json
import operator
import os
import sys
import warnings
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple, Type

from .attempt import attempt, in_words
from .probing.arguments import guesses, of_text
from .probing.signatures import argument_names, bound, signature_of, unfit

_STALE = "modified by an inplace operation"
# What a write to a view is refused with, and what that says of the view.
_REFUSED_VIEWS = {"returns multiple views": "multi", "more than one element of the written-to tensor": "expanded"}


class Undescribed(Exception):  # noqa: N818 - what an operator is
    """No fact can say what an operator does; the text says what that is."""


class Call(NamedTuple):
    """
    A call that was made: its tensors by key, their versions before, what it returned, and its error.

    The key of a tensor is the name of its argument, or that with a place in it: `params[0]`.
    """

    tensors: Dict[str, Any]
    versions: Dict[str, int]
    result: Any
    error: Optional[BaseException]


class Probe:
    """One operator of PyTorch, with arguments on which it runs; `torch` is the framework."""

    stale = _STALE

    @staticmethod
    def framework() -> Any:
        """Return the framework."""
        return importlib.import_module("torch")

    def __init__(self, torch: Any, function: Callable[..., Any], given: Dict[str, Any]) -> None:
        self.torch, self.function, self.given = torch, function, given
        self.signature = signature_of(function)
        self.owners = {key: name for name, value in given.items() for key, _ in self.leaves(name, value)}
        self.values = {key: one for name, value in given.items() for key, one in self.leaves(name, value)}

    def leaves(self, key: str, value: Any) -> Iterator[Tuple[str, Any]]:
        """Yield the tensors in an argument, by key."""
        if isinstance(value, self.torch.Tensor):
            yield key, value
        elif isinstance(value, (list, tuple)):
            for position, one in enumerate(value):
                yield from self.leaves(f"{key}[{position}]", one)
        elif isinstance(value, dict):
            for name, one in value.items():
                yield from self.leaves(f"{key}[{name!r}]", one)

    def with_tensors(self, key: str, value: Any, tensors: Dict[str, Any]) -> Any:
        """Return an argument with other tensors in it."""
        if key in tensors:
            return tensors[key]
        if isinstance(value, (list, tuple)):
            items = [self.with_tensors(f"{key}[{position}]", one, tensors) for position, one in enumerate(value)]
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        if isinstance(value, dict):
            return {name: self.with_tensors(f"{key}[{name!r}]", one, tensors) for name, one in value.items()}
        return value

    def call(self, change: Optional[Callable[[str, Any], Any]] = None) -> Call:
        """Call the operator on copies of its arguments, which are results of operations; `change` changes some."""
        tensors = {key: self.copy(one) for key, one in self.values.items()}
        if change is not None:
            tensors = {name: change(name, tensor) for name, tensor in tensors.items()}
        versions = {name: self.version(tensor) for name, tensor in tensors.items()}
        given = {name: self.with_tensors(name, value, tensors) for name, value in self.given.items()}
        positional, named = bound(self.signature, given)
        result, error = attempt(lambda: self.function(*positional, **named))
        return Call(tensors, versions, result, error)

    def copy(self, tensor: Any) -> Any:
        """Return a tensor of the same values, with a history if it can have one."""
        fresh = tensor.detach().clone()
        return fresh.requires_grad_() * 1 if fresh.is_floating_point() else fresh

    def version(self, tensor: Any) -> int:
        """Return how often a tensor was written; 0 for one that does not count."""
        return 0 if tensor.is_inference() else int(tensor._version)

    def fact(self, op: str) -> Dict[str, Any]:
        """Return the entry of the operator."""
        called = self.call()
        row: Dict[str, Any] = {"op": op, "args": argument_names(self.signature)}
        written = [*self.writes(called)]
        keys = [one["to"] for one in written]
        history = self.history(keys)
        saved = [*self.saves(keys)]
        found = {
            "writes": self.by_argument(written, "to", "writes"),
            "saves": self.by_argument(saved, "of", "saves"),
            "grads": self.grads(),
            "history": history,
        }
        row.update((key, value) for key, value in found.items() if value or (key == "grads" and value is not None))
        row["returns"] = [self.returns(called, called.result)]
        version = self.torch.__version__.partition("+")[0]
        device = self.device(called)
        return {**row, "source": f"run on {self.torch.__name__} {version}, {device}", "probed": [version]}

    def by_argument(self, rows: List[Dict[str, Any]], name: str, does: str) -> List[Dict[str, Any]]:
        """
        Return what was seen of tensors as what is said of arguments.

        Raises: `Undescribed` where it is not the same for all tensors in an argument, or the argument has no name.
        """
        found: Dict[str, List[Dict[str, Any]]] = {}
        for row in rows:
            owner = self.owners.get(row[name], row[name])
            found.setdefault(owner, []).append({**row, name: owner})
        for owner, alike in found.items():
            inside = [key for key in self.owners if self.owners[key] == owner]
            if inside and (len(alike) < len(inside) or any(one != alike[0] for one in alike)):
                msg = f"it {does} only some of the tensors in {owner!r}, or not all of them alike"
                raise Undescribed(msg)
            if inside and owner not in self.signature.parameters:
                msg = f"it {does} {owner!r}, which is no parameter of it"
                raise Undescribed(msg)
        return [alike[0] for alike in found.values()]

    def device(self, called: Call) -> str:
        """Return where the tensors of a call are."""
        return next((str(one.device.type) for one in called.tensors.values()), "cpu")

    def equal(self, one: Any, other: Any) -> bool:
        """Check whether two tensors have the same values."""
        return bool(self.torch.equal(one.detach(), other.detach()))

    def writes(self, called: Call) -> Iterator[Dict[str, Any]]:
        """Yield what the call writes, by key, with what is refused before."""
        before: Dict[str, Any] = {}

        def varied(key: str, tensor: Any) -> Any:
            changed = tensor * -(1 + (1 + len(before)) / 8) if tensor.is_floating_point() else tensor
            before[key] = self.copy(changed)
            return changed

        again = self.call(varied)
        for key, tensor in called.tensors.items():
            counted = self.version(tensor) != called.versions[key]
            other = again.error is None and not self.equal(again.tensors[key], before[key])
            if counted or other or not self.equal(tensor, self.values[key]):
                checks = [word for word, change in self.unfit(self.owners[key]).items() if self.refuses(change)]
                yield {"to": key, "counted": counted, **({"checks": checks} if checks else {})}

    def unfit(self, wanted: str) -> Dict[str, Callable[[str, Any], Any]]:
        """Return for each check how an argument is made that does not pass it."""
        torch = self.torch

        def as_leaf(tensor: Any) -> Any:
            return tensor.detach().requires_grad_()

        def unrecorded(tensor: Any) -> Any:
            with torch.no_grad():
                return tensor.view(tensor.shape)

        def inference(tensor: Any) -> Any:
            with torch.inference_mode():
                return tensor.detach().clone()

        makes = {
            "leaf": as_leaf,
            "leaf_view": lambda tensor: as_leaf(tensor).view(tensor.shape),
            "multi_view": lambda tensor: (tensor * 1).split(len(tensor))[0],
            "no_grad_view": unrecorded,
            "inference": inference,
            "overlap": lambda tensor: tensor[:1].detach().clone().expand(tensor.shape),
        }

        def only(make: Callable[[Any], Any]) -> Callable[[str, Any], Any]:
            def change(key: str, tensor: Any) -> Any:
                return make(tensor) if self.owners[key] == wanted and tensor.is_floating_point() else tensor

            return change

        return {word: only(make) for word, make in makes.items()}

    def refuses(self, change: Callable[[str, Any], Any]) -> bool:
        """Check whether the call is refused where it was not before."""
        return self.call(change).error is not None

    def history(self, written: List[str]) -> str:
        """Return what becomes of the history of the first tensor that is written; empty for what is usual."""
        before: Dict[str, Any] = {}

        def note(name: str, tensor: Any) -> Any:
            before[name] = tensor.grad_fn
            return tensor

        again = self.call(note)
        for name in written[:1]:
            after = again.tensors[name]
            if before[name] is not None and not after.requires_grad:
                return "cut"
            if before[name] is not None and after.grad_fn is before[name]:
                return "keep_old"
        return ""

    def saves(self, written: List[str]) -> Iterator[Dict[str, Any]]:
        """
        Yield what backward needs: it raises where the tensor was written after the call, or has another result.

        What the call itself writes is kept as it is after that, which is as a result.
        """
        usual = self.gradients(self.call())
        if usual is None:
            return
        for name in self.values:
            if name not in written:
                yield from self.saved(name, lambda called, name=name: called.tensors[name], usual)  # type: ignore[misc]
        called = self.call()
        others = [tensor for name, tensor in called.tensors.items() if name not in written]
        for position, result in enumerate(_several(called.result)):
            if not any(result is one for one in others):
                yield from self.saved(f"out{position}", lambda called, at=position: _several(called.result)[at], usual)  # type: ignore[misc]

    def saved(self, name: str, pick: Callable[[Call], Any], usual: Dict[str, Any]) -> Iterator[Dict[str, Any]]:
        """Yield the save of one tensor, if backward needs it."""
        called = self.call()
        tensor = pick(called)
        if not isinstance(tensor, self.torch.Tensor):
            return
        outputs = [one.view_as(one) if one is tensor else one for one in self.outputs(called)]
        with self.torch.no_grad():
            _, refused = attempt(lambda: tensor.copy_(tensor.clone()))
        if refused is None:
            _, error = attempt(lambda: self.backward(outputs))
            if error is not None and self.stale in str(error):
                yield {"of": name}
                return
        if not tensor.is_floating_point():
            return
        called = self.call()
        _, refused = attempt(lambda: pick(called).data.add_(1))
        after = self.gradients(called) if refused is None else None
        if after is not None and not all(self.alike(usual[key], after[key]) for key in usual):
            yield {"of": name, "checked": False}

    def alike(self, one: Any, other: Any) -> bool:
        """Check whether two gradients are the same."""
        return (one is None) == (other is None) and (one is None or bool(self.torch.allclose(one, other)))

    def outputs(self, called: Call) -> List[Any]:
        """Return the tensors in a result, or what was written, that have a history."""
        found = [*_several(called.result)] or [*called.tensors.values()]
        return [one for one in found if isinstance(one, self.torch.Tensor) and one.requires_grad]

    def backward(self, outputs: List[Any]) -> None:
        """Run the backward of what has a history."""
        self.torch.autograd.backward([one.sum() for one in outputs])

    def gradients(self, called: Call) -> Optional[Dict[str, Any]]:
        """Return the gradients of the arguments; None where there is no backward."""
        floats = {name: one for name, one in called.tensors.items() if one.is_floating_point()}
        outputs = self.outputs(called)
        sums = [one.sum() for one in outputs]
        made, error = attempt(lambda: self.torch.autograd.grad(sums, [*floats.values()], allow_unused=True))
        if error is not None or not outputs:
            return None
        return {name: made[position] for position, name in enumerate(floats)}

    def grads(self) -> Optional[List[str]]:
        """Return the arguments through which a gradient flows; None where it is all of them, or there are none."""
        called = self.call()
        found = self.gradients(called)
        if found is None:
            return None if self.outputs(called) else []
        own = any(one is result for one in called.tensors.values() for result in _several(called.result))
        through = [key for key, one in found.items() if one is not None]
        return None if own or len(through) == len(found) else [*dict.fromkeys(self.owners[key] for key in through)]

    def returns(self, called: Call, result: Any) -> Dict[str, Any]:
        """Return what a result is."""
        if isinstance(result, (tuple, list)):
            return {"is": "tuple", "items": [self.returns(called, one) for one in result]}
        if not isinstance(result, self.torch.Tensor):
            if any(True for _ in self.leaves("", result)):
                msg = f"it returns tensors in a {type(result).__name__}"
                raise Undescribed(msg)
            return {"is": "value", "kind": "none"} if result is None else {"is": "value"}
        for key, tensor in called.tensors.items():
            if result is tensor and key in self.signature.parameters:
                return {"is": key}
        for key, tensor in called.tensors.items():
            if self.shares(result, tensor):
                return self.shared(key, tensor, result)
        return {"is": "fresh"}

    def shared(self, key: str, tensor: Any, result: Any) -> Dict[str, Any]:
        """Return what a result is that has the memory of a tensor; which one of several, no fact says."""
        owner = self.owners[key]
        if owner not in self.signature.parameters:
            msg = f"it returns {owner!r}, which is no parameter of it, or a view of that"
            raise Undescribed(msg)
        return {"is": "view", "of": key, **self.kind(tensor, result)} if owner == key else {"is": "maybe", "of": owner}

    def shares(self, one: Any, other: Any) -> bool:
        """Check whether two tensors have the same memory."""
        return bool(one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr())

    def kind(self, tensor: Any, result: Any) -> Dict[str, str]:
        """Return the kind of a view, where it is not the usual one."""
        if result._is_view():
            _, error = attempt(lambda: result.mul_(1))
            return next(({"kind": kind} for text, kind in _REFUSED_VIEWS.items() if text in str(error)), {})
        before = self.version(tensor)
        with self.torch.no_grad():
            result.copy_(result.clone())
        return {"kind": "detach" if self.version(tensor) != before else "untracked"}


def _several(result: Any) -> List[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [] if result is None else [result]


def _found(name: str, text: str) -> Dict[str, Any]:
    """Return the entry of an operator, or the reason why there is none."""
    module, _, path = name.partition(":")
    function, error = attempt(lambda: operator.attrgetter(path)(importlib.import_module(module)))
    if error is not None:
        return {"problem": f"{name}: {type(error).__name__}: {error}"}
    kind = _kind_of(text)
    torch = kind.framework()
    torch.manual_seed(0) if hasattr(torch, "manual_seed") else torch.seed(0)
    reason = unfit(function)
    if reason:
        return {"problem": f"{name}: {reason}; write a function around it"}
    if text:
        given, error = attempt(lambda: of_text(torch, function, text))
        if error is not None:
            return {"problem": f"--args: {type(error).__name__}: {error}"}
        candidates: Iterator[Dict[str, Any]] = iter([given])
    else:
        candidates = guesses(torch, function)
    first = None
    for given in candidates:
        probe = kind(torch, function, given)
        error = probe.call().error
        if error is None:
            fact, error = attempt(lambda probe=probe: probe.fact(f"{module}.{path}"))  # type: ignore[misc]
            if isinstance(error, Undescribed):
                return {"problem": f"{name}: {error}, which no fact can say"}
            if error is not None:
                raise error
            return fact  # type: ignore[no-any-return]
        first = first or error
    hint = (
        "it does not take these arguments" if text else "no arguments were found that it takes; give them with --args"
    )
    return {"problem": f"{name}: {hint} ({type(first).__name__}: {first})"}


def _kind_of(text: str) -> Type[Probe]:
    """Return how an operator is probed: of the framework that its arguments are of, or that its module imports."""
    from .probe_paddle import PaddleProbe  # noqa: PLC0415 - derives from the class above

    of_paddle = "paddle." in text or ("paddle" in sys.modules and "torch" not in sys.modules)
    return PaddleProbe if of_paddle and "torch." not in text else Probe


def main() -> None:
    """Write what was found to the file that the command line names."""
    target, name, text = sys.argv[1:4]
    os.environ.setdefault("GLOG_minloglevel", "3")  # Paddle logs each error of a backward that we ask for
    sys.path.insert(0, os.getcwd())
    warnings.simplefilter("ignore")
    found, error = attempt(lambda: _found(name, text))
    if error is not None:
        found = {"problem": f"{name}: {in_words(error)}"}
    with open(target, "w", encoding="utf-8") as file:
        json.dump(found, file)
