"""
The uses of all names in a file: the function around each, and whether gradients are recorded and asked for there.

    with torch.no_grad():
        weight = taps(positions)      # `taps` is called, and not recorded
    self.act = taps                   # handed on
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple, TypeGuard

from msgspec import Struct, field

from inplace_lint.effects.mode_conditions import Conditions, Sides, in_evaluation, without_gradients, without_sign
from inplace_lint.knowledge.facts import framework, frameworks, tables
from inplace_lint.knowledge.words import OPERATOR

_OFF = frozenset({"mode:grad=False", "mode:inference"})
_RECORDS_NOTHING = "forward"  # the method of a custom function that runs with gradients off


class Use(NamedTuple):
    """
    A use of a name: the function around it, whether that is a method, and whether it runs in evaluation only.

    A `bare` name is no method. `unrecorded`: no gradients are recorded there; `unsure`: a context or decorator around
    it may see to that. `called`: it is a call; else the function is handed on. `quoted`: there is only its name,
    which something may look up. `around` is the class that the use is in; `own`: it is of an attribute of `self`, and
    that class has a method of this name. `receiver` is the last name of what the attribute is of. `bound` is the
    variable of the module that is assigned what the use is a part of. `local`: it is of a variable of the function.
    `passed`: it is an argument of a call, or the default of a parameter. `when`: the parameters that are true there.
    """

    user: str
    member: bool
    evaluates: bool
    bare: bool = False
    unrecorded: bool = False
    unsure: bool = False
    called: bool = True
    quoted: bool = False
    around: str = ""
    own: bool = False
    receiver: str = ""
    bound: str = ""
    local: bool = False
    passed: bool = False
    when: frozenset[str] = frozenset()


class Walk(Struct, dict=True):
    """
    A walk over a file for the uses of all names, and for those that are assigned what a call of a name `made`.

    An argument that is passed by its name is used under `name=True` if it is a constant, and else under `name=`; its
    `receiver` is what is called.

    `renamed` are those that an import gives another name; `implied` the conditions that hold in evaluation only.
    `searched` are what attributes are read of by a name that is not known.
    """

    uses: dict[str, list[Use]] = field(default_factory=dict)
    renamed: set[str] = field(default_factory=set)
    searched: set[str] = field(default_factory=set)
    made: dict[str, set[str]] = field(default_factory=dict)
    user: str = ""
    member: bool = False
    evaluates: bool = False
    unrecorded: bool = False
    unsure: bool = False
    in_class: bool = False
    in_function: bool = False
    around: str = ""
    methods: frozenset[str] = frozenset()
    held: Conditions = field(default_factory=Conditions)
    asks: bool = False
    packages: dict[str, str] = field(default_factory=dict)
    bound: str = ""
    passing: bool = False
    variables: frozenset[str] = frozenset()
    implied: frozenset[tuple[str, bool]] = frozenset()
    when: frozenset[str] = frozenset()

    def block(self, body: Sequence[ast.AST], *, evaluates: bool = False, unrecorded: bool = False) -> None:
        """Walk statements that follow each other; what follows a branch that training leaves is evaluation."""
        before = self.evaluates, self.unrecorded
        self.evaluates |= evaluates
        self.unrecorded |= unrecorded
        for node in body:
            if not (self.user or self.in_class):
                self.bound = _only_target(node)
            self.node(node)
            if isinstance(node, ast.If):
                self.evaluates |= self.held.hold_after(node, self._in_evaluation)
                condition = self.held.leaves_with(node, self._in_evaluation)
                if condition is not None:
                    self.implied |= {without_sign(condition)}
                self.unrecorded |= self.held.hold_after(node, without_gradients)
        self.evaluates, self.unrecorded = before

    def _in_evaluation(self, test: ast.expr) -> Sides:
        """Return whether a condition holds in evaluation only, by itself or by what earlier branches left with."""
        text, side = without_sign(test) if self.implied else ("", True)
        known = (text, side) in self.implied, (text, not side) in self.implied
        return known if any(known) else in_evaluation(test)

    def _branches(self, node: ast.If | ast.IfExp) -> None:
        self.node(node.test)
        evaluates = self.held.sides(node.test, self._in_evaluation)
        unrecorded = self.held.sides(node.test, without_gradients)
        before, asked = self.when, node.test.values if _is_and(node.test) else [node.test]
        self.when |= {one.id for one in asked if isinstance(one, ast.Name) and one.id in self.variables}
        for part, side, off in zip((node.body, node.orelse), evaluates, unrecorded, strict=True):
            self.block(part if isinstance(part, list) else [part], evaluates=side, unrecorded=off)
            self.when = before

    def node(self, node: ast.AST) -> None:
        """Walk a statement or an expression."""
        match node:
            case ast.If() | ast.IfExp():
                self._branches(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self._definition(node)
            case ast.With() | ast.AsyncWith():
                self._with(node)
            case ast.Import() | ast.ImportFrom():
                self._import(node)
            case ast.Assign(targets, ast.Call(ast.Name(name) | ast.Attribute(_, name)) as value):
                self._made_by(name, targets)
                self._part([*targets, value])
            case _:
                self._expression(node)

    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            self.node(item.context_expr)
        before, contexts = (self.unrecorded, self.unsure), [item.context_expr for item in node.items]
        off = any(map(stops, contexts))
        self.unrecorded |= off
        self.unsure |= not all(map(self._is_known, contexts))
        self.block(node.body, evaluates=off)
        self.unrecorded, self.unsure = before

    def _is_known(self, node: ast.expr) -> bool:
        """Check whether a context or decorator is of Python, a framework, or what leaves gradients as they are."""
        while isinstance(node, ast.Attribute | ast.Call):
            node = node.func if isinstance(node, ast.Call) else node.value
        if not isinstance(node, ast.Name):
            return False
        top = self.packages.get(node.id, "")
        return top in _neutral() or (not top and hasattr(builtins, node.id))

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        whole = "" if isinstance(node, ast.Import) else "." if node.level else node.module or "."
        for name in node.names:
            top = (whole or name.name).partition(".")[0] or "."
            self.packages[name.asname or (name.name if whole else top)] = top
            if name.asname not in {None, name.name}:
                self.renamed.add(name.name)

    def _made_by(self, name: str, targets: Sequence[ast.expr]) -> None:
        bound = self.made.setdefault(name, set())
        for target in targets:
            if isinstance(target, ast.Attribute | ast.Name):
                bound.add(target.attr if isinstance(target, ast.Attribute) else target.id)

    def _expression(self, node: ast.AST) -> None:
        """Walk an expression, or a statement that is nothing but its parts."""
        match node:
            case ast.Compare(left, operators, rights):
                self._part(_asked(left, operators, rights))
            case ast.Call(ast.Name("isinstance" | "hasattr" | "callable" as asks), [asked, *rest]):
                self.node(_innermost(asked))
                self._part(rest if asks == "isinstance" else [])  # `hasattr` looks nothing up
            case ast.Call(ast.Attribute(owner, attribute, ast.Load()), arguments, keywords):
                self._use(attribute, own=_is_self(owner), receiver=last_word(owner))
                self._part(_innermost(owner))
                self._arguments([*arguments, *keywords], attribute)
            case ast.Call(ast.Name(name), arguments, keywords):
                self.searched |= _searched(node)
                self._use(name, bare=True)
                self._arguments([*arguments, *keywords], name)
            case ast.Constant(str(word)) if self.user and word.isidentifier():
                self._use(word, called=False, quoted=True)
            case ast.Attribute(_, attribute, context):
                if isinstance(context, ast.Load):
                    self._use(attribute, called=False, own=_is_self(node.value), receiver=last_word(node.value))
                # What has attributes is no function: `self.decode.threshold` does not call a method `decode`.
                self.node(_innermost(node))
            case ast.Name(name, ast.Load()):
                self._use(name, bare=True, called=False)
            case _:
                for _, part in ast.iter_fields(node):
                    self._part(part)

    def _use(
        self,
        name: str,
        *,
        bare: bool = False,
        called: bool = True,
        quoted: bool = False,
        own: bool = False,
        receiver: str = "",
    ) -> None:
        own = own and name in self.methods
        here, modes = (self.user, self.member, self.evaluates), (self.unrecorded, self.unsure)
        bound = "" if self.user else self.bound
        local = bare and name in self.variables
        use = Use(
            *here, bare, *modes, called, quoted, self.around, own, receiver, bound, local, self.passing, self.when
        )
        self.uses.setdefault(name, []).append(use)

    def _arguments(self, arguments: Sequence[ast.expr | ast.keyword], called: str = "") -> None:
        for one in arguments:
            value = one.value if isinstance(one, ast.keyword | ast.Starred) else one
            if isinstance(one, ast.keyword) and one.arg and last_word(value) != one.arg:
                option = f"{one.arg}={value.value!r}" if isinstance(value, ast.Constant) else f"{one.arg}="
                self._use(option, receiver=called)
            self.passing = isinstance(value, ast.Name | ast.Attribute)
            self.node(value)
            self.passing = False

    def _part(self, part: object) -> None:
        if isinstance(part, list) and part and isinstance(part[0], ast.stmt):
            self.block(part)
        elif isinstance(part, list):
            for inner in part:
                self._part(inner)
        elif isinstance(part, ast.AST):
            self.node(part)

    def _definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        for part in node.decorator_list:
            self.node(part)
        if not isinstance(node, ast.ClassDef):
            self._arguments([*node.args.defaults, *filter(None, node.args.kw_defaults)])
        before = {name: getattr(self, name) for name in _OF_BODIES}
        if isinstance(node, ast.ClassDef):
            self.in_class, self.in_function, self.around = True, any(map(_is_custom_function, node.bases)), node.name
            self.methods = frozenset(part.name for part in node.body if isinstance(part, ast.FunctionDef))
        else:
            stopped = any(map(stops, node.decorator_list)) or any(map(_is_operator, node.decorator_list))
            stopped |= self.in_function and node.name == _RECORDS_NOTHING
            self.user, self.member, self.in_class, self.evaluates = node.name, self.in_class, False, stopped
            self.unrecorded, self.unsure = stopped, not all(map(self._is_known, node.decorator_list))
            self.in_function, self.variables, self.when = False, self.variables | _variables(node), frozenset()
        if self.asks:
            self.held = self.held.within(node)
        self.block(node.body)
        for name, value in before.items():
            setattr(self, name, value)


# What a body is walked with, and what follows it is not.
_OF_BODIES = (
    "user",
    "member",
    "in_class",
    "in_function",
    "evaluates",
    "unrecorded",
    "unsure",
    "around",
    "methods",
    "held",
    "variables",
    "implied",
    "when",
)


def _variables(node: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[str]:
    """Return the parameters and the variables that a function assigns, and those of functions in it."""
    inner = [*ast.walk(node.args), *(part for one in node.body for part in ast.walk(one))]
    stored = {part.id for part in inner if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    return frozenset(stored.union(part.arg for part in inner if isinstance(part, ast.arg)))


def _asked(left: ast.expr, operators: Sequence[ast.cmpop], rights: Sequence[ast.expr]) -> list[ast.expr]:
    """Return what a comparison uses: not an attribute that may be None, and no table that may have a key."""
    match left, operators, rights:
        case ast.Attribute(), [ast.Is() | ast.IsNot()], [right]:
            return [_innermost(left), right]
        case _, [ast.In() | ast.NotIn()], [ast.Name()]:
            return [left]
        case _, [ast.In() | ast.NotIn()], [ast.Attribute() as table]:
            return [left, _innermost(table)]
        case _:
            return [left, *rights]


def _is_and(node: ast.expr) -> TypeGuard[ast.BoolOp]:
    return isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _searched(node: ast.AST) -> set[str]:
    """Return what a call of `getattr` reads an attribute of whose name is not known: a variable or an attribute."""
    match node:
        case ast.Call(ast.Name("getattr"), [ast.Name(word) | ast.Attribute(_, word), name, *_]):
            return set() if isinstance(name, ast.Constant) else {word}
        case _:
            return set()


def _innermost(node: ast.expr) -> ast.expr:
    """Return that of which a chain of attributes is asked."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


def last_word(node: ast.expr) -> str:
    """Return the last part of a dotted name; nothing for what is no name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def imports_of(tree: ast.Module) -> dict[str, str]:
    """Return the whole names of what a file imports, with dots in front where they begin in its own package."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names):
                found.update(
                    (one.asname, one.name) if one.asname else (one.name.partition(".")[0],) * 2 for one in names
                )
            case ast.ImportFrom(module, names, level):
                found.update((one.asname or one.name, f"{'.' * level}{module or ''}.{one.name}") for one in names)
            case _:
                pass
    return found


def stops(node: ast.expr) -> bool:
    """Check whether a context manager or decorator is one in which no gradients are recorded, by its name."""
    return _word(node) in _unrecorded()


def _is_operator(node: ast.expr) -> bool:
    """Check whether a decorator makes a function the body of an operator, which runs without recording, by its name."""
    return _word(node) in _operators()


def _word(node: ast.expr) -> str:
    """Return the last word of the name of a decorator or a context, whether it is called or not."""
    return last_word(node.func if isinstance(node, ast.Call) else node)


def _is_custom_function(base: ast.expr) -> bool:
    """Check whether a base is a framework's class of custom functions, by the name that the class has there."""
    return last_word(base) in {framework(known).function.rpartition(".")[2] for known in frameworks()}


@cache
def _neutral() -> frozenset[str]:
    """Return the packages whose contexts and decorators are known by name, or leave gradients as they are."""
    known = [framework(name) for name in frameworks()]
    return frozenset(sys.stdlib_module_names).union(*((*one.packages, *one.arrays, *one.neutral) for one in known))


@cache
def _operators() -> frozenset[str]:
    """Return the last words of the decorators that make operators."""
    return frozenset().union(*(tables(name).last_words(OPERATOR.__eq__) for name in frameworks()))


@cache
def _unrecorded() -> frozenset[str]:
    """Return the last words of the modes without gradients: those of facts, and those that cures spell out."""
    known = [framework(name) for name in frameworks()]
    spelled = [text for one in known for text in (one.says.get("no_grad", ""), one.words.get("infer", "")) if text]
    words = frozenset(text.removesuffix("()").rpartition(".")[2] for text in spelled)
    return words.union(*(tables(name).last_words(_OFF.__contains__) for name in frameworks()))


def _only_target(node: ast.AST) -> str:
    """Return the variable that a statement assigns; empty if it is not one."""
    return node.targets[0].id if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) else ""
