"""
Reports writes to what a caller passed: the caller may not expect them.

    def normalise(scores):
        scores -= scores.mean()         # the caller's tensor
        return scores / scores.std()

    z = normalise(raw)
    loss = (z * raw).sum()              # `raw` is no longer what it was

A function that is called for its effect (`fill(x)` as a statement) is known to write. One that says so by a name that
the framework lists, such as `out` or `fill_`, is an opinion: the assumption is then that its caller does not know.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from inplace_lint.core.event import Escaped, Performed, Site, Spelling, Touch
from inplace_lint.domain.heap import Names, Tensor, Write
from inplace_lint.domain.values import Ref, RefId
from inplace_lint.effects.write_evidence import is_writing
from inplace_lint.interp.frame import Frame, text_of
from inplace_lint.ir import next_use, only_written
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.scopes import names_of
from inplace_lint.ir.walk import walk

if TYPE_CHECKING:
    from inplace_lint.interp.transfer.op_call import Call

_SUFFIX = "*_"
_IN_PLACE = re.compile(r"\bin[- ]?place\b", re.IGNORECASE)


def write(call: Call, part: str, _: Ref, tensor: Tensor) -> None:
    """Report a write in a forward, and one to an argument, neither of which need be a fault."""
    state, name = call.state, call.facts.framework.name
    expr = call.binding.exprs.get(part)
    touch = call.touch(part, expr, tensor)
    assumptions = state.assumptions | call.doubt
    if _function(call.frame) == call.facts.framework.calls and _is_method(call.frame):
        state.report(Performed(name, touch, assumptions))
    if isinstance(expr, ir.Name) and touch.flag is None and is_argument(call, expr.id):
        announced = _announced(call, _function(call.frame), expr.id)
        state.report(Escaped(name, touch, expr.id, None, assumptions | announced))


def check_read(call: Call, part: str, expr: ir.Name, tensor: Tensor, known: Write) -> None:
    """Report a read of a tensor that was written by a function to which this function had passed it."""
    frame, state = call.frame, call.state
    if known.touch.flag is not None or not tensor.sure or known.doubt | tensor.doubt:
        return  # whether they share memory at all is not known
    name = frame.env.id, expr.id
    if (is_blank(call, tensor, zero=True) or _is_own_copy(call, tensor)) and not _is_set_here(call, tensor, name):
        return  # whoever reads it is to read these values: it had none before, or another tensor has them
    if name not in known.names | known.through:
        return
    inner = _call_that_wrote(frame, known.touch.site)
    if inner is None:
        return
    body = (
        frame.closure.function.body if frame.closure is not None else call.interp.context.code(inner.place.slice).body
    )
    if frame.closure is not None and (next_use.drops(body, call.at) or _changes(frame.closure.function.body, expr.id)):
        return
    beside = _is_beside_itself(call, part, tensor)
    lost = _is_set_here(call, tensor, name)
    if is_told(call, body, known.touch.site, inner, expr.id, beside=beside, apart=True, lost=lost):
        return
    if (known.touch.spelled is Spelling.ITEM or known.part != ()) and _is_at_result(call, body, inner.place.at):
        return
    assumptions = state.assumptions | known.assumptions
    event = Escaped(call.facts.framework.name, known.touch, expr.id, call.touch(part, expr, tensor), assumptions)
    state.report(event)


def _changes(body: Sequence[ir.Stmt], name: str) -> bool:
    """Check whether a function itself changes what a variable holds in place, as a whole: it is a state to it."""
    for node in walk(body):
        match node:
            case ir.AugAssign(target=ir.Name(id=known)) if known == name:
                return True
            case ir.Call(func=ir.Attr(value=ir.Name(id=known), name=method)) if known == name and is_writing(method):
                return True
            case _:
                pass
    return False


def is_told(
    call: Call,
    body: Sequence[ir.Stmt],
    wrote: Site,
    inner: Site,
    name: str,
    *,
    beside: bool = False,
    apart: bool = False,
    lost: bool = False,
) -> bool:
    """
    Check whether a caller is told that a call writes what it is passed as a variable.

    `body` is the code with the call at `inner`, which wrote at `wrote`. `beside`: what is read now is computed of both
    the variable and the result; `apart`: it may be read apart from the result; `lost`: the caller has itself set
    values.
    """
    found = _call_at(body, inner.place.at)
    if found is None or _announced(call, text_of(found.func), *_keywords(found, name)):
        return True
    behind = _function_behind(call, wrote, inner)
    beside = beside or (apart and _is_used_apart(call, body, found))
    if behind is None:
        return False
    function, text, skip = behind
    params = _parameters(function, skip, found, name)
    return (not lost and _is_its_effect(call, function, params)) or _is_meant(function, text, params, beside=beside)


def _function(frame: Frame) -> str:
    return frame.closure.function.qualname.rpartition(".")[2] if frame.closure is not None else ""


def _is_method(frame: Frame) -> bool:
    return frame.closure is not None and frame.closure.owner is not None


def _announced(call: Call, function: str, *parameters: str) -> frozenset[str]:
    """Return what has to be assumed of the caller, where a name that the framework lists says that a call writes."""
    listed = call.facts.framework.names
    names = [name for name in parameters if name in listed]
    if _SUFFIX in listed and function.endswith(_SUFFIX[1:]):
        names.append(function)
    return frozenset(f"the caller does not expect the write that the name `{name}` announces" for name in names)


def is_argument(call: Call, name: str) -> bool:
    """Check whether a variable still has the value that the caller passed."""
    frame = call.frame
    scope = call.state.heap[frame.env.id]
    if name not in frame.passed:
        return False
    return isinstance(scope, Names) and scope.bound.get(name) == min(scope.bound.values())


def is_blank(call: Call, tensor: Tensor, *, zero: bool = False) -> bool:
    """
    Check whether a tensor is memory that was made without values, or a part of it: it is there to be written.

    `zero`: so is memory that was made of zeros, for a function that it is passed to.
    """
    made, framework = _made(call, tensor), call.facts.framework
    return made is not None and (made.op in framework.blank or (zero and made.op in framework.zeroed))


def was_blank(call: Call, tensor: Tensor, since: int) -> bool:
    """Check whether nothing had been written yet, at a time, to memory that was made without values."""
    return call.state.storages[tensor.storage].writes[0].clock > since and is_blank(call, tensor)


def _is_own_copy(call: Call, tensor: Tensor) -> bool:
    """Check whether the function that runs has made a copy of another tensor, one of which is to be written."""
    made = _made(call, tensor)
    if made is None or (made.site.place.slice, made.site.caller) != (call.frame.slice, call.frame.caller):
        return False
    framework = call.facts.framework
    return made.op in framework.repeats or made.op.rpartition(".")[2] == framework.words.get("copy")


def _is_set_here(call: Call, tensor: Tensor, name: tuple[RefId, str]) -> bool:
    """Check whether the function that runs has itself written to a tensor through a variable."""
    writes = call.state.storages[tensor.storage].writes
    return any(name in write.names and write.touch.site.caller == call.frame.caller for write in writes)


def _made(call: Call, tensor: Tensor) -> Touch | None:
    """Return how a tensor was made, or what it is a part of."""
    base = tensor if tensor.base is None else call.state.tensor(tensor.base)
    return None if base is None else base.made


def _call_that_wrote(frame: Frame, site: Site) -> Site | None:
    """Return the call in this frame during which a deeper call wrote; None if the frame itself wrote."""
    if site.caller == frame.caller:
        return None
    above: Site | None = site.caller
    while above is not None and above.caller != frame.caller:
        above = above.caller
    return above


def _is_beside_itself(call: Call, part: str, tensor: Tensor) -> bool:
    """Check whether another operand of a call is the same memory."""
    others = (pair for name in call.binding.given - {part} for pair in call.binding.tensors(name))
    return any(other.storage == tensor.storage for _, other in others)


def _is_used_apart(call: Call, body: Sequence[ir.Stmt], found: ir.Call) -> bool:
    """
    Check whether a function reads what it passed to a call beside what that returned.

    The result is a part of an expression that was evaluated before, or has a name of its own that is read later.
    """
    if call.frame.closure is None:
        return False
    bound = next((node for node in walk(body) if isinstance(node, ir.Assign) and node.value == found), None)
    if bound is not None:
        names = (name for target in bound.targets for name in names_of(target))
        return any(next_use.beside(body, call.at, name) for name in names)
    returned = any(isinstance(node, ir.Return) and node.value == found for node in walk(body))
    return not returned


def _is_at_result(call: Call, body: Sequence[ir.Stmt], at: int) -> bool:
    """
    Check whether items are read at positions which a call returned, that is: of the tensor as the call left it.

        for best in select(scores):       # sets all others to -inf
            total += scores[best]
        total += scores.gather(1, best)
    """
    nodes = [node for node in walk(body) if isinstance(node, ir.Assign | ir.For | ir.Subscript | ir.Call)]
    names: set[str] = set()
    keys: list[object] = []
    for node in nodes:
        match node:
            case ir.Assign(targets=targets, value=value) if _call_at(value, at) is not None:
                names.update(name for target in targets for name in names_of(target))
            case ir.For(target=target, iter=value) if _call_at(value, at) is not None:
                names.update(names_of(target))
            case ir.Subscript(number, _, key) if number == call.at:
                keys.append(key)
            case ir.Call(number, ir.Attr(value=read), arguments) if number == call.at or _reads(read, call.at):
                keys += arguments
            case _:
                pass
    used = {one.id for one in walk(keys) if isinstance(one, ir.Name)}
    return any(_is_whole(call, name) for name in used & names)


def _reads(receiver: ir.Expr, at: int) -> bool:
    return isinstance(receiver, ir.Subscript) and receiver.at == at


def _is_whole(call: Call, name: str) -> bool:
    """Check whether a variable may hold positions: whole numbers."""
    scope = call.state.heap[call.frame.env.id]
    value = scope.values.get(name) if isinstance(scope, Names) else None
    tensor = None if value is None else call.state.tensor(value)
    return tensor is None or tensor.dtype in {"int", "unknown"}


def _function_behind(call: Call, site: Site, inner: Site) -> tuple[ir.Function, str, int] | None:
    """
    Return the function that a call of this frame runs, of which a write happened at `site`, and its docstring.

    The last part of the result counts the parameters before the first argument: one for the instance of a method.
    """
    while site.caller is not None and site.caller != inner:
        site = site.caller
    module = call.interp.context.module(site.place.slice.path)
    node = next((node for node in module.code(site.place.slice).body if isinstance(node, ir.FunctionDef)), None)
    if node is None:
        return None
    is_method = any(site.place.slice in methods for methods in module.methods.values())
    static = any(isinstance(word, ir.Name) and word.id == "staticmethod" for word in node.decorators)
    return node.function, module.docstring(site.place.slice), int(is_method and not static)


def _parameters(function: ir.Function, skip: int, found: ir.Call, name: str) -> set[str]:
    """Return the parameters of a function for which a call passes a variable."""
    passed = [at for at, value in enumerate(found.args) if isinstance(value, ir.Name) and value.id == name]
    words = {
        word.name for word in found.keywords if word.name and isinstance(word.value, ir.Name) and word.value.id == name
    }
    return words.union(param.name for at in passed for param in function.params[at + skip : at + skip + 1])


def _is_its_effect(call: Call, function: ir.Function, params: Iterable[str]) -> bool:
    """Check whether a function does nothing with an argument but write it: whoever holds it is to read that."""
    tensor = call.facts.framework.tensor

    def describes(attribute: str) -> bool:
        forms = call.facts.forms(f"{tensor}.{attribute}")
        return bool(forms) and any(fact.kind == "value" for fact in forms[0].returns)

    return any(only_written.is_only_written(function.body, one, describes) for one in params)


def _is_meant(function: ir.Function, text: str, params: Collection[str], *, beside: bool) -> bool:
    """
    Check whether a function says that it writes, returns nothing, or returns the very argument that it writes.

    A caller that computes something from both, `beside` each other, takes them for two tensors.
    """
    results = [node.value for node in walk(function.body) if isinstance(node, ir.Return) and node.value is not None]
    if _IN_PLACE.search(text) or not (results or function.is_generator):
        return True
    flat = [item for value in results for item in (value.items if isinstance(value, ir.Sequence) else (value,))]
    return not beside and any(isinstance(item, ir.Name) and item.id in params for item in flat)


def _call_at(node: object, at: int) -> ir.Call | None:
    """Return the call with this ordinal in a piece of code, unless it or a part of it is a statement of its own."""
    if isinstance(node, ir.ExprStmt):
        value = node.value
        while isinstance(value, ir.Subscript):
            value = value.value
        if isinstance(value, ir.Call) and value.at == at:
            return None
    if isinstance(node, ir.Call) and node.at == at:
        return node
    if isinstance(node, tuple):
        for part in node:
            found = _call_at(part, at)
            if found is not None:
                return found
    return None


def _keywords(found: ir.Call, name: str) -> Iterator[str]:
    """Yield the keywords by which a call passes a variable."""
    for keyword in found.keywords:
        if keyword.name is not None and isinstance(keyword.value, ir.Name) and keyword.value.id == name:
            yield keyword.name
