"""
Kernels of Triton, which write memory behind the framework's back.

    @triton.jit
    def scale(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) * 2)     # writes what is passed as `out_ptr`

    scale[grid](x, h, n, BLOCK=64)      # `h` is written: not counted, not recorded and never refused
"""

from __future__ import annotations

from collections.abc import Callable

from inplace_lint.domain.values import NONE, Closure, Dotted, Partial, Value
from inplace_lint.effects.write_evidence import parts
from inplace_lint.interp.context import Context, Declared
from inplace_lint.interp.frame import Arguments
from inplace_lint.interp.intrinsics.call import IntrinsicCall
from inplace_lint.interp.outcome import Results
from inplace_lint.ir import nodes as ir
from inplace_lint.knowledge.op import Argument, Op, ReturnFact, WriteFact
from inplace_lint.knowledge.words import ArgumentKind, History, Result

_RUN = ".run"


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
    name = f"{act.form.name.removesuffix(_RUN)}.{kernel.function.qualname}"
    library = act.form.name.partition(".")[0]
    params = [param.name for param in kernel.function.params]
    stored = _stored(act.interp.context, library, kernel.function.body) & {*params}
    if not stored:
        return [(act.state, NONE)]
    args = (*(Argument(one, optional=True) for one in params), Argument("options", ArgumentKind.KWARGS))
    writes = tuple(WriteFact(one, counted=False) for one in params if one in stored)
    nothing = ReturnFact(Result.VALUE)
    act.interp.context.operators[name] = Declared(
        Op(name, args, writes=writes, grads=(), returns=(nothing,), history=History.KEEP_OLD)
    )
    given = act.arguments
    rest = Arguments(given.positional[1:], given.keywords, given.shifted(-1), given.unknown)
    return act.interp.apply_op(act.frame, act.state, name, rest, act.at)


def _stored(context: Context, library: str, body: tuple[ir.Stmt, ...]) -> set[str]:
    """Return the names that pointers are computed from which a kernel writes through."""
    uses: dict[str, set[str]] = {}
    found: set[str] = set()
    for node in parts(body):
        match node:
            case ir.Assign(_, targets, value):
                for target in targets:
                    _add(uses, target, _names(context, library, value))
            case ir.AugAssign(_, _, target, value):
                _add(uses, target, _names(context, library, value))
            case ir.Call(_, ir.Attr(_, _, name), (pointer, *_)):
                if any(form.writes for form in context.forms(f"{library}.language.{name}")):
                    found |= _names(context, library, pointer)
            case _:
                pass
    waiting = [*found]
    while waiting:
        new = uses.get(waiting.pop(), set()) - found
        found |= new
        waiting.extend(new)
    return found


def _add(uses: dict[str, set[str]], target: ir.Expr, names: set[str]) -> None:
    for node in parts((target,)):
        if isinstance(node, ir.Name):
            uses.setdefault(node.id, set()).update(names)


def _names(context: Context, library: str, node: object) -> set[str]:
    """Return the names in an expression, but for those in calls that read memory."""
    match node:
        case ir.Name(_, name):
            return {name}
        case ir.Call(_, ir.Attr(_, _, name)) if context.forms(f"{library}.language.{name}"):
            return set()
        case tuple():
            return set[str]().union(*(_names(context, library, part) for part in node))
        case _:
            return set()


INTRINSICS: dict[str, Callable[[IntrinsicCall], Results]] = {"kernel": _jit, "kernel_run": _launch}
