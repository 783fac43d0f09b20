"""
What other methods have counted and collected by the time that a method is called.

    def remember(self, x):
        self.memory.append(x)

    def learn(self):
        if len(self.memory) < 64:       # nothing below is run on what the constructor leaves alone
            return

Numbers that others count up, and lists that they fill, are then not known: here, and in the plain objects that it has.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec.structs import replace

from inplace_lint.domain import origins
from inplace_lint.domain.heap import Instance, ListObject
from inplace_lint.domain.state import State
from inplace_lint.domain.values import ClassValue, Closure, Const, Ref, Value
from inplace_lint.effects import schedule
from inplace_lint.effects.summary import Definition
from inplace_lint.interp.expr import environment
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.options import late_turns
from inplace_lint.interp.options.coverage import Choice
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.walk import walk
from inplace_lint.workspace import trainers


def states(interp: Interpreter, frame: Frame, state: State, method: Closure, receiver: Value) -> list[State]:
    """Return the states that a method is run on: as the constructor left its object, and after calls of its methods."""
    found = late_turns.of_calls(interp, frame, state, method, receiver)
    later = _after_calls(interp, state, method.function, receiver, counts=len(found) == 1)
    return found if later is None else [*found, later]


def in_module(interp: Interpreter, state: State, item: Definition, value: Value) -> list[State]:
    """
    Return the states that a function is run on: as the module left its variables, and after calls that fill these.

    One that a statement has run, and that training code `is_kept_out` of, is run on the latter alone.
    """
    if not isinstance(value, Closure):
        return []
    later, changed, filled = state.fork(), False, _filled_variables(interp, item)
    asked = {part.id for part in walk(_tests(value.function)) if isinstance(part, ir.Name)}
    bound = (name for one in interp.context.outline.items if one.kind == "statement" for name in one.binds)
    for name in sorted(asked.intersection(bound)):
        held = environment.module_variable(interp, later, interp.context.path, name)
        inner, part = later.object(held), later.instance(held)
        if isinstance(held, Ref) and isinstance(inner, ListObject) and inner.exact and name in filled:
            later.put(held, replace(inner, exact=False))
            changed = True
        elif isinstance(held, Ref) and part is not None and _is_plain(interp, part):
            changed = _change(interp, later, held, part, None, None) or changed
    is_first = interp.context.coverage.choice == Choice()
    ran = is_first and schedule.key(item) in interp.fuel.returned and is_kept_out(interp, item)
    return [*([] if ran else [state]), *([later] if changed else [])]


def is_kept_out(interp: Interpreter, item: Definition) -> bool:
    """Return whether a function asks for a gradient, and reads variables that other code of its module fills."""
    return item.kind == "function" and trainers.asks(item) and bool(_filled_variables(interp, item))


def _filled_variables(interp: Interpreter, item: Definition) -> frozenset[str]:
    """Return the variables of a module that a function reads, and other code calls methods of that it does not."""
    items = interp.context.outline.items
    bound = item.reads.intersection(name for one in items if one.kind == "statement" for name in one.binds)
    called = (call.partition(".") for one in items if one is not item for call in one.calls - item.calls)
    return frozenset(name for name, _, method in called if name in bound and method)


def _after_calls(
    interp: Interpreter, state: State, function: ir.Function, receiver: Value, *, counts: bool
) -> State | None:
    """
    Return a state in which what a condition of a method reads was counted or filled; None if nothing was.

    Unless the method itself `counts`, only by others.
    """
    instance = state.instance(receiver)
    if instance is None or not isinstance(receiver, Ref) or not function.params:
        return None
    asked = frozenset[str]().union(
        *(_asked(interp, state, instance, one) for one in _with_called(interp, state, instance, function))
    )
    later, changed = state.fork(), False
    held = (item for name in sorted(asked) for item in _items(state, instance.attrs[name]))
    for ref, names in ((receiver, asked), *((item, None) for item in held)):
        part = later.instance(ref) if isinstance(ref, Ref) else None
        if isinstance(ref, Ref) and part is not None and (part is instance or _is_plain(interp, part)):
            changed = _change(interp, later, ref, part, names, None if counts else function) or changed
    return later if changed else None


def _is_plain(interp: Interpreter, part: Instance) -> bool:
    return isinstance(part.cls, ClassValue) and interp.context.is_module(part.cls) is None


def _tests(function: ir.Function) -> tuple[ir.Expr, ...]:
    parts = (part for part in walk(function.body) if isinstance(part, ir.If | ir.IfExp | ir.While | ir.Assert))
    return tuple(part.test for part in parts)


def _items(state: State, value: Value) -> tuple[Value, ...]:
    inner = state.object(value)
    return inner.items if isinstance(inner, ListObject) else (value,)


def _with_called(interp: Interpreter, state: State, instance: Instance, function: ir.Function) -> list[ir.Function]:
    """Return a method and those of its object that it calls, also through one of them: `self.learn(batch)`."""
    found = [function]
    for one in found:
        owner = one.params[0].name
        for part in walk(one.body):
            if isinstance(part, ir.Call) and isinstance(part.func, ir.Attr) and _is_owner(part.func.value, owner):
                called = interp.lookup(state, instance.cls, part.func.name)
                if isinstance(called, Closure) and called.function.params and called.function not in found:
                    found.append(called.function)
    return found


def _asked(interp: Interpreter, state: State, instance: Instance, function: ir.Function) -> frozenset[str]:
    """Return the attributes that conditions of a method read, also by a method that they call, and by variables."""
    owner, tests = function.params[0].name, _tests(function)
    read = {part.id for part in walk(tests) if isinstance(part, ir.Name)} - {owner}
    sets = (part for part in walk(function.body) if isinstance(part, ir.Assign)) if read else ()
    values = [one.value for one in sets if any(isinstance(to, ir.Name) and to.id in read for to in one.targets)]
    found = _attributes((*tests, *values), owner)
    for name in found - instance.attrs.keys():
        called = interp.lookup(state, instance.cls, name)
        if isinstance(called, Closure) and called.function.params:
            found |= _attributes(called.function.body, called.function.params[0].name)
    return found & instance.attrs.keys()


def _attributes(body: Sequence[ir.Stmt | ir.Expr], owner: str) -> frozenset[str]:
    parts = (part for part in walk(tuple(body)) if isinstance(part, ir.Attr))
    return frozenset(part.name for part in parts if _is_owner(part.value, owner))


def _change(
    interp: Interpreter,
    state: State,
    ref: Ref,
    instance: Instance,
    names: Collection[str] | None,
    but: ir.Function | None,
) -> bool:
    """Make unknown what methods of an object, `but` one, count or fill, of some attributes or all; return if any is."""
    kinds = {name: value for name, value in instance.attrs.items() if names is None or name in names}
    numbers = {name for name, value in kinds.items() if type(value) is Const and type(value.value) is int}
    lists = {name: value for name, value in kinds.items() if isinstance(state.object(value), ListObject)}
    if not numbers and not lists:
        return False
    methods = [one for one in _methods(interp, state, instance.cls) if but is None or one.slice != but.slice]
    counted = numbers.intersection(name for one in methods for name in _counted(one))
    filled = lists.keys() & {name for one in methods for name in _filled(one)}
    unknown = {name: state.symbols.sym((origins.VALUE, "counted", ref, name), "number") for name in sorted(counted)}
    if unknown:
        state.put(ref, replace(instance, attrs={**instance.attrs, **unknown}))
    for name in filled:
        inner, value = state.object(lists[name]), lists[name]
        if isinstance(inner, ListObject) and isinstance(value, Ref):
            state.put(value, replace(inner, exact=False))
    return bool(unknown or filled)


def _methods(interp: Interpreter, state: State, cls: Value) -> Iterator[ir.Function]:
    """Yield the methods of a class of the program, and of those that it derives from, but for constructors."""
    classes = [entry for entry in interp.context.mro(cls) if isinstance(entry, ClassValue)]
    for name in dict.fromkeys(name for entry in classes for name in entry.methods if name != "__init__"):
        found = interp.lookup(state, cls, name)
        if isinstance(found, Closure) and found.function.params:
            yield found.function


def _counted(function: ir.Function) -> Iterator[str]:
    """Yield the attributes that a method changes by what they are: `self.size = min(self.size + 1, self.limit)`."""
    owner = function.params[0].name
    for part in walk(function.body):
        match part:
            case ir.AugAssign(target=ir.Attr(value=whole, name=name)) if _is_owner(whole, owner):
                yield name
            case ir.Assign(targets=targets, value=value):
                yield from _attributes(targets, owner) & _attributes((value,), owner)
            case _:
                pass


def _filled(function: ir.Function) -> Iterator[str]:
    """Yield the attributes that a method puts items into: `self.memory.append(x)`."""
    owner = function.params[0].name
    for part in walk(function.body):
        match part:
            case ir.Call(func=ir.Attr(value=ir.Attr(value=whole, name=name), name=called)):
                if called in late_turns.FILLS and _is_owner(whole, owner):
                    yield name
            case _:
                pass


def _is_owner(expr: ir.Expr, owner: str) -> bool:
    return isinstance(expr, ir.Name) and expr.id == owner
