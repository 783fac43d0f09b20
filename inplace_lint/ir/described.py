"""
What a function does with an argument, as its text says: whether it only reads it, and whether it returns it.

    def documented(cls):
        cls.__doc__ = describe(cls.__init__)     # more than reading it, but nothing that its code depends on
        return cls
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from inplace_lint.ir import nodes as ir
from inplace_lint.ir.walk import walk

Values = frozenset[bool]  # whether a value is the argument; both where it may be, or may hold it or be a part of it
ITSELF, OTHER, EITHER = frozenset({True}), frozenset({False}), frozenset({True, False})
Key = int | str  # the position or the keyword of an argument


class Read(NamedTuple):
    """
    What a function does that only reads what it is given as one parameter.

    `values` says whether it returns that, `methods` are the methods of it that are called, none of which may return it.
    """

    values: Values
    methods: frozenset[str] = frozenset()


Callee = Callable[[ir.Expr, Key], Read | None]

_DOCUMENTATION = frozenset({"__doc__"})
_TEXTS = frozenset({"__doc__", "__name__", "__qualname__", "__module__"})
_LOOK_UP = "get"
_MAKING = frozenset({"set", "list", "dict", "str", "int", "float"})
# Methods that change nothing: those of texts, and some of mappings and lists.
_READING = frozenset({"get", "items", "keys", "values", "copy", *(name for name in dir(str) if name[0] != "_")})


class _Kept(Exception):  # noqa: N818 - no error: the function does more with its argument than to read it
    """Raised where the argument is changed, or given to what may change or keep it."""


def read(function: ir.Function, name: str, callee: Callee) -> Read | None:
    """
    Return what a function does with what it is given as one parameter, if that is no more than to read it.

    None if it may change it, but for its documentation, or keep it. `callee` says the same of functions that it calls.
    """
    if function.is_generator or function.is_async:
        return None
    reader = _Reader(function, name, callee)
    try:
        return reader.run()
    except _Kept:
        return None


class _Reader:
    def __init__(self, function: ir.Function, name: str, callee: Callee) -> None:
        self.function, self.name, self.callee = function, name, callee
        self.held = {name}
        self.itself = ITSELF  # what the parameter stands for: either where the function binds it again
        self.shared: set[str] = set()  # names of enclosing scopes that it binds
        self.inner: dict[str, ir.Function] = {}
        self.returned: set[bool] = set()
        self.methods: set[str] = set()

    def run(self) -> Read:
        before: tuple[Values, set[str]] | None = None
        while before != (self.itself, self.held):
            before = self.itself, {*self.held}
            self.returned = set()
            if not self._block(self.function.body):
                self.returned.add(False)
        return Read(frozenset(self.returned), frozenset(self.methods))

    # -- statements: whether control does not go on behind them --------------------------------------------------------

    def _block(self, body: Sequence[ir.Stmt]) -> bool:
        return any(self._statement(statement) for statement in body)

    def _statement(self, node: ir.Stmt) -> bool:
        match node:
            case ir.Return(_, value):
                self.returned |= self._value(value)
                return True
            case ir.Raise(_, value):
                self._value(value)
                return True
            case ir.If(_, test, body, orelse):
                return self._if(test, body, orelse)
            case ir.Try(_, body, handlers, orelse, final):
                ends = [self._block((*body, *orelse)), *(self._block(handler.body) for handler in handlers)]
                return self._block(final) or all(ends)
            case ir.With(_, items, body):
                for item in items:
                    self._bind(item.target, self._value(item.context))
                return self._block(body)
            case _:
                self._plain(node)
                return False

    def _if(self, test: ir.Expr, body: Sequence[ir.Stmt], orelse: Sequence[ir.Stmt]) -> bool:
        self._value(test)
        if isinstance(test, ir.Name) and self._value(test) == ITSELF:  # a function or class is true
            return self._block(body)
        ends = self._block(body)
        return self._block(orelse) and ends

    def _plain(self, node: ir.Stmt) -> None:
        match node:
            case ir.ExprStmt(_, value) | ir.Assert(_, value):
                self._value(value)
            case ir.Assign(_, targets, value):
                given = self._value(value)
                for target in targets:
                    self._bind(target, given)
            case ir.Declare(_, target, _, value):
                self._bind(target, self._value(value))
            case ir.AugAssign(_, _, target, value):
                given = self._value(value)
                if not self._is_made_here(target):
                    self._refuse(given | self._value(target))
                self._bind(target, given)
            case ir.For(_, target, iterable, body, orelse):
                self._bind(target, self._value(iterable))
                self._block(body)
                self._block(orelse)
            case ir.While(_, test, body, orelse):
                self._value(test)
                self._block(body)
                self._block(orelse)
            case _:
                self._declare(node)

    def _declare(self, node: ir.Stmt) -> None:
        match node:
            case ir.FunctionDef(_, name, function, decorators, _) if name not in self.held:
                self._each(decorators)
                self._enclose(function)
                if not decorators:
                    self.inner[name] = function
            case ir.Scope(_, names):
                self.shared.update(names)
            case ir.ImportName(_, module, alias):
                self._bind(ir.Name(0, alias or module.partition(".")[0]), OTHER)
            case ir.ImportFrom(_, _, _, pairs):
                for name, alias in pairs:
                    self._bind(ir.Name(0, alias or name), OTHER)
            case ir.Jump():
                pass
            case _:
                self._enclose(node)

    def _bind(self, target: ir.Expr | None, given: Values) -> None:
        match target:
            case None:
                pass
            case ir.Name(_, name) if True in given and name in self.shared:
                raise _Kept
            case ir.Name(_, name) if name == self.name:
                self.itself = EITHER
            case ir.Name(_, name) if True in given:
                self.held.add(name)
            case ir.Sequence(_, _, items):
                for item in items:
                    self._bind(item, given)
            case ir.Starred(value):
                self._bind(value, given)
            case ir.Attr(_, value, name) if name in _DOCUMENTATION:
                self._value(value)
            case ir.Attr(_, value, _) | ir.Subscript(_, value, _) if self._reaches(value) or True in given:
                raise _Kept
            case _:
                self._value(target)

    def _is_made_here(self, target: ir.Expr) -> bool:
        """Return whether a variable is only bound to what the function makes: nothing else has what is added."""
        name = target.id if isinstance(target, ir.Name) else ""
        nodes = (node for node in walk(self.function.body) if isinstance(node, ir.Assign))
        values = [
            node.value for node in nodes if any(isinstance(one, ir.Name) and one.id == name for one in node.targets)
        ]
        return bool(values) and name not in self.shared and all(map(_is_made, values))

    def _reaches(self, value: ir.Expr) -> bool:
        """Return whether an expression is a part of the argument: what is set there changes the argument."""
        return any(isinstance(node, ir.Name) and node.id in self.held for node in walk((value,)))

    def _refuse(self, given: Values) -> None:
        if True in given:
            raise _Kept

    def _enclose(self, node: object) -> None:
        """Check that what is defined inside of the function does not use the argument."""
        own = {*node.local, *(param.name for param in node.params)} if isinstance(node, ir.Function) else set[str]()
        for part in walk((node,)):
            names = (part.id,) if isinstance(part, ir.Name) else part.names if isinstance(part, ir.Scope) else ()
            names = (*part.reads, *part.writes) if isinstance(part, ir.Unknown) else names
            if not (self.held - own).isdisjoint(names):
                raise _Kept

    # -- expressions ---------------------------------------------------------------------------------------------------

    def _value(self, expr: ir.Expr | None) -> Values:
        """Return whether the value of an expression is the argument."""
        match expr:
            case ir.Name(_, name):
                return self.itself if name == self.name else EITHER if name in self.held else OTHER
            case ir.Call():
                return self._call(expr)
            case ir.Attr(_, value, name):
                return EITHER if True in self._value(value) and name not in _TEXTS else OTHER
            case ir.Unary(_, _, value):
                return self._each((value,))
            case ir.BoolOp(_, _, values):
                return frozenset[bool]().union(*map(self._value, values))
            case ir.IfExp(_, test, then, orelse):
                self._value(test)
                return self._value(then) | self._value(orelse)
            case ir.NamedExpr(_, target, value):
                given = self._value(value)
                self._bind(target, given)
                return given
            case ir.Comprehension(_, _, key, element, clauses):
                for clause in clauses:
                    self._bind(clause.target, self._value(clause.iter))
                    self._each(clause.conditions)
                return self._each((key, element))
            case _:
                return self._made_of(expr)

    def _made_of(self, expr: ir.Expr | None) -> Values:
        """Return the same of a value that is made of others."""
        match expr:
            case ir.Compare(_, left, _, parts) | ir.Format(left, parts, _):
                self._each(parts if isinstance(left, int) else (left, *parts))
                return OTHER
            case ir.Subscript(_, value, key) | ir.Binary(_, _, value, key):
                return self._each((value, key))
            case ir.SliceExpr(lower, upper, step):
                return self._each((lower, upper, step))
            case ir.Sequence(_, _, items):
                return self._each(items)
            case ir.DictDisplay(_, pairs):
                return self._each([part for pair in pairs for part in pair])
            case ir.Starred(value):
                return self._value(value)
            case None | ir.Const():
                return OTHER
            case _:
                self._enclose(expr)
                return OTHER

    def _each(self, exprs: Sequence[ir.Expr | None]) -> Values:
        """Return whether what is made of some values may hold the argument."""
        values = [self._value(expr) for expr in exprs]
        return EITHER if any(True in value for value in values) else OTHER

    def _call(self, call: ir.Call) -> Values:
        found = self._method(call.func)
        for key, value in (*enumerate(call.args), *((keyword.name, keyword.value) for keyword in call.keywords)):
            passed = self._value(value)
            if True in passed:
                done = None if key is None or isinstance(value, ir.Starred) else self._called(call.func, key)
                if done is None or (passed != ITSELF and not done.methods <= _READING):
                    raise _Kept
                self.methods |= done.methods if passed == ITSELF else set()
                found.append(done.values if passed == ITSELF or True not in done.values else EITHER)
        if len(found) == 1:
            return found[0]
        return EITHER if any(True in values for values in found) else OTHER

    def _method(self, func: ir.Expr) -> list[Values]:
        """Look at what is called; return what a method of what may be a part of the argument may return."""
        match func:
            case ir.Name(_, name) if name in self.inner:
                return []
            case ir.Attr(_, value, name):
                owner = self._value(value)
                if owner == ITSELF:
                    self.methods.add(name)
                elif True in owner and name not in _READING:
                    raise _Kept
                return [EITHER] if True in owner and owner != ITSELF else []
            case _:
                self._refuse(self._value(func))
                return []

    def _called(self, func: ir.Expr, key: Key) -> Read | None:
        """Return what a function does with an argument; None for one that is a variable."""
        inner = self.inner.get(func.id) if isinstance(func, ir.Name) else None
        if inner is not None:
            name = parameter(inner, key)
            return None if name is None else read(inner, name, self._called)
        first = func.value if isinstance(func, ir.Attr) else func
        if isinstance(first, ir.Const | ir.Format):  # a method of a text
            return Read(OTHER)
        if isinstance(func, ir.Attr) and func.name == _LOOK_UP:
            return Read(EITHER)
        own = {*self.function.local, *(param.name for param in self.function.params)}
        return None if isinstance(first, ir.Name) and first.id in own else self.callee(func, key)


def _is_made(value: ir.Expr) -> bool:
    """Return whether an expression makes an object: a display, or a call such as `set()`."""
    if isinstance(value, ir.Call):
        return isinstance(value.func, ir.Name) and value.func.id in _MAKING
    return isinstance(value, ir.Const | ir.Format | ir.Sequence | ir.DictDisplay | ir.Comprehension)


def parameter(function: ir.Function, key: Key) -> str | None:
    """Return the name of the parameter that takes an argument; None for one of several that are collected."""
    plain = [param.name for param in function.params if param.kind in {"positional-only", "plain"}]
    if isinstance(key, int):
        return plain[key] if key < len(plain) else None
    named = {param.name for param in function.params if param.kind in {"plain", "keyword-only"}}
    return key if key in named else None
