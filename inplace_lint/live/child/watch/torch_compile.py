"""
Watching what `torch.compile` makes: writes to memory that overlaps, which PyTorch refuses and compiled code carries
out.

What is compiled arrives as a graph of calls on tensors without memory, each with the lines of the program that it comes
from. A write in it whose tensors overlap is reported once the compiled code has run: some compilers refuse it too.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import re
from types import TracebackType
from typing import Any, Callable, Dict, Iterator, Optional, Tuple

from .ledger import Ledger
from .patches import Patches

_LINE = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')
_MOST = 32  # elements of an axis that are looked at
_AUGMENTED = {"iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "iand", "ior", "ixor"}


def patch(torch: Any, ledger: Ledger, patches: Patches) -> None:
    """Look at everything that is compiled until the patches are closed."""
    original = torch.compile
    is_watched = False

    @functools.wraps(original)
    def compile(*args: Any, **options: Any) -> Any:  # noqa: A001 - the framework's own name
        nonlocal is_watched
        if not is_watched:
            is_watched = True
            _patch_compiler(torch, ledger, patches)
        return original(*args, **options)

    patches.replace(torch, "compile", compile)


def _patch_compiler(torch: Any, ledger: Ledger, patches: Patches) -> None:
    """
    Look at each graph before it is compiled; the compiler is not imported before the program asks for it.

    It compiles whatever Python runs below a compiled function, and must leave our own hooks alone.
    """
    skipping = [f"torch._dynamo.{name}" for name in ("trace_rules", "skipfiles")]
    importlib.import_module(next(name for name in skipping if importlib.util.find_spec(name))).add(__package__)
    graphs = getattr(importlib.import_module("torch._dynamo.output_graph"), "OutputGraph", None)
    original = getattr(graphs, "call_user_compiler", None)
    if graphs is None or original is None:
        return

    @functools.wraps(original)
    def call_user_compiler(self: Any, module: Any, *args: Any, **options: Any) -> Any:
        writes = list(_overlapping(torch, module.graph))
        made = original(self, module, *args, **options)
        return _reporting(made, writes, ledger) if writes else made

    patches.replace(graphs, "call_user_compiler", call_user_compiler)


def _reporting(made: Callable[..., Any], writes: Any, ledger: Ledger) -> Callable[..., Any]:
    @functools.wraps(made)
    def run(*args: Any, **options: Any) -> Any:
        result = made(*args, **options)
        for check, op, at in writes:
            write = {"op": op, "at": at, "layer": "", "flag": None, "built": None, "step": "", "parameter": False}
            fields = {"framework": "torch", "check": check, "write": write}
            ledger.report("accepted", (check, at["path"], at["line"]), fields)
        return result

    return run


def raised_at(trace: TracebackType) -> Optional[Dict[str, Any]]:
    """Return the line of the program that stands behind the innermost line of a graph in which an error was raised."""
    found = None
    walk: Optional[TracebackType] = trace
    while walk is not None:
        module: Any = walk.tb_frame.f_locals.get("self")
        numbers = getattr(module, "_lineno_map", None) if walk.tb_frame.f_code.co_name == "forward" else None
        at = numbers.get(walk.tb_lineno - getattr(module, "_prologue_start", 0)) if numbers else None
        if at is not None:
            found = _at(list(module.graph.nodes)[at].meta.get("stack_trace", "")) or found
        walk = walk.tb_next
    return found


def _overlapping(torch: Any, graph: Any) -> Iterator[Tuple[str, str, Dict[str, Any]]]:
    """Return the writes of a graph that would be refused: the check, the op, and where the program writes."""
    for node in graph.nodes:
        op = getattr(node.target, "__name__", str(node.target))
        is_call = op.endswith("_") and not op.startswith("__") and node.op in {"call_method", "call_function"}
        if not (is_call or op in _AUGMENTED) or not node.args:
            continue
        at = _at(node.meta.get("stack_trace", ""))
        values = [getattr(item, "meta", {}).get("example_value") for item in node.args]
        tensors = [value for value in values if isinstance(value, torch.Tensor)]
        if at is None or not tensors or values[0] is not tensors[0]:
            continue
        if _repeats(tensors[0]):
            yield "overlap", op, at
        elif any(_overlap(tensors[0], other) for other in tensors[1:]):
            yield "operands_overlap", op, at


def _repeats(tensor: Any) -> bool:
    """Check whether a tensor has several elements in one place."""
    return any(count > 1 and step == 0 for count, step in zip(tensor.shape, tensor.stride()))  # noqa: B905 - Python 3.8


def _overlap(one: Any, other: Any) -> bool:
    """Check whether two tensors share a part of their memory, and are not the same."""
    if one.untyped_storage()._cdata != other.untyped_storage()._cdata:
        return False
    mine, theirs = ((int(item.storage_offset()), tuple(item.shape), tuple(item.stride())) for item in (one, other))
    if mine == theirs:
        return False
    start = min(mine[0], theirs[0])
    reached = []
    for offset, size, stride in (mine, theirs):
        places = {offset - start}
        for count, step in zip(size, stride):  # noqa: B905 - Python 3.8
            places = {place + step * at for place in places for at in range(min(int(count), _MOST))}
        reached.append(places)
    return not reached[0].isdisjoint(reached[1])


def _at(trace: str) -> Optional[Dict[str, Any]]:
    """Return the last line of a stack in words, as a position whose columns are not known."""
    found = _LINE.findall(trace)
    if not found:
        return None
    path, line, function = found[-1]
    place = {"path": os.path.abspath(path), "function": function, "first": int(line), "line": int(line)}
    return {**place, "end_line": None, "column": None, "end_column": None}
