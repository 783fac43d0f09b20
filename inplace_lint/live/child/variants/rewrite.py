"""
Rewrites the tree of a program into a variant without a fault.

A `Form` says which variant, and the places of the finding:

* `write`: the written name is bound to a copy first, so that nothing else sees the write; a flag is turned off;
* `allowed`: the same, and what is refused all the same runs without recording, binds its new value, or is left out;
* `detached`: the value that is written has no history;
* `recorded`: as `write`, and the write is recorded;
* `rebound`: the new value is bound to the name, and nothing is written;
* `operand`: what is written from is a copy;
* `apart`: the call writes into a copy, and has its value;
* `alias`: what is kept, or bound to a second name, is a copy;
* `bound`: the same, where the name that is read there is bound;
* `stored`: what is written to the copy that an index made is stored back;
* `update`: an augmented assignment that binds a new value writes into the old one instead;
* `inplace`: a call gets the flag with which it writes in place.

Code that has no such form is not compared.
"""

from __future__ import annotations

import ast
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from .storing import stored
from .tree import MADE, NAMES, Place, as_context, block_of, chain_of, helper, replaced

_UNTRACKED = "data"
_SETTERS = ("copy_", "set_", "set_value")
_Name = Union[ast.Name, ast.Attribute, ast.Subscript]
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Form(NamedTuple):
    """The kind of a variant, and the places that it changes."""

    kind: str
    places: Tuple[Place, ...] = ()

    @classmethod
    def of(cls, data: Dict[str, Any]) -> Form:
        """Return the form that `plain` describes."""
        return cls(data["kind"], tuple(Place(*place) for place in data["places"]))

    @property
    def plain(self) -> Dict[str, Any]:
        """The form as plain data."""
        return {"kind": self.kind, "places": [list(place) for place in self.places]}


def has_form(source: str, form: Form) -> bool:
    """Check whether a file can be rewritten into a variant."""
    return reformed(ast.parse(source), [form])


def reformed(tree: ast.Module, forms: Sequence[Form]) -> bool:
    """Rewrite a tree into a variant; return false where some place has no such form, or there is no place."""
    places = [(EDITS[form.kind], place) for form in forms if form.kind in EDITS for place in form.places]
    chains = [(edit, chain_of(tree, place)) for edit, place in places]  # all are found before the tree changes
    done = [bool(chain) and edit(chain) for edit, chain in chains]
    ast.fix_missing_locations(tree)
    return bool(done) and all(done)


def _write(chain: Sequence[ast.AST], copied: str = "copied") -> bool:
    node = chain[-1]
    flag = node.value if isinstance(node, ast.keyword) else node
    if isinstance(flag, ast.Constant) and flag.value is True:
        flag.value = False
        return True
    written = written_by(node, chain[0])
    return written is not None and _copied_before(chain, written, copied)


def written_by(node: ast.AST, tree: ast.AST) -> Optional[ast.expr]:
    """Return the expression of the tensor that a node writes."""
    if isinstance(node, ast.AugAssign):
        return node.target
    if isinstance(node, ast.Subscript):
        return node.value
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) and isinstance(node.targets[0], ast.Name):
        return node.targets[0]  # `total = total + loss`
    if not isinstance(node, ast.Call):
        return None
    out = [item.value for item in node.keywords if item.arg == "out"]
    is_method = isinstance(node.func, ast.Attribute) and _root(node.func) not in _imported(tree)
    if isinstance(node.func, ast.Attribute) and is_method and not out:
        return node.func.value if node.func.attr.endswith("_") or node.func.attr in _SETTERS else None
    return next(iter([*out, *node.args]), None)


def _imported(tree: ast.AST) -> List[str]:
    aliases = [
        alias for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names
    ]
    return [alias.asname or alias.name.partition(".")[0] for alias in aliases]


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _copied_before(chain: Sequence[ast.AST], written: ast.expr, copied: str) -> bool:
    """Bind the name of the written tensor to a copy, in a statement before the write."""
    owners = [owner for owner in _owners(written) if _may_bind(chain, owner)]
    if not owners:
        return False
    block, at = block_of(chain)
    block.insert(at, _first_tensor_copied(owners, copied))
    return True


def _owners(written: ast.expr) -> List[_Name]:
    """Return the names from which the written tensor is reached, the shortest first: `self`, `self.h`, `self.h[0]`."""
    found: List[_Name] = []
    node: ast.AST = written
    while isinstance(node, (*NAMES, ast.Call)):
        if isinstance(node, NAMES):
            found.insert(0, node)
        node = node.func if isinstance(node, ast.Call) else node.value if not isinstance(node, ast.Name) else ast.Pass()
    return found if isinstance(node, ast.Pass) else []


def _may_bind(chain: Sequence[ast.AST], owner: _Name) -> bool:
    """Check whether a name can be bound before the statement: it is not of another scope or of a comprehension."""
    if not isinstance(owner, ast.Name):
        return not any(isinstance(node, (ast.Lambda, *_COMPREHENSIONS)) for node in chain) or _root(owner) == "self"
    if any(isinstance(node, (ast.Lambda, *_COMPREHENSIONS)) for node in chain):
        return False
    scopes = [node for node in chain if isinstance(node, _SCOPES)]
    return not scopes or owner.id in _bound_in(scopes[-1])


def _bound_in(scope: ast.AST) -> List[str]:
    nodes = list(ast.walk(scope))
    stored = [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    outer = {name for node in nodes if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
    return [name for name in (*stored, *(node.arg for node in nodes if isinstance(node, ast.arg))) if name not in outer]


def _first_tensor_copied(owners: Sequence[_Name], copied: str) -> ast.stmt:
    """Return `if is_tensor(a): a = copied(a)`, with an `elif` for each longer name."""
    head, *rest = owners
    bound = ast.Assign([as_context(head, ast.Store())], helper(copied, as_context(head, ast.Load())), lineno=1)
    otherwise = [_first_tensor_copied(rest, copied)] if rest else []
    return ast.If(helper("is_tensor", as_context(head, ast.Load())), [bound], otherwise)


def _apart(chain: Sequence[ast.AST]) -> bool:
    """Have a call whose value is used write into a copy."""
    node = chain[-1]
    written = written_by(node, chain[0])
    block, at = block_of(chain)
    statement = block[at]
    if (
        not isinstance(node, ast.Call)
        or written is None
        or (isinstance(statement, ast.Expr) and statement.value is node)
    ):
        return False
    return replaced(node, written, helper("value", written))


def _operand(chain: Sequence[ast.AST]) -> bool:
    node = chain[-1]
    if isinstance(node, ast.Call):
        node.args = [helper("operand", item) for item in node.args if not isinstance(item, ast.Starred)]
        return bool(node.args)
    if not isinstance(node, (ast.AugAssign, ast.Assign)):
        node = next(item for item in reversed(chain) if isinstance(item, ast.stmt))
    if not isinstance(node, (ast.AugAssign, ast.Assign)):
        return False
    parts = node.value.elts if isinstance(node.value, ast.Tuple) else None
    if parts is not None:
        node.value = ast.Tuple([helper("operand", item) for item in parts], ast.Load())
    else:
        node.value = helper("operand", node.value)
    return True


def _allowed(chain: Sequence[ast.AST]) -> bool:
    written = written_by(chain[-1], chain[0])
    block, at = block_of(chain)
    statement = block[at]
    if written is None or not isinstance(statement, (ast.Expr, ast.Assign, ast.AugAssign)):
        return _write(chain, "value")
    if isinstance(statement, ast.Assign) and isinstance(chain[-1], ast.Call):
        return _write(chain, "value")  # its value has a history
    _copied_before(chain, written, "copied")
    unrecorded: ast.stmt = ast.With([ast.withitem(helper("unrecorded"))], [statement])
    inner = _unless_refused(unrecorded, _new_value(statement))
    block[block.index(statement)] = ast.copy_location(_unless_refused(statement, inner), statement)
    return True


def _unless_refused(statement: ast.stmt, otherwise: ast.stmt) -> ast.Try:
    handler = ast.ExceptHandler(ast.Name("Exception", ast.Load()), None, [otherwise])
    return ast.Try([statement], [handler], [], [])


def _new_value(statement: ast.stmt) -> ast.stmt:
    """Return an assignment of what an augmented one computes; nothing for any other statement."""
    if not isinstance(statement, ast.AugAssign) or isinstance(statement.target, ast.Subscript):
        return ast.Pass()
    value = ast.BinOp(as_context(statement.target, ast.Load()), statement.op, statement.value)
    return ast.Assign([as_context(statement.target, ast.Store())], value)


def _detached(chain: Sequence[ast.AST]) -> bool:
    node = chain[-1]
    if isinstance(node, ast.Call):
        node.args = [item if isinstance(item, ast.Starred) else helper("detached", item) for item in node.args]
        for keyword in node.keywords:
            keyword.value = helper("detached", keyword.value) if keyword.arg else keyword.value
        return bool(node.args or node.keywords)
    statement = next((item for item in reversed(chain) if isinstance(item, ast.stmt)), None)
    if not isinstance(statement, (ast.Assign, ast.AugAssign)):
        return False
    statement.value = helper("detached", statement.value)
    return True


def _restarted(chain: Sequence[ast.AST]) -> bool:
    written = written_by(chain[-1], chain[0])
    return written is not None and _copied_before(chain, written, "detached")


def _recorded(chain: Sequence[ast.AST]) -> bool:
    block, at = block_of(chain)
    rebinding = _of_untracked(chain[-1], block[at])
    if rebinding is not None:
        block[at] = ast.With([ast.withitem(helper("recording"))], [rebinding])
        return True
    written = written_by(chain[-1], chain[0])
    if isinstance(written, ast.Attribute) and written.attr == _UNTRACKED:
        replaced(chain[-1], written, written.value)
        written = written.value
    if written is None or not _copied_before(chain, written, "owned"):
        return False
    block[at : at + 2] = [ast.With([ast.withitem(helper("recording"))], block[at : at + 2])]
    return True


def _of_untracked(node: ast.AST, statement: ast.stmt) -> Optional[ast.stmt]:
    """Return the statement that binds `w` to what a statement writes into `w.data`, by operations on `w`."""
    if not isinstance(node, ast.Attribute) or node.attr != _UNTRACKED or not isinstance(node.value, NAMES):
        return None
    target = as_context(node.value, ast.Store())
    if isinstance(statement, ast.AugAssign) and statement.target is node:
        return ast.Assign([target], ast.BinOp(node.value, statement.op, statement.value), lineno=1)
    if isinstance(statement, ast.Assign) and statement.targets == [node]:
        return ast.Assign([target], statement.value, lineno=1)
    return None


def _rebound(chain: Sequence[ast.AST]) -> bool:
    node = chain[-1]
    block, at = block_of(chain)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    target, method = node.func.value, node.func.attr
    if getattr(block[at], "value", None) is not node or not isinstance(target, NAMES) or not _may_bind(chain, target):
        return False
    if method in _SETTERS and node.args:
        block[at] = ast.Assign([as_context(target, ast.Store())], helper("value", node.args[0]), lineno=1)
        return True
    if isinstance(target, ast.Name):
        whole = _part_of(chain, target)
        if whole is None:
            return False  # it may be a view of a larger tensor, whose name would keep the old value
        own = ast.Assign([as_context(target, ast.Store())], helper("value", as_context(target, ast.Load())), lineno=1)
        block[at : at + 1] = [
            own,
            block[at],
            ast.Assign([as_context(whole, ast.Store())], as_context(target, ast.Load()), lineno=1),
        ]
        return True
    if not isinstance(target, ast.Subscript):
        return False
    node.func.value = helper("value", as_context(target, ast.Load()))
    block[at] = ast.Assign([as_context(target, ast.Store())], node, lineno=1)
    return True


def _part_of(chain: Sequence[ast.AST], name: ast.Name) -> Optional[ast.Subscript]:
    """Return the subscript that a name is bound to, where that is its only binding and can be evaluated again."""
    scope = next((node for node in reversed(chain) if isinstance(node, _SCOPES)), chain[0])
    value = getattr(_binding(scope, name), "value", None)
    is_plain = isinstance(value, ast.Subscript) and not any(isinstance(part, MADE) for part in ast.walk(value))
    return value if is_plain else None


def _binding(scope: ast.AST, name: ast.Name) -> Optional[ast.Assign]:
    """Return the assignment above a name that alone binds it in its scope."""
    augmented = [getattr(node.target, "id", "") for node in ast.walk(scope) if isinstance(node, ast.AugAssign)]
    if _bound_in(scope).count(name.id) != 1 + augmented.count(name.id):
        return None
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign) and [getattr(target, "id", "") for target in node.targets] == [name.id]:
            return node if node.lineno < name.lineno else None
    return None


def _alias(chain: Sequence[ast.AST]) -> bool:
    node = chain[-1]
    if isinstance(node, ast.arg):
        scope = next(item for item in reversed(chain) if isinstance(item, _SCOPES))
        if isinstance(scope, ast.Lambda):
            return False
        own = helper("kept", ast.Name(node.arg, ast.Load()))
        scope.body.insert(0, ast.Assign([ast.Name(node.arg, ast.Store())], own, lineno=1))
        return True
    node = _around_target(chain)
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
        node.value = helper("kept", node.value)
        return True
    if not isinstance(node, ast.expr):
        return False
    if isinstance(node, ast.Call):
        node.args = [item if isinstance(item, ast.Starred) else helper("kept", item) for item in node.args]
        for keyword in node.keywords:
            keyword.value = helper("kept", keyword.value) if keyword.arg else keyword.value
    return replaced(chain[-2], node, helper("kept", node))


def _around_target(chain: Sequence[ast.AST]) -> ast.AST:
    """Return the node at a place; the statement, where that is what it assigns to."""
    node = chain[-1]
    is_target = isinstance(node, NAMES) and isinstance(node.ctx, ast.Store)
    return next(item for item in reversed(chain) if isinstance(item, ast.stmt)) if is_target else node


def _bound(chain: Sequence[ast.AST]) -> bool:
    """Copy what the name at a place is bound to: where it is read, a copy may come too late."""
    node = _around_target(chain)
    read = node.value if isinstance(node, ast.Assign) else node
    around = next((item for item in reversed(chain) if isinstance(item, _SCOPES)), chain[0])
    binding = _binding(around, read) if isinstance(read, ast.Name) else None
    return binding is not None and _alias([*chain, binding])


def _stored(chain: Sequence[ast.AST]) -> bool:
    written = written_by(chain[-1], chain[0])
    if not isinstance(written, ast.Name):
        return written is not None and stored(chain, written)
    part = _part_of(chain, written)
    if part is None:
        return False
    block, at = block_of(chain)
    block.insert(at + 1, ast.Assign([as_context(part, ast.Store())], as_context(written, ast.Load()), lineno=1))
    return True


def _update(chain: Sequence[ast.AST]) -> bool:
    node = chain[-1]
    if not isinstance(node, ast.AugAssign) or not isinstance(node.target, NAMES):
        return False
    block, at = block_of(chain)
    value = ast.BinOp(as_context(node.target, ast.Load()), node.op, node.value)
    block[at] = ast.Expr(helper("updated", as_context(node.target, ast.Load()), value))
    return True


def _inplace(chain: Sequence[ast.AST]) -> bool:
    node = chain[-1]
    if not isinstance(node, ast.Call):
        return False
    node.keywords.append(ast.keyword("inplace", ast.Constant(True)))
    return True


EDITS: Dict[str, Callable[[Sequence[ast.AST]], bool]] = {
    "write": _write,
    "allowed": _allowed,
    "detached": _detached,
    "restarted": _restarted,
    "recorded": _recorded,
    "rebound": _rebound,
    "operand": _operand,
    "apart": _apart,
    "alias": _alias,
    "bound": _bound,
    "stored": _stored,
    "update": _update,
    "inplace": _inplace,
}
