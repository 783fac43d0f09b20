"""
What the calls of a project pass for a parameter: data, or something that is trained.

    compute_loss = ComputeLoss(model)
    for images, targets in loader:                     # what a loop that runs backward goes through is data
        loss = compute_loss(model(images), targets)    # the first is trained, the second is data
        loss.backward()

    heatmap = torch.zeros(8, 8)
    draw(heatmap, box)                               # so is what a framework's function has made

A call that passes data says what a parameter is for, unless another one passes something that is trained. What most
calls pass is not known: it says nothing. Syntax decides, of the files that import the function.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache

from inplace_lint.core.remembered import remembered
from inplace_lint.knowledge.facts import framework, frameworks, load
from inplace_lint.workspace.evaluation import Trees
from inplace_lint.workspace.import_graph import Graph
from inplace_lint.workspace.training.uses import last_word

_MOST = 60  # files that import a function, which are parsed; one that more of them do is used for many things
_DEEPEST = 10  # expressions and variables that lead to each other
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Part = tuple[str, str, str]  # the path of a file, a function or method by its qualified name, a parameter


class _Passed(IntEnum):
    """What an argument is; of several parts the highest."""

    DATA = 0
    UNKNOWN = 1
    TRAINED = 2


@dataclass
class Given:
    """What the files that a graph knows pass for parameters, found on demand."""

    graph: Graph
    trees: Trees

    @remembered
    def is_data(self, part: _Part) -> bool:
        """Check whether some call passes data for a parameter, and none something that is trained."""
        path, qualname, param = part
        owner, _, name = qualname.rpartition(".")
        function = _find(self._tree(path), qualname)
        names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)] if function else []
        static = function is not None and "staticmethod" in map(last_word, function.decorator_list)
        names = names[1:] if owner and not static else names
        if param not in names:
            return False
        makes = bool(owner) and name in {"__call__", *(framework(known).calls for known in frameworks())}
        word, place = owner if makes else name, names.index(param)
        users = self.graph.users(path)
        paths = [path, *(user for user, known in users.items() if not known.isdisjoint({owner or name, "", "*"}))]
        if len(paths) > _MOST:
            return False
        found = {kind for user in paths for kind in self._calls(user).passed(word, makes, place, param)}
        return _Passed.DATA in found and _Passed.TRAINED not in found

    @remembered
    def _calls(self, path: str) -> _Calls:
        return _Calls(self._tree(path))

    def _tree(self, path: str) -> ast.Module:
        return self.trees.of(path) or ast.Module([], [])


def _find(tree: ast.Module, qualname: str) -> _Function | None:
    body: Sequence[ast.stmt] = tree.body
    *outer, last = qualname.split(".")
    for name in outer:
        body = next((node.body for node in body if isinstance(node, ast.ClassDef) and node.name == name), [])
    return next((node for node in body if isinstance(node, _Function) and node.name == last), None)


class _Calls:
    """
    The calls of a file by the last name of what is called, with the scope of each.

    `made` are the names that hold what a call returned.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.imports = _imports(tree)
        self.functions = _functions(tree, self.imports)
        self.settings = dict(_settings(tree))
        self.calls: dict[str, list[tuple[ast.AST, ast.Call]]] = {}
        self.made: dict[str, set[str]] = {}
        self._bound: dict[ast.AST, _Bound] = {}
        for scope in _scopes(tree):
            for node in _within(scope):
                if isinstance(node, ast.Call):
                    self.calls.setdefault(last_word(node.func), []).append((scope, node))
                elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                    names = {last_word(target) for target in node.targets} - {""}
                    self.made.setdefault(last_word(node.value.func), set()).update(names)

    def passed(self, word: str, makes: bool, place: int, param: str) -> Iterator[_Passed]:
        """Yield what the calls of a function pass, or those of the objects that a class `makes`."""
        for name in self.made.get(word, ()) if makes else (word,):
            for scope, call in self.calls.get(name, ()):
                value = _argument(call, place, param)
                if value is not None:
                    yield self._scope(scope).kind(value)

    def _scope(self, scope: ast.AST) -> _Bound:
        if scope not in self._bound:
            self._bound[scope] = _Bound(scope, self.functions, self.settings.get(scope, frozenset()), self.imports)
        return self._bound[scope]


def _argument(call: ast.Call, place: int, param: str) -> ast.expr | None:
    """Return what a call passes for a parameter; None where that is not written there."""
    named = next((one.value for one in call.keywords if one.arg == param), None)
    before = call.args[: place + 1]
    if named is not None or len(before) <= place or any(isinstance(one, ast.Starred) for one in before):
        return named
    return before[place]


def _scopes(tree: ast.Module) -> Iterator[ast.AST]:
    yield tree
    yield from (node for node in ast.walk(tree) if isinstance(node, _Function))


def _within(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield what is in a function, without the functions in it."""
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        if not isinstance(node, _Function):
            yield node
            waiting.extend(ast.iter_child_nodes(node))


class _Bound:
    """
    The variables of a function, with the expressions that they are bound to, or that are put into them.

    `settings` are attributes of `self`; `imports` the whole names of what the file imports.
    """

    def __init__(
        self, scope: ast.AST, functions: frozenset[str], settings: frozenset[str], imports: Mapping[str, str]
    ) -> None:
        self.functions, self.settings, self.imports = functions, settings, imports
        self._asked: set[str] = set()
        self.values: dict[str, list[ast.expr | None]] = {}
        for node in _within(scope):
            match node:
                case ast.Assign(targets, value):
                    for target in targets:
                        self._bind(target, value)
                case ast.AnnAssign(target, _, value) | ast.AugAssign(target, _, value) | ast.NamedExpr(target, value):
                    self._bind(target, value)
                case ast.For(target, iterable, body) | ast.AsyncFor(target, iterable, body):
                    self._bind(target, ast.Constant(0) if _trains(body, target) else iterable)
                case ast.arg(name):
                    self.values.setdefault(name, []).append(None)
                case ast.Attribute(ast.Name(name), word) if word.removesuffix("_") in _flags():
                    self.values.setdefault(name, []).append(None)  # it may be told to require grad
                case _:
                    pass

    def _bind(self, target: ast.expr, value: ast.expr | None) -> None:
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            self.values.setdefault(target.value.id, []).append(value)
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.values.setdefault(node.id, []).append(value)

    def kind(self, node: ast.expr | None, depth: int = 0) -> _Passed:
        """Return what an expression is: what calls of anything but a framework's functions return may be trained."""
        if depth > _DEEPEST:
            return _Passed.UNKNOWN
        match node:
            case ast.Constant() | ast.Compare():
                return _Passed.DATA
            case ast.Name(name):
                return self._variable(name, depth)
            case ast.Attribute(ast.Name("self"), name):
                return _Passed.DATA if name in self.settings else _Passed.UNKNOWN
            case ast.Attribute(value, _) | ast.Subscript(value, _) | ast.UnaryOp(_, value):
                return self.kind(value, depth + 1)
            case ast.BinOp(left, _, right) | ast.IfExp(_, left, right):
                return self._most((left, right), depth)
            case ast.Tuple(items) | ast.List(items):
                return self._most(items, depth) if items else _Passed.UNKNOWN
            case ast.Call(function, _, keywords) if self._makes(function, keywords):
                return _Passed.DATA
            case ast.Call(function, arguments):
                return self._called(function, arguments, depth)
            case _:
                return _Passed.UNKNOWN

    def _variable(self, name: str, depth: int) -> _Passed:
        if name in self._asked:
            return _Passed.DATA  # what a variable is made of itself changes nothing
        self._asked.add(name)
        found = self._most(self.values.get(name) or (None,), depth)
        self._asked.remove(name)
        return found

    def _called(self, function: ast.expr, arguments: Sequence[ast.expr], depth: int) -> _Passed:
        inner = self._most(arguments, depth) if arguments else _Passed.DATA
        root = function
        while isinstance(root, ast.Attribute):
            root = root.value
        match function:
            case ast.Attribute(value, _) if not (isinstance(root, ast.Name) and root.id in self.functions):
                of = self.kind(value, depth + 1)
                made = _Passed.TRAINED if of is _Passed.UNKNOWN and arguments else of  # a layer, such as `self.head(x)`
                return _Passed.TRAINED if inner is _Passed.TRAINED else made
            case ast.Name(name) if name not in self.functions:
                return _Passed.TRAINED
            case _:
                return inner

    def _makes(self, function: ast.expr, keywords: Sequence[ast.keyword]) -> bool:
        """Check whether a call is of a framework's function that makes a tensor, which is not told to require grad."""
        name, _, rest = (
            ast.unparse(function).partition(".") if isinstance(function, ast.Name | ast.Attribute) else ("",) * 3
        )
        whole = self.imports.get(name, "")
        known = next((one for one in frameworks() if whole.partition(".")[0] in framework(one).packages), None)
        if known is None or any(keyword.arg == framework(known).requires_grad for keyword in keywords):
            return False
        return _is_factory(known, f"{whole}.{rest}" if rest else whole)

    def _most(self, nodes: Iterable[ast.expr | None], depth: int) -> _Passed:
        return max((self.kind(node, depth + 1) for node in nodes), default=_Passed.UNKNOWN)


@cache
def _flags() -> frozenset[str]:
    return frozenset(framework(known).requires_grad for known in frameworks())


@cache
def _is_factory(known: str, name: str) -> bool:
    """Check whether a function of a framework makes a leaf that requires no grad by default."""
    results = [form.returns[-1] for form in load(known).forms(name) if form.returns]
    return bool(results) and all(one.leaf and one.rg is not None for one in results)


def _imports(tree: ast.Module) -> dict[str, str]:
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


def _settings(tree: ast.Module) -> Iterator[tuple[ast.AST, frozenset[str]]]:
    """Yield the methods of classes, with the attributes that these assign nothing but numbers, texts and the like."""
    for cls in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        methods = [node for node in cls.body if isinstance(node, _Function)]
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


def _plain_parameters(function: _Function) -> frozenset[str]:
    """Return the parameters whose defaults are numbers, texts and the like."""
    given = function.args
    pairs = [*zip(reversed([*given.posonlyargs, *given.args]), reversed(given.defaults), strict=False)]
    pairs += ((param, value) for param, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value)
    return frozenset(param.arg for param, value in pairs if isinstance(value, ast.Constant) and value.value is not None)


def _trains(body: Sequence[ast.stmt], target: ast.expr) -> bool:
    """Check whether backward runs in a loop, from another value than its own: it goes through batches of a training."""
    own = {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}
    nodes = (inner for node in body for inner in ast.walk(node))
    calls = [node.func for node in nodes if isinstance(node, ast.Call) and last_word(node.func) == "backward"]
    return any(not (isinstance(call, ast.Attribute) and last_word(call.value) in own) for call in calls)


def _functions(tree: ast.Module, imports: Iterable[str]) -> frozenset[str]:
    """Return the names of functions of a file, of what it imports and of Python's own functions: no layer is one."""
    own = (node.name for node in ast.walk(tree) if isinstance(node, _Function))
    return frozenset((*dir(builtins), *imports, *own))
