"""
Kernels of Triton, which write memory behind the framework's back.

    @triton.jit
    def scale(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) * 2)     # writes what is passed as `out_ptr`

    scale[grid](x, h, n, BLOCK=64)      # `h` is written: not counted, not recorded and never refused
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import Struct, field

from inplace_lint.domain import origins
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Closure, Dotted, Partial, Ref, Sym, Value
from inplace_lint.interp.call import closures
from inplace_lint.interp.context import Declared
from inplace_lint.interp.control import path_condition
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.intrinsics.call import IntrinsicCall
from inplace_lint.interp.outcome import Results
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.walk import walk
from inplace_lint.knowledge.argument import Argument
from inplace_lint.knowledge.op import Op, ReturnFact, WriteFact
from inplace_lint.knowledge.words import ArgumentKind, History, Result

_RUN = ".run"
# What a condition on the arguments of a launch is made of: it is decided without running anything of the program.
_PLAIN = (ir.Const, ir.Name, ir.Compare, ir.BoolOp, ir.Unary)


def is_kernel(value: Value) -> bool:
    """Check whether a value is a kernel; with a grid, `kernel[grid]`, it is one as well."""
    return isinstance(value, Partial) and isinstance(value.function, Dotted) and value.function.name.endswith(_RUN)


def _jit(act: IntrinsicCall) -> Results:
    """Return a function as a kernel; without a function, the decorator."""
    function = act.positional(0)
    if isinstance(function, Closure):
        return [(act.state, Partial(Dotted(f"{act.form.name}{_RUN}"), (function,), ()))]
    return [(act.state, Partial(Dotted(act.form.name), (), act.arguments.keywords))]


def _launch(act: IntrinsicCall) -> Results:
    """Run a kernel: it writes the memory of some of its arguments."""
    kernel = act.positional(0)
    if not isinstance(kernel, Closure):
        return [(act.state, act.unknown())]
    given = act.arguments
    rest = given.rest()
    name = f"{act.form.name.removesuffix(_RUN)}.{kernel.function.qualname}"
    stored, perhaps = _stored(act, kernel, rest)
    if not stored | perhaps:
        return [(act.state, NONE)]
    doubt = frozenset({f"a flag that is not known makes `{kernel.function.qualname}` store"} if perhaps else ())
    act.interp.context.operators[name] = Declared(_op(name, kernel, stored | perhaps), doubt, frozenset(stored))
    return act.interp.apply_op(act.frame, act.state, name, rest, act.at)


def _op(name: str, kernel: Closure, stored: Collection[str]) -> Op:
    """Return what a launch of a kernel does that stores to some of its parameters."""
    params = [param.name for param in kernel.function.params]
    args = (*(Argument(one, optional=True) for one in params), Argument("options", ArgumentKind.KWARGS))
    writes = tuple(WriteFact(one, counted=False) for one in params if one in stored)
    return Op(name, args, writes=writes, grads=(), returns=(ReturnFact(Result.VALUE),), history=History.KEEP_OLD)


def _stored(act: IntrinsicCall, kernel: Closure, arguments: Arguments) -> tuple[set[str], set[str]]:
    """Return the parameters whose memory a launch of a kernel with these arguments writes, and those it may write."""
    state = act.state.fork()  # what is evaluated to decide a condition is not part of the program's run
    body = _Body.of(act.interp, act.frame, state, kernel, arguments, act.at, act.form.name.partition(".")[0])
    if body is None:
        return set(), set()
    body.start({param.name: frozenset({param.name}) for param in kernel.function.params})
    return body.stored, body.perhaps - body.stored


_Roots = frozenset[str]
_Env = dict[str, _Roots]  # of a name, the parameters of the launch that its value is computed from
_NO_ROOTS: _Roots = frozenset()
_MOST_TURNS = 4


class _Body(Struct):
    """
    The body of a kernel, or of a function that it calls, read for what it stores to.

    A condition on what the launch passes (a `tl.constexpr`, a pointer that is None) is decided as the compiler decides
    it: the other side is not part of the kernel. `stored` are the parameters of the launch that are written, `perhaps`
    those that only one side writes where it is not known which is taken, or what follows a return of one side (then
    the body is `unsure`), `returned` those that the result is computed from; `bound` are the names that statements of
    the body bind, `fixed` the values of those that one statement only binds.
    """

    interp: Interpreter
    frame: Frame
    state: State
    function: ir.Function
    bound: frozenset[str]
    fixed: Mapping[str, ir.Expr]
    library: str
    at: int
    stored: set[str] = field(default_factory=set)
    perhaps: set[str] = field(default_factory=set)
    unsure: bool = False
    returned: set[str] = field(default_factory=set)

    @classmethod
    def of(
        cls, interp: Interpreter, frame: Frame, state: State, kernel: Closure, passed: Arguments, at: int, library: str
    ) -> _Body | None:
        """Return the body with its arguments bound; those that are not passed, a decorator may add."""
        params = kernel.function.params
        known = {param.name for param in params}
        keywords = tuple((name, value) for name, value in passed.keywords if name in known)
        given = Arguments(passed.positional[: len(params)], keywords, passed.exprs, unknown=True)
        inner = closures.enter(interp, frame, state, kernel, given, at)
        if inner is None:
            return None
        function = kernel.function
        counts = Counter(_bound(function.body))
        named = [(name, value) for name, value in _named(function.body) if counts[name] == 1 and name not in known]
        fixed = {name: value for name, value in named if _is_plain(value)}
        return cls(interp, inner, state, function, frozenset(counts), fixed, library, at)

    def start(self, given: _Env) -> None:
        """Read the whole body; `given`: what each parameter is computed from, of which constants lead to no memory."""
        constants = {param.name for param in self.function.params if self.is_constant(param.annotation)}
        self.run(self.function.body, {name: roots for name, roots in given.items() if name not in constants})

    def is_constant(self, annotation: ir.Expr | None) -> bool:
        """Check whether a parameter is annotated as a number that is known when the kernel is compiled."""
        kind = None if annotation is None else self.value(annotation)
        forms = self.interp.context.forms(kind.name) if isinstance(kind, Dotted) else ()
        return any(one.kind == Result.VALUE for form in forms for one in form.returns)

    def run(self, body: Iterable[ir.Stmt], env: _Env) -> bool:
        """Read statements in order; return whether what follows them is reached."""
        return all(self.step(node, env) for node in body)

    def step(self, node: ir.Stmt, env: _Env) -> bool:
        """Read a statement; return whether what follows it is reached."""
        match node:
            case ir.Assign(_, targets, value):
                for target in targets:
                    self.bind(target, value, env)
            case ir.Declare(_, target, _, value) if value is not None:
                self.bind(target, value, env)
            case ir.AugAssign(_, _, ir.Name(_, name), value):
                env[name] = env.get(name, _NO_ROOTS) | self.roots(value, env)
            case ir.If():
                return self.branch(node, env)
            case ir.For() | ir.While():
                self.loop(node, env)
            case ir.With(_, _, body):
                return self.run(body, env)
            case ir.Return(_, value):
                self.returned |= self.roots(value, env)
                return False
            case _:
                self.roots(node, env)
                return not isinstance(node, ir.Raise)
        return True

    def branch(self, node: ir.If, env: _Env) -> bool:
        """Read the side of a condition that is taken, or both."""
        known = self.truth(node.test)
        if known is not None:
            return self.run(node.body if known else node.orelse, env)
        self.roots(node.test, env)
        other, before = {**env}, self.stored
        self.stored = set()
        goes_on = self.run(node.body, env)
        first, self.stored = self.stored, set()
        other_goes_on = self.run(node.orelse, other)
        flag = self.is_flag(node.test)
        if flag:
            self.perhaps |= first ^ self.stored
            self.stored = before | (first & self.stored)
        else:  # what one instance of the kernel does not store, another one does
            self.stored |= before | first
        self.unsure = self.unsure or (flag and goes_on is not other_goes_on)
        if not other_goes_on:
            return goes_on
        if not goes_on:
            env.clear()
        _join(env, other)
        return True

    def loop(self, node: ir.For | ir.While, env: _Env) -> None:
        """Read a loop until a turn adds nothing."""
        for _ in range(_MOST_TURNS):
            before = {**env}
            if isinstance(node, ir.For):
                self.bind(node.target, node.iter, env)
            self.run(node.body, env)
            _join(env, before)
            if env == before:
                break
        self.run(node.orelse, env)

    def bind(self, target: ir.Expr, value: ir.Expr, env: _Env) -> None:
        """Give names what a value is computed from."""
        match target, value:
            case ir.Sequence(_, _, names), ir.Sequence(_, _, items) if len(names) == len(items):
                found = [self.roots(item, env) for item in items]
                for name, roots in zip(names, found, strict=True):
                    _set(name, roots, env)
            case _:
                _set(target, self.roots(value, env), env)

    def roots(self, node: object, env: _Env) -> _Roots:
        """Return what an expression is computed from, but for what is read from memory; note what it stores to."""
        match node:
            case ir.Name(_, name):
                return env.get(name, _NO_ROOTS)
            case ir.IfExp(_, test, then, orelse):
                known = self.truth(test)
                sides = (then, orelse) if known is None else (then if known else orelse,)
                return _NO_ROOTS.union(*(self.roots(side, env) for side in sides))
            case ir.NamedExpr(_, target, value):
                self.bind(target, value, env)
                return self.roots(value, env)
            case ir.Call():
                return self.called(node, env)
            case tuple():
                return _NO_ROOTS.union(*(self.roots(part, env) for part in node))
            case _:
                return _NO_ROOTS

    def called(self, node: ir.Call, env: _Env) -> _Roots:
        """Return what the result of a call is computed from."""
        given = [self.roots(one, env) for one in node.args]
        named = {one.name: self.roots(one.value, env) for one in node.keywords}
        receiver = self.receiver(node.func)
        callee = self.value(node.func) if receiver is None else None
        forms = self.forms(node.func, callee)
        if forms:
            pointer = forms[0].args[0].name
            first = self.roots(receiver, env) if receiver is not None else (given or [named.get(pointer, _NO_ROOTS)])[0]
            if any(form.writes for form in forms):
                self.stores(first)
            return _NO_ROOTS
        if callee is not None and is_kernel(callee):
            return self.helper(callee, node, given, named)
        return _NO_ROOTS.union(self.roots(node.func, env), *given, *named.values())

    def helper(
        self, callee: Value, node: ir.Call, given: Sequence[_Roots], named: Mapping[str | None, _Roots]
    ) -> _Roots:
        """Read the body of a function that the kernel calls."""
        function = callee.args[0] if isinstance(callee, Partial) else None
        spread = any(isinstance(one, ir.Starred) for one in node.args) or None in named
        everything = _NO_ROOTS.union(*given, *named.values())
        if not isinstance(function, Closure):
            return everything
        values = tuple(self.argument(one) for one in node.args)
        keywords = tuple((one.name, self.argument(one.value)) for one in node.keywords if one.name is not None)
        arguments = Arguments() if spread else Arguments(values, keywords)
        inner = _Body.of(self.interp, self.frame, self.state, function, arguments, self.at, self.library)
        if inner is None:
            return everything
        names = [param.name for param in function.function.params]
        passed = {**dict(zip(names, given, strict=False)), **{name: named[name] for name in names if name in named}}
        inner.start(dict.fromkeys(names, everything) if spread else passed)
        self.stores(inner.stored)
        self.perhaps |= inner.perhaps
        return frozenset(inner.returned)

    def stores(self, names: Collection[str]) -> None:
        """Note that parameters are written, if what is read now is run."""
        (self.perhaps if self.unsure else self.stored).update(names)

    def receiver(self, func: ir.Expr) -> ir.Expr | None:
        """Return what a method of a value of the kernel is called on: `descriptor.store(…)`, but not `tl.store(…)`."""
        root = func
        while isinstance(root, ir.Attr):
            root = root.value
        own = not isinstance(root, ir.Name) or root.id in self.function.local
        return func.value if own and isinstance(func, ir.Attr) else None

    def forms(self, func: ir.Expr, callee: Value | None) -> Sequence[Op]:
        """Return what is known of a function of the language, as it was imported, or as a method of its values."""
        if isinstance(callee, Dotted):
            return self.interp.context.forms(callee.name)
        if not isinstance(func, ir.Attr) or not (callee is None or isinstance(callee, Sym)):
            return ()
        return self.interp.context.forms(f"{self.library}.language.{func.name}")

    def argument(self, expr: ir.Expr) -> Value:
        """Return the value of an argument that is passed on as it came; an unknown one for anything else."""
        found = self.value(expr) if isinstance(expr, ir.Const) or self.is_given(expr) else None
        return self.state.symbols.sym((origins.ARGUMENT, self.at, self.state.next_id)) if found is None else found

    def is_given(self, expr: ir.Expr) -> bool:
        """Check whether all names in an expression are of arguments, or of what is outside of the function."""
        names = set(_names(expr))
        return not names & self.bound

    def truth(self, test: ir.Expr) -> bool | None:
        """Return whether a condition on what the launch passes is true; None where it is no such condition."""
        if not self.is_flag(test):
            return None
        value = self.value(_spelled_out(test, self.fixed))
        return None if value is None else path_condition.truth(self.state, value)

    def is_flag(self, test: ir.Expr) -> bool:
        """Check whether a condition asks only for what the launch passes, which is the same in the whole kernel."""
        test = _spelled_out(test, self.fixed)
        return _is_plain(test) and self.is_given(test) and not any(map(self.compares_tensor, walk((test,))))

    def compares_tensor(self, node: object) -> bool:
        """Check whether a comparison asks for more than whether a pointer is None."""
        if not isinstance(node, ir.Compare) or {*node.ops} <= {"is", "is not"}:
            return False
        return any(isinstance(self.value(one), Ref) for one in (node.left, *node.rights))

    def value(self, expr: ir.Expr) -> Value | None:
        """Return the value of an expression; None where it has several."""
        found = self.interp.evaluate(self.frame, self.state, expr)
        return found[0][1] if len(found) == 1 else None


def _bound(body: Sequence[ir.Stmt]) -> Iterator[str]:
    """Return the names that statements bind."""
    for node in walk(body):
        match node:
            case ir.Assign(_, targets):
                yield from _names(*targets)
            case ir.Declare(_, target) | ir.AugAssign(_, _, target) | ir.For(_, target) | ir.NamedExpr(_, target):
                yield from _names(target)
            case ir.WithItem(_, target) if target is not None:
                yield from _names(target)
            case _:
                pass


def _is_plain(expr: ir.Expr) -> bool:
    """Check whether an expression can be evaluated without running anything of the program."""
    return all(isinstance(node, _PLAIN) for node in walk(expr))


def _named(body: Sequence[ir.Stmt]) -> Iterator[tuple[str, ir.Expr]]:
    """Return the names that are given one value each, with these values."""
    for node in walk(body):
        match node:
            case ir.Assign(_, (ir.Name(_, name),), value):
                yield name, value
            case ir.Declare(_, ir.Name(_, name), _, value) if value is not None:
                yield name, value
            case _:
                pass


_Node = TypeVar("_Node")


def _spelled_out(node: _Node, values: Mapping[str, ir.Expr]) -> _Node:
    """Return an expression with the values of names in place of these."""
    result: Any = node
    if isinstance(node, ir.Name):
        if node.id in values:
            result = _spelled_out(values[node.id], {name: one for name, one in values.items() if name != node.id})
    elif isinstance(node, tuple):
        items = [_spelled_out(part, values) for part in node]
        result = tuple(items) if type(node) is tuple else type(node)(*items)
    return result  # type: ignore[no-any-return]


def _names(*exprs: ir.Expr) -> Iterator[str]:
    """Return the names in expressions."""
    return (part.id for part in walk(exprs) if isinstance(part, ir.Name))


def _set(target: ir.Expr, roots: _Roots, env: _Env) -> None:
    for name in _names(target):
        env[name] = roots


def _join(env: _Env, other: _Env) -> None:
    for name, roots in other.items():
        env[name] = env.get(name, _NO_ROOTS) | roots


INTRINSICS: dict[str, Callable[[IntrinsicCall], Results]] = {"kernel": _jit, "kernel_run": _launch}
