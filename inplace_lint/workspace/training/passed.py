"""
What an expression passes: data, something that is trained, or what the function around it is itself given.

    def forward(self, x, adjacency):
        x = self.embed(x)                  # what a layer returns may be trained
        mask = torch.ones(3)               # what a framework's function makes is data
        return self.conv(x, adjacency)     # `adjacency` is handed on

Syntax decides, in one function.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from functools import cache
from typing import NamedTuple

from inplace_lint.knowledge.facts import framework, frameworks, tables
from inplace_lint.workspace.training.functions import Function, stored_in, unpacked, unrecorded_in, within
from inplace_lint.workspace.training.holders import called_word
from inplace_lint.workspace.training.names import arrays, cuts_history, describes, flags, is_factory, is_of_tensor
from inplace_lint.workspace.training.uses import last_word

_NUMBERS = frozenset({"bool", "float", "int", "len", "range", "str"})  # Python's own functions that return no tensor
_FILLING = frozenset({"append", "extend", "insert"})  # methods of a list that put something into it
_CLEARING = frozenset({"zero_module", "optimizer_zero"})
_DEEPEST = 10  # expressions and variables that lead to each other


class Passed(IntEnum):
    """What an argument is; of several parts the highest."""

    DATA = 0
    HANDED = 1
    UNKNOWN = 2
    TRAINED = 3  # or so it seems
    COMPUTED = 4  # by a layer that has parameters, and with its history


class Handed(NamedTuple):
    """
    What a call passes: its kind, and what it is made of where that is handed on.

    These are `params` of the function that the call is in (the path of its file, and its qualified name), and what is
    stored under the keys, or in the attributes, `fields`. `cut`: something there has no history.
    """

    kind: Passed
    within: tuple[str, str]
    params: frozenset[str]
    fields: frozenset[str]
    cut: bool = False


class Bound:
    """
    The variables of a function, with the expressions that they are bound to, or that are put into them.

    `settings` are attributes of `self`; `imports` the whole names of what the file imports; `computes` tells whether a
    name holds layers that have parameters. `returned` says what a function returns that is called by a name, or as a
    method of `self`, where its code is known; or what the one at a place is, of several results.
    """

    def __init__(
        self,
        scope: ast.AST,
        functions: frozenset[str],
        settings: frozenset[str],
        imports: Mapping[str, str],
        returned: Callable[[str, bool, int | None], Handed | None],
        computes: Callable[[str], bool],
    ) -> None:
        self.functions, self.settings, self.imports, self.returned = functions, settings, imports, returned
        self.computes = computes
        self._asked: set[str] = set()
        self._handed: set[str] = set()
        self._fields: set[str] = set()
        self._cut = False
        self._unrecorded = frozenset(stored_in(unrecorded_in(scope)))
        self.values: dict[str, list[ast.expr | ast.arg | None]] = {}
        self._nodes = list(within(scope))
        for node in self._nodes:
            match node:
                case ast.Assign(targets, value):
                    for target in targets:
                        self._bind(target, value)
                case ast.AnnAssign(target, _, value) | ast.AugAssign(target, _, value) | ast.NamedExpr(target, value):
                    self._bind(target, value)
                case ast.For(target, iterable, body) | ast.AsyncFor(target, iterable, body):
                    self._bind(target, ast.Constant(0) if _trains(body, target) else iterable)
                case ast.comprehension(target, iterable):
                    self._bind(target, iterable)
                case ast.arg(name):
                    self.values.setdefault(name, []).append(node)
                case ast.Call(ast.Attribute(ast.Name(name), word), [*_, value]) if word in _FILLING:
                    self.values.setdefault(name, []).append(value)
                case ast.Attribute(ast.Name(name), word) if word.removesuffix("_") in flags():
                    self.values.setdefault(name, []).append(None)  # it may be told to require grad
                case _:
                    pass

    def _bind(self, target: ast.expr, value: ast.expr | None) -> None:
        for part, own in unpacked(target, value):
            if isinstance(part, ast.Subscript | ast.Attribute) and isinstance(part.value, ast.Name):
                self.values.setdefault(part.value.id, []).append(own)
            for name in stored_in(ast.walk(part)):
                self.values.setdefault(name, []).append(own)

    def passed(self, node: ast.expr, function: tuple[str, str]) -> Handed:
        """Return what a call in a function passes with an expression."""
        before = self._asked, self._handed, self._fields, self._cut
        self._asked, self._handed, self._fields, self._cut = set(), set(), set(), False
        kind = Passed.DATA if _is_cut(node) else self._kind(node, 0)
        found = Handed(kind, function, frozenset(self._handed), frozenset(self._fields), self._cut)
        self._asked, self._handed, self._fields, self._cut = before
        return found

    def _without_history(self, kind: Passed) -> Passed:
        self._cut |= kind in {Passed.HANDED, Passed.COMPUTED}
        return min(kind, Passed.TRAINED)

    def is_carried(self, param: str) -> bool:
        """Check whether a parameter is only handed on to parts of an object, each time after what one has returned."""
        uses = sum(isinstance(node, ast.Name) and node.id == param for node in self._nodes)
        calls = [node for node in self._nodes if isinstance(node, ast.Call)]
        return uses > 0 and uses == sum(self._carries(call, param) for call in calls)

    def _carries(self, call: ast.Call, param: str) -> bool:
        """Check whether a call of what is no function passes a parameter, once, after something that is trained."""
        given = [*call.args, *(one.value for one in call.keywords)]
        places = [place for place, one in enumerate(given) if isinstance(one, ast.Name) and one.id == param]
        if not places or self._kind(call, 0) < Passed.TRAINED:
            return False
        return any(self._kind(one, 0) >= Passed.TRAINED for one in given[: places[0]])

    def _kind(self, node: ast.expr | ast.arg | None, depth: int) -> Passed:
        """Return what an expression is: what calls of anything but a framework's functions return may be trained."""
        if depth > _DEEPEST:
            return Passed.UNKNOWN
        match node:
            case ast.Constant() | ast.Compare():
                return Passed.DATA
            case ast.arg() | ast.Name():
                return self._name(node, depth)
            case ast.Attribute() | ast.Subscript():
                return self._part(node, depth)
            case ast.BinOp(left, _, right) | ast.IfExp(_, left, right):
                return self._most((left, right), depth)
            case ast.Tuple(items) | ast.List(items) | ast.BoolOp(_, items):
                return self._most(items, depth) if items else Passed.UNKNOWN
            case ast.UnaryOp(_, inner) | ast.ListComp(inner) | ast.GeneratorExp(inner):
                return self._kind(inner, depth + 1)
            case ast.Call(function, _, keywords) if self._makes(function, keywords) or self._measures(function):
                return Passed.DATA
            case ast.Call(function, arguments, keywords):
                return self._called(function, [*arguments, *(one.value for one in keywords)], depth)
            case _:
                return Passed.UNKNOWN

    def _part(self, node: ast.Attribute | ast.Subscript, depth: int) -> Passed:
        """Return what an attribute or an item is."""
        match node:
            case ast.Attribute(ast.Name("self"), name):
                return Passed.DATA if name in self.settings else Passed.UNKNOWN
            case ast.Attribute(ast.Name(name), _) if self._is_import(name):
                return Passed.DATA  # a constant of a module, or of an enumeration
            case ast.Attribute(_, name) if describes(name):
                return Passed.DATA
            case ast.Attribute(value, name) if not is_of_tensor(name):
                return self._field(value, name, depth)
            case ast.Subscript(value, ast.Constant(str(name))):
                return self._field(value, name, depth)
            case ast.Attribute(value, name) if cuts_history(name):
                return self._without_history(self._kind(value, depth + 1))
            case ast.Subscript(ast.Call(function, arguments), ast.Constant(int(place))):
                known = self._returned(function, arguments, depth, place)
                return self._kind(node.value, depth + 1) if known is None else known
            case _:
                return self._kind(node.value, depth + 1)

    def _is_import(self, name: str) -> bool:
        return name in self.imports and name not in self.values

    def _measures(self, function: ast.expr) -> bool:
        """Check whether a function of Python, or a method of a tensor, returns what describes it, such as its size."""
        match function:
            case ast.Name(name):
                return name in _NUMBERS and name not in self.values
            case ast.Attribute(value, name):
                while isinstance(value, ast.Attribute):
                    value = value.value
                return describes(name) and not (
                    isinstance(value, ast.Name) and (value.id == "self" or self._is_import(value.id))
                )
            case _:
                return False

    def _field(self, value: ast.expr, name: str, depth: int) -> Passed:
        """Return what a part of a record is: of one that is not known, what is stored under its name decides."""
        kind = self._kind(value, depth + 1)
        if kind not in {Passed.HANDED, Passed.UNKNOWN}:
            return kind
        self._fields.add(name)
        return Passed.HANDED

    def _name(self, node: ast.arg | ast.Name, depth: int) -> Passed:
        if isinstance(node, ast.arg):
            self._handed.add(node.arg)
            return Passed.HANDED
        return Passed.UNKNOWN if node.id == "self" else self._variable(node.id, depth)

    def _variable(self, name: str, depth: int) -> Passed:
        if name in self._asked:
            return Passed.DATA  # what a variable is made of itself changes nothing
        self._asked.add(name)
        values = self.values.get(name) or [None]
        if all(isinstance(value, ast.expr) and _is_cut(value) for value in values):
            return Passed.DATA
        found = self._most([value for value in values if not _is_empty(value)] or values, depth)
        self._asked.remove(name)
        is_cut = name in self._unrecorded or any(map(_cuts, values))
        return self._without_history(found) if is_cut else found

    def _called(self, function: ast.expr, arguments: Sequence[ast.expr], depth: int) -> Passed:
        cut = self._cut
        kind = self._result(function, arguments, depth)
        if kind is Passed.COMPUTED and self.computes(called_word(function)):
            self._cut = cut  # it has a history, whatever the layer is given
        return kind

    def _result(self, function: ast.expr, arguments: Sequence[ast.expr], depth: int) -> Passed:
        known = self._returned(function, arguments, depth)
        if known is not None:
            return known
        inner = self._most(arguments, depth) if arguments else Passed.DATA
        root = function
        while isinstance(root, ast.Attribute | ast.Subscript):
            root = root.value
        layer = Passed.COMPUTED if self.computes(called_word(function)) else Passed.TRAINED
        match function:
            case ast.Attribute(value, name) if not (isinstance(root, ast.Name) and root.id in self.functions):
                of = self._kind(value, depth + 1)
                of = self._without_history(of) if cuts_history(name) else of
                is_layer = of is Passed.UNKNOWN or (of is Passed.HANDED and not is_of_tensor(name))
                made = layer if is_layer and arguments else of  # a layer, such as `self.head(x)`
                return max(made, Passed.TRAINED) if inner >= Passed.TRAINED else made
            case ast.Name(name) if name not in self.functions:
                return layer
            case ast.Subscript():
                return layer
            case _:
                return inner if self._is_differentiable(function) else self._without_history(inner)

    def _is_differentiable(self, function: ast.expr) -> bool:
        """Check whether a function of a framework passes gradients on."""
        name, _, rest = ast.unparse(function).partition(".")
        whole = f"{self.imports.get(name, '')}.{rest}".rstrip(".")
        forms = [form for known in frameworks() for form in tables(known).forms(whole)]
        return bool(forms) and all(form.grads != () for form in forms)

    def _returned(
        self, function: ast.expr, arguments: Sequence[ast.expr], depth: int, place: int | None = None
    ) -> Passed | None:
        """Return what a call returns of a function whose code is known, all or one; None where that does not tell."""
        match function:
            case ast.Name(name) if name not in self.values:
                found = self.returned(name, False, place)
            case ast.Attribute(ast.Name("self"), name):
                found = self.returned(name, True, place)
            case _:
                return None
        self._cut |= found is not None and found.cut
        if found is None or found.kind is not Passed.HANDED:
            return None if found is None or found.kind is Passed.UNKNOWN else found.kind
        self._fields |= found.fields
        inner = self._most(arguments, depth) if found.params and arguments else Passed.DATA
        return max(inner, Passed.HANDED if found.fields else Passed.DATA)

    def _makes(self, function: ast.expr, keywords: Sequence[ast.keyword]) -> bool:
        """Check whether a call makes an array, or by a framework's function a gradient or a tensor that needs none."""
        name, _, rest = (
            ast.unparse(function).partition(".") if isinstance(function, ast.Name | ast.Attribute) else ("",) * 3
        )
        whole = self.imports.get(name, "")
        known = next((one for one in frameworks() if whole.partition(".")[0] in framework(one).packages), None)
        if known is None or any(keyword.arg == framework(known).requires_grad for keyword in keywords):
            return whole.partition(".")[0] in arrays()
        name = f"{whole}.{rest}" if rest else whole
        if any(form.act == "grad" for form in tables(known).forms(name)):
            return all(keyword.arg not in {None, "create_graph"} for keyword in keywords)
        return is_factory(known, name)

    def _most(self, nodes: Iterable[ast.expr | ast.arg | None], depth: int) -> Passed:
        return max((self._kind(node, depth + 1) for node in nodes), default=Passed.UNKNOWN)


def _cuts(value: ast.expr | ast.arg | None) -> bool:
    parts = () if value is None else ast.walk(value)
    return any(isinstance(part, ast.Attribute) and cuts_history(part.attr) for part in parts)


def _is_cut(value: ast.expr) -> bool:
    """
    Check whether an expression is a tensor without its history: `x.data`, `x.detach().clone()`.

    So is what methods make of such that are given numbers and texts only, unless one asks for a gradient.
    """
    given = [*value.args, *(one.value for one in value.keywords)] if isinstance(value, ast.Call) else []
    part = value.func if isinstance(value, ast.Call) else value
    if not isinstance(part, ast.Attribute):
        return False
    if cuts_history(part.attr):
        return True
    makes = is_of_tensor(part.attr) and part.attr.removesuffix("_") not in flags()
    return makes and all(isinstance(one, ast.Constant) for one in given) and _is_cut(part.value)


def _is_empty(value: ast.expr | ast.arg | None) -> bool:
    """Check whether a variable is bound to an empty list, which is filled later."""
    return isinstance(value, ast.List) and not value.elts


def _trains(body: Sequence[ast.stmt], target: ast.expr) -> bool:
    """Check whether backward runs in a loop, or function, from another value than its own: that is one of a batch."""
    own = {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}
    nodes = (inner for node in body for inner in ast.walk(node))
    calls = [node.func for node in nodes if isinstance(node, ast.Call) and last_word(node.func) == "backward"]
    return any(not (isinstance(call, ast.Attribute) and last_word(call.value) in own) for call in calls)


def settings_of(tree: ast.Module) -> Iterator[tuple[ast.AST, frozenset[str]]]:
    """Yield the methods of classes, with the attributes that these assign nothing but numbers, texts and the like."""
    for cls in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        methods = [node for node in cls.body if isinstance(node, Function)]
        plain: set[ast.expr] = set()
        for method in methods:
            known = _plain_parameters(method) if method.name == "__init__" else frozenset()
            for node in ast.walk(method):
                if isinstance(node, ast.Assign) and (
                    isinstance(node.value, ast.Constant) or last_word(node.value) in known
                ):
                    plain.update(node.targets)
        stored = [node for node in ast.walk(cls) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)]
        others = {node.attr for node in stored if node not in plain}
        settings = frozenset(node.attr for node in stored if node.attr not in others)
        yield from ((method, settings) for method in methods)


def _plain_parameters(function: Function) -> frozenset[str]:
    """Return the parameters whose defaults are numbers, texts and the like."""
    given = function.args
    pairs = [*zip(reversed([*given.posonlyargs, *given.args]), reversed(given.defaults), strict=False)]
    pairs += ((param, value) for param, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value)
    return frozenset(param.arg for param, value in pairs if isinstance(value, ast.Constant) and value.value is not None)


def is_dropped(scope: ast.AST, call: ast.Call) -> bool:
    """
    Check whether a function only tells others what a call returns, or calls it without recording gradients.

        self.log("iou", self.iou(pred, target))    # so does `iou = self.iou(...)` that is only passed to such calls
    """
    told = [inner for node in within(scope) if isinstance(node, ast.Expr) and _tells(node) for inner in ast.walk(node)]
    if call in told or call in unrecorded_in(scope):
        return True
    bound = (node for node in within(scope) if isinstance(node, ast.Assign) and call in ast.walk(node.value))
    names = {name.id for node in bound for one in node.targets for name in ast.walk(one) if isinstance(name, ast.Name)}
    loads = [node for node in within(scope) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    return bool(names) and all(node in told for node in loads if node.id in names)


def _tells(node: ast.Expr) -> bool:
    """Check whether a statement is a call that puts nothing into a list."""
    return isinstance(node.value, ast.Call) and last_word(node.value.func) not in _FILLING


def is_step(function: Function, param: str) -> bool:
    """Check whether a function runs a backward and drops gradients: its parameter is what something is trained on."""
    calls = (node.func for node in ast.walk(function) if isinstance(node, ast.Call))
    clearing = any(isinstance(call, ast.Attribute) and clears(call.attr) for call in calls)
    return clearing and _trains(function.body, ast.Name(param))


def trains_alone(function: Function) -> bool:
    """Check whether a function drops gradients and runs a backward of its own, which is seen: `loss.backward()`."""
    calls = [node for node in within(function) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    names = [(node.func.attr, bool(node.args)) for node in calls if isinstance(node.func, ast.Attribute)]
    return ("backward", False) in names and any(clears(name) for name, _ in names)


@cache
def clears(name: str) -> bool:
    """Check whether a method of a name is one by which an optimizer or module drops gradients."""
    owners = (
        (known, owner) for known in frameworks() for owner in (framework(known).module, *framework(known).optimizers)
    )
    return any(form.act in _CLEARING for known, owner in owners for form in tables(known).forms(f"{owner}.{name}"))
