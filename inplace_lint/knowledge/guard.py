"""
Guards: the conditions under which a fact holds.

A guard is parsed once, from the text in an op table, and evaluated over an environment that answers each atom with
yes (True), no (False) or unknown (None). `rg(other) and not inplace` is unknown as long as it is not known whether
`other` requires grad, unless `inplace` is true: then it is no.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Protocol, cast

from msgspec import Struct

from inplace_lint.core.errors import FactError
from inplace_lint.knowledge.schema import mistyped, unknown
from inplace_lint.knowledge.words import Predicate

Three = bool | None


class Atom(Struct, frozen=True):
    """A test of an argument, `name(args…)`; for a bare argument or attribute `name` is `Predicate.TRUTH`."""

    name: Predicate
    args: tuple[str, ...]


class Test(Struct, frozen=True):
    """`left op right`, where the left side is an atom and the right side a constant."""

    op: str
    left: Atom
    right: object


class Not(Struct, frozen=True):
    """The negation of `operand`."""

    operand: Guard


class Many(Struct, frozen=True):
    """The conjunction of `operands` if `every`, otherwise their disjunction."""

    every: bool
    operands: tuple[Guard, ...]


Guard = Atom | Test | Not | Many
NEVER = Many(every=False, operands=())


class Environment(Protocol):
    """What answers the atoms of a guard, such as the arguments of one call."""

    def truth(self, atom: Atom) -> Three:
        """Return whether the atom holds."""
        ...

    def compare(self, atom: Atom, op: str, constant: object) -> Three:
        """Return whether the value of the atom is in that relation to a constant."""
        ...


def holds(guard: Guard | None, environment: Environment) -> Three:
    """Evaluate a guard; a missing guard holds."""
    match guard:
        case None:
            return True
        case Atom():
            return environment.truth(guard)
        case Test(op, left, right):
            return environment.compare(left, op, right)
        case Not(operand):
            inner = holds(operand, environment)
            return None if inner is None else not inner
        case Many(every, operands):
            return _many(every, [holds(operand, environment) for operand in operands])


def _many(every: bool, answers: list[Three]) -> Three:
    decisive = not every
    if decisive in answers:
        return decisive
    return None if None in answers else every


def atoms(guard: Guard | None) -> tuple[Atom, ...]:
    """List the atoms of a guard from left to right."""
    match guard:
        case None:
            return ()
        case Atom():
            return (guard,)
        case Test(_, left, _):
            return (left,)
        case Not(operand):
            return atoms(operand)
        case Many(_, operands):
            return tuple(atom for operand in operands for atom in atoms(operand))


@lru_cache(maxsize=4096)
def parse(text: str) -> Guard:
    """
    Parse a guard.

    Raises: `FactError` with the text, for anything that is not in the grammar of `rules/ops/README.md`; TypeError for
    what is no text.
    """
    if not isinstance(text, str):
        raise mistyped(text, "a guard")
    try:
        return _guard(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError) as error:
        msg = f'"{text}" is not a guard'
        raise FactError(msg) from error


def parse_use(value: object) -> Guard:
    """Parse when backward reads what it keeps: a guard, or false where it only asks for the sizes."""
    return NEVER if value is False else parse(cast("str", value))


_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.Gt: ">",
    ast.LtE: "<=",
    ast.GtE: ">=",
}
_PREDICATES = {one.value: one for one in Predicate if one}
_OF_TWO = (Predicate.SAME, Predicate.KEPT_BY_EINSUM, Predicate.KEPT_BY_MATMUL, Predicate.CENTRED)
_COUNTS = {**dict.fromkeys(_OF_TWO, (2,)), Predicate.ROWS: (1, 2)}  # of arguments, where not one


def _guard(node: ast.expr) -> Guard:
    match node:
        case ast.BoolOp(op, values):
            return Many(isinstance(op, ast.And), tuple(_guard(value) for value in values))
        case ast.UnaryOp(ast.Not(), operand):
            return Not(_guard(operand))
        case ast.Compare(left, [op], [right]) if type(op) in _OPERATORS:
            return Test(_OPERATORS[type(op)], _atom(left), ast.literal_eval(right))
        case _:
            return _atom(node)


def _atom(node: ast.expr) -> Atom:
    match node:
        case ast.Name() | ast.Attribute():
            return Atom(Predicate.TRUTH, (ast.unparse(node),))
        case ast.Call(ast.Name(name), args, []):
            if name not in _PREDICATES:
                raise unknown(name, "test in a guard", _PREDICATES)
            if len(args) not in _COUNTS.get(_PREDICATES[name], (1,)):
                raise ValueError(ast.dump(node))
            return Atom(_PREDICATES[name], tuple(ast.unparse(argument) for argument in args))
        case _:
            raise ValueError(ast.dump(node))
