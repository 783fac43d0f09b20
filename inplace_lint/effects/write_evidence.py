"""
What in the syntax of Python may write a tensor in place, or makes something that does.

    x += y; x[0] = y; x.add_(y)     # evidence, unless `x` is known to be no tensor
    nn.ReLU(inplace=True)           # evidence, and makes something that writes whenever it is run
    F.relu(x, self.inplace)         # likewise
    m.inplace = True                # likewise
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from inplace_lint.effects.local_types import NO_TENSORS, USED_AS_CONTAINER, Kinds, kind_of
from inplace_lint.effects.locality import is_fresh
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.walk import walk
from inplace_lint.knowledge.facts import framework, frameworks

if TYPE_CHECKING:
    from inplace_lint.effects.collect import Words

_WRITING_KEYWORDS = frozenset({"inplace", "out", "max_norm", "fused", "mutates_args"})
_WRITING_CALLS = frozenset(
    {
        "backward",
        "step",
        "load_state_dict",
        "autograd",
        "increment",
        "set_value",
        "assign",
        "clear_grad",
        "inference_mode",
    }
)
# Filling all of a module matters only where a gradient is computed, and that is evidence by itself.
_LOADING = frozenset({"load_state_dict", "set_state_dict"})
ANY = "*"  # the end of an attribute whose name is put together
_TAKE_FLAGS = USED_AS_CONTAINER | {"getattr", "setattr"}
_FLAG = "requires_grad_"
SWITCH = "inplace"
_KERNEL_STORE = "store"  # of the language of kernels, or of a descriptor in one
_KERNEL_ATOMIC = "atomic_"
_NOT_WRITES = frozenset({_FLAG})
_BY_OPERATOR = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")
# `x.__iadd__(y)`, `operator.iadd(x, y)`
_OPERATORS = frozenset({"setitem", "__setitem__"}.union(*({f"i{name}", f"__i{name}__"} for name in _BY_OPERATOR)))
INITIALISERS = frozenset({"init"})  # modules of functions that give new parameters their values


KINDS = frozenset(
    {
        ast.AugAssign,
        ast.Subscript,
        ast.Call,
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.ClassDef,
        ast.Import,
        ast.ImportFrom,
        ast.alias,
        ast.Assign,
        ast.AnnAssign,
        ast.arg,
        ast.arguments,
    }
)


def note(node: ast.AST, words: Words, binds: dict[str, None], kinds: Kinds) -> None:
    """Add what a node of one of the `KINDS` binds, and what it may write."""
    match node:
        case ast.AugAssign():
            _augmented(node, words, kinds)
        case ast.Subscript():
            _subscript(node, words, kinds)
        case ast.Call():
            _call(node, words, kinds)
        case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
            binds[name] = None
        case ast.Import() | ast.ImportFrom():
            words.imports.append(node)
        case ast.alias(name, alias):
            binds[alias if alias is not None else name.partition(".")[0]] = None
        case ast.Assign(targets, value):
            _assigned(targets, value, words, kinds)
        case ast.AnnAssign(target, _, ast.expr() as value):
            kinds.assign(target, value)
        case ast.arg() | ast.arguments():
            kinds.declare(node)
        case _:
            pass


def _assigned(targets: Sequence[ast.expr], value: ast.expr, words: Words, kinds: Kinds) -> None:
    for target in targets:
        kinds.assign(target, value)
        if isinstance(target, ast.Attribute) and target.attr == SWITCH and _is_constant(value, (True,)):
            words.write()
            words.makes = True


def _augmented(node: ast.AugAssign, words: Words, kinds: Kinds) -> None:
    if isinstance(node.target, ast.Name):
        kinds.stores[node.target.id] = (
            kinds.stores.get(node.target.id, 0) - 1
        )  # an augmented assignment is no binding of its own
        kinds.grown.append((node.target.id, kind_of(node.value)))
    elif kind_of(node.value) not in NO_TENSORS:
        words.write_to(node.target)


def _subscript(node: ast.Subscript, words: Words, kinds: Kinds) -> None:
    if is_text(node.slice):
        if isinstance(node.value, ast.Name):
            kinds.containers.add(node.value.id)
        return
    if not isinstance(node.ctx, ast.Store):
        return
    if isinstance(node.value, ast.Name):
        kinds.filled.add(node.value.id)
    else:
        words.write_to(node.value)


def is_text(key: ast.AST) -> bool:
    """Return whether an index is a string: what has such items is no tensor."""
    if isinstance(key, ast.BinOp) and isinstance(key.op, ast.Add | ast.Mod):
        return is_text(key.left) or is_text(key.right)
    return isinstance(key, ast.JoinedStr) or (isinstance(key, ast.Constant) and isinstance(key.value, str))


def _call(node: ast.Call, words: Words, kinds: Kinds) -> None:
    name = spelled(node.func)
    words.calls.add(name)
    holder, _, last = name.rpartition(".")
    if last in USED_AS_CONTAINER and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
        kinds.containers.add(holder)
    if is_writing(last) or (last == _FLAG and _frees(node)):
        _writing_call(node.func, last, words, kinds)
    # A custom function of autograd: where it returns its argument, some frameworks take that for a write. What an
    # operator does that is called by its name, its registration says.
    if (last == "apply" and holder) or name.startswith(_operators()) or _stores(last):
        words.write()
    for keyword in node.keywords:
        if keyword.arg in _WRITING_KEYWORDS and not _is_nothing(keyword.value):
            words.write()
            words.makes = words.makes or keyword.arg != "out"
    _look_up(node, words)
    if any(_names_method(argument) for argument in node.args):
        words.write()
    if any(_is_switch(argument) for argument in node.args):
        words.write()
        words.makes = True
    if last not in _TAKE_FLAGS and any(_is_constant(argument, (True,)) for argument in node.args):
        if isinstance(node.func, ast.Name):
            words.flagged.add(last)
        else:
            words.write()
            words.makes = True


def _stores(last: str) -> bool:
    """Check whether a call may be a store of a kernel."""
    return last == _KERNEL_STORE or last.startswith(_KERNEL_ATOMIC)


@cache
def _operators() -> tuple[str, ...]:
    """Return what the names of registered operators begin with."""
    return tuple(f"{space}." for name in frameworks() for space in framework(name).operators)


def _writing_call(function: ast.expr, last: str, words: Words, kinds: Kinds) -> None:
    match function:
        case ast.Name():
            words.helpers.add(last)
        case ast.Attribute(ast.Name(holder)) | ast.Attribute(ast.Attribute(ast.Name(), holder)) if (
            holder in INITIALISERS
        ):
            kinds.initialised.add(spelled(function).partition(".")[0])
        case ast.Attribute(ast.Name(written)) if last.endswith("_"):
            kinds.written.add(written)
        case ast.Attribute(value) if last in _LOADING or is_fresh(value):
            words.writes = True
        case _:
            words.write()


def _is_switch(node: ast.expr) -> bool:
    """Check whether an argument is the flag of an in-place activation that is passed on by position."""
    match node:
        case ast.Name(name) | ast.Attribute(_, name):
            return name == SWITCH
        case _:
            return False


def _names_method(node: ast.expr) -> bool:
    match node:
        case ast.Constant(str(name)):
            return names_method(name)
        case ast.JoinedStr([*_, ast.Constant(str(end))]) | ast.BinOp(right=ast.Constant(str(end))):
            return end.endswith("_")
        case _:
            return False


def _look_up(node: ast.Call, words: Words) -> None:
    """Note the attribute that `getattr` reads; one of the object itself may be kept."""
    names = _looked_up(node)
    words.attributes.update(names)
    if names and isinstance(node.args[0], ast.Name) and node.args[0].id == words.instance:
        words.kept_attributes.update(names)


def _looked_up(node: ast.Call) -> tuple[str, ...]:
    """Return the attribute that `getattr` reads; of a name that is put together the beginning, and a star."""
    if not isinstance(node.func, ast.Name) or node.func.id != "getattr" or len(node.args) < 2:  # noqa: PLR2004
        return ()
    match node.args[1]:
        case ast.Constant(str(name)):
            return (name,)
        case ast.JoinedStr([ast.Constant(str(start)), *_]) | ast.BinOp(ast.Constant(str(start)), ast.Add()):
            return (f"{start}{ANY}",)
        case _:
            return (ANY,)


def _is_nothing(node: ast.expr) -> bool:
    return _is_constant(node, (False, None)) or (isinstance(node, ast.Tuple | ast.List) and not node.elts)


def _is_constant(node: ast.AST, values: tuple[bool | None, ...]) -> bool:
    return isinstance(node, ast.Constant) and any(node.value is value for value in values)


_ASK_OF_CLASSES = frozenset({"super", "isinstance", "issubclass"})


def run_at_once(call: ast.Call) -> Iterator[ast.AST]:
    """
    Return the names in a call that it does not hand on: what is called, and what is run on the spot or asked about.

    `apply` runs what it is passed on each module; `super` and `isinstance` only look at the class.
    """
    yield call.func
    if isinstance(call.func, ast.Name) and call.func.id in _ASK_OF_CLASSES:
        for argument in call.args:
            yield from argument.elts if isinstance(argument, ast.Tuple) else (argument,)
    if spelled(call.func).rpartition(".")[2] == "apply":
        for argument in call.args:
            yield argument
            if isinstance(argument, ast.Call) and spelled(argument.func).rpartition(".")[2] == "partial":
                yield from argument.args


def _frees(call: ast.Call) -> bool:
    """Return whether a call says that a variable needs no gradient, which a variable with a history refuses."""
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    named = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)
    return named and len(values) == 1 and isinstance(values[0], ast.Constant) and values[0].value is False


def is_writing(name: str) -> bool:
    """Return whether a method or function of this name may write in place."""
    return (
        name in _WRITING_CALLS
        or name in _OPERATORS
        or (name.endswith("_") and not name.startswith("__") and name not in _NOT_WRITES)
    )


def names_method(name: str) -> bool:
    """Return whether a name that is not called at once is that of a method in place: `f = x.mul_`, `"mul_"`."""
    return name.endswith("_") and not name.startswith("_") and name.isidentifier() and name not in _NOT_WRITES


def spelled(node: ast.AST) -> str:
    """Return a dotted expression as text; of the result of a call, or of an item, only what follows it."""
    match node:
        case ast.Name(name):
            return name
        case ast.Attribute(value, name):
            return f"{spelled(value)}.{name}"
        case ast.Call(func):
            return spelled(func)
        case _:
            return ""


def lowered_may_write(body: Sequence[ir.Stmt | ir.Expr]) -> bool:
    """Return whether something in lowered statements or expressions may write a tensor."""
    return any(map(_is_evidence, walk(body)))


def _is_evidence(node: object) -> bool:
    match node:
        case ir.AugAssign():
            return True
        case ir.Attr(_, _, name):
            return name == "data" or is_writing(name)
        case ir.Const(str() as name):
            return names_method(name)
        case ir.Keyword(_, name, value):
            return name in _WRITING_KEYWORDS and not (isinstance(value, ir.Const) and not value.value)
        case ir.Assign(_, targets):
            return any(isinstance(target, ir.Subscript) and not _is_key(target.key) for target in targets)
        case _:
            return False


def _is_key(key: ir.Expr) -> bool:
    return isinstance(key, ir.Format) or (isinstance(key, ir.Const) and isinstance(key.value, str))
