"""
Other spellings of the arguments of a call that a framework accepts beside those of its facts.

    torch.linalg.norm(h, axis=-1, keepdims=True)    # the names that NumPy has for `dim` and `keepdim`
    p.add_(-0.1, p.grad)                            # the order before `alpha` was a keyword
"""

from __future__ import annotations

from collections.abc import Iterable

from inplace_lint.domain.state import State
from inplace_lint.domain.values import Const, Sym, Value
from inplace_lint.interp.frame import Arguments
from inplace_lint.ir import nodes as ir
from inplace_lint.knowledge.framework import Framework
from inplace_lint.knowledge.op import Op


def usual(framework: Framework, state: State, forms: Iterable[Op], arguments: Arguments) -> Arguments | None:
    """Return the arguments of a call that fits no form under the usual names; None if they have no other spelling."""
    for form in forms:
        renamed = _renamed(framework, form, arguments)
        if renamed:
            keywords = tuple((renamed.get(name, name), value) for name, value in arguments.keywords)
            exprs = {renamed.get(str(key), key): expr for key, expr in arguments.exprs.items()}
            return Arguments(arguments.positional, keywords, exprs, arguments.unknown)
        plain = [argument.name for argument in form.args if argument.kind == "plain"]
        factors = [name for name in framework.factors if any(argument.name == name for argument in form.args)]
        more = len(arguments.positional) - len(plain)
        numbers = [
            at
            for at, value in enumerate(arguments.positional)
            if (at > 0 or plain[:1] != ["self"]) and _may_be_number(state, value)
        ][:more]
        if 0 < more == len(numbers) <= len(factors):
            return _with_factors(arguments, numbers, factors[-more:])
    return None


def _renamed(framework: Framework, form: Op, arguments: Arguments) -> dict[str, str]:
    """Return the usual names of the keywords that a form knows under these only."""
    known = {argument.name for argument in form.args}
    found = {name: framework.synonyms.get(name, name) for name, _ in arguments.keywords if name not in known}
    return {name: usual for name, usual in found.items() if usual in known}


def _with_factors(arguments: Arguments, numbers: list[int], names: list[str]) -> Arguments:
    """Return the arguments with some that are positional passed by name."""
    kept = [at for at in range(len(arguments.positional)) if at not in numbers]
    exprs: dict[int | str, ir.Expr] = {key: expr for key, expr in arguments.exprs.items() if isinstance(key, str)}
    exprs.update({place: arguments.exprs[at] for place, at in enumerate(kept) if at in arguments.exprs})
    named = tuple((name, arguments.positional[at]) for name, at in zip(names, numbers, strict=True))
    positional = tuple(arguments.positional[at] for at in kept)
    return Arguments(positional, (*arguments.keywords, *named), exprs, arguments.unknown)


def _may_be_number(state: State, value: Value) -> bool:
    if isinstance(value, Const):
        return isinstance(value.value, int | float)
    return isinstance(value, Sym) and state.tensor(value) is None and value.kind not in {"tensor", "input"}
