"""Which parts of a file lead to a write, and in which order they are run: the outermost first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from inplace_lint.effects import may_write
from inplace_lint.effects.summary import Definition, Outline
from inplace_lint.interp.context import Context
from inplace_lint.interp.fuel import CALLERS, CALLS_TO_WRITE
from inplace_lint.ir import nodes as ir

_UNRECORDED = frozenset({"mode:grad=False", "mode:inference"})
_DEEPEST = 2


@dataclass(frozen=True, slots=True)
class Units:
    """
    The functions and classes to run, in order; `script` when the module's own statements lead to a write.

    Of those in `set_up` only the constructor leads to one.
    """

    items: tuple[Definition, ...]
    script: bool
    uses: Mapping[str, frozenset[str]]
    set_up: frozenset[str] = frozenset()
    seen: Counter[frozenset[str]] = field(default_factory=Counter)

    def is_one_of_many(self, item: Definition) -> bool:
        """
        Say whether a function that writes nothing itself is a further caller of what enough others called before.

        Files of model variants hold dozens of functions that differ in a few arguments only.
        """
        if item.writes:
            return False
        used = self.uses[item.name]
        self.seen[used] += 1
        return self.seen[used] > CALLERS


def units(outline: Outline, imported: may_write.Leading[str]) -> Units:
    """
    Order the functions and classes that reach a write so that what runs others comes before them.

    `imported` are names of other files that lead to a write.
    """
    named = {item.name: item for item in outline.items if item.name}
    uses = {name: _used(item, named) for name, item in named.items()}
    links = {name: may_write.links(item) for name, item in named.items()}
    for name, parts in _used_through_parts(named).items():
        uses[name] |= parts
        links[name] = links[name].running(parts)
    leading = may_write.leading(links, imported)
    set_up = {
        name for name in named if name not in leading.run and may_write.sets_up(named[name], links[name], leading)
    }
    classes = {name for name, item in named.items() if item.kind == "class" and name in leading.run}
    near = classes | {name for name, item in named.items() if _is_near(item, leading, uses, classes)}
    reaching = {name for name, item in named.items() if writes(item)} | near | set_up
    height = _heights({name: named[name].slice.first for name in reaching}, uses)
    order = sorted(reaching, key=lambda name: (-height[name], named[name].slice.first))
    shared = {name: frozenset(used & reaching) for name, used in uses.items()}
    items = tuple(named[name] for name in order)
    return Units(items, _runs_script(outline, named, leading, set_up), shared, frozenset(set_up))


def _is_near(
    item: Definition, leading: may_write.Leading[str], uses: Mapping[str, set[str]], classes: set[str]
) -> bool:
    """
    Say whether a function that leads to a write, or makes what does, is worth a root of its own.

    It is not if the write is so many calls away that it meets what those between keep, which are run themselves,
    unless it makes what writes and runs that, or tells how one of the `classes` of the file is constructed.
    """
    if item.kind != "function":
        return False
    if leading.run.get(item.name, CALLS_TO_WRITE + 1) <= CALLS_TO_WRITE:
        return True
    return item.name in leading.make and (item.runs_made or not classes.isdisjoint(_below(item.name, uses)))


def _below(name: str, uses: Mapping[str, set[str]]) -> set[str]:
    """Give all of its file that a definition uses, directly or through others."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        more = uses[waiting.pop()] - found
        found |= more
        waiting.extend(more)
    return found


def _runs_script(
    outline: Outline, named: Mapping[str, Definition], leading: may_write.Leading[str], set_up: set[str]
) -> bool:
    """
    Say whether the module's own statements write, or call what does.

    Making an object of a class is no such call, unless its constructor writes.
    """
    script = [item for item in outline.items if item.kind == "statement"]
    holding = {*leading.run, *leading.members}
    grew = True
    while grew:
        more = {name for item in script if item.reads & holding for name in item.binds} - holding
        holding |= more
        grew = bool(more)
    classes = {name for name, item in named.items() if item.kind == "class"}
    running = (holding - classes) | set_up
    return any(
        item.writes
        or any(called in running or called.partition(".")[0] in holding for called in item.calls - (classes - set_up))
        or (item.calls and leading.passed(item.kept - classes))
        for item in script
    )


def writes(item: Definition) -> bool:
    """Say whether something in a definition, methods included, may write in place."""
    return item.writes or any(method.writes for method in item.methods)


def _used(item: Definition, named: dict[str, Definition]) -> set[str]:
    return {name for name in may_write.reads(item) if name in named and name != item.name}


def _used_through_parts(named: Mapping[str, Definition]) -> dict[str, set[str]]:
    """
    Give the classes that a class uses without naming them: it was given an object of theirs.

    A method by whose name only one class of the file goes tells which class that is.
    """
    owners: dict[str, set[str]] = {}
    for name, item in named.items():
        for method in item.methods:
            owners.setdefault(method.name, set()).add(name)
    only = {method: next(iter(names)) for method, names in owners.items() if len(names) == 1}
    return {
        name: {only[called] for called in item.attributes if called in only} - {name}
        for name, item in named.items()
        if item.kind == "class"
    }


def _heights(reaching: Mapping[str, int], uses: dict[str, set[str]]) -> dict[str, int]:
    """Give each name the length of the longest chain of uses below it; a cycle counts once."""
    heights: dict[str, int] = {}

    def height(name: str, active: frozenset[str]) -> int:
        if name in heights:
            return heights[name]
        users = sorted((used for used in uses[name] if used in reaching), key=reaching.__getitem__)
        below = [height(used, active | {name}) for used in users if used not in active]
        heights[name] = 1 + max(below, default=0)
        return heights[name]

    for name in sorted(reaching, key=reaching.__getitem__):
        height(name, frozenset())
    return heights


def key(item: Definition) -> str:
    """Name a definition as the budget's lists of functions do."""
    return f"{item.slice.path}:{item.slice.first}:{item.name}"


def pending(context: Context, item: Definition) -> bool:
    """Say whether a unit, or a method of it, is to be run as a root of its own."""
    if item.kind == "function":
        return key(item) not in context.fuel.returned
    # A class is run alone even if an outer root ran it: what is wrong in it whatever its inputs are is then an error,
    # where the way to the outer root's result may lead through unknown calls.
    calls = context.default().framework.calls
    called = next((method for method in item.methods if method.name == calls), None)
    if called is not None:
        return writes(item) or key(called) not in context.fuel.returned
    # Without a method of its own for it, a call runs that of a base, on what this class constructs.
    if item.bases and (writes(item) or _changes_unseen(context, item)):
        return True
    return any(method_pending(context, method) for method in item.methods)


def _changes_unseen(context: Context, item: Definition) -> bool:
    """Say whether no root ran yet what a class changes of its bases: the constructor, or a method that this uses."""
    named = {known.name: known for known in context.outline.items if known.kind == "class"}
    used = {"__init__"}
    seen = {item.name}
    waiting = list(item.bases)
    while waiting:
        base = named.get(waiting.pop())
        if base is not None and base.name not in seen:
            seen.add(base.name)
            set_up = may_write.setting_up(base)
            used.update(*(method.attributes for method in base.methods if method.name in set_up))
            waiting.extend(base.bases)
    return any(method.name in used and key(method) not in context.fuel.returned for method in item.methods)


def unseen(context: Context, item: Definition) -> bool:
    """Say whether a method that writes, or what a call of the class runs, was not run by any root yet."""
    calls = context.default().framework.calls
    return any(
        key(method) not in context.fuel.returned for method in item.methods if method.writes or method.name == calls
    )


def method_pending(context: Context, method: Definition) -> bool:
    """Say whether a method writes and was not run yet."""
    return method.writes and key(method) not in context.fuel.returned


def pending_methods(context: Context, item: Definition) -> Iterator[Definition]:
    """
    Give the methods of a class to run as roots of their own, each when its turn comes: the outermost first.

    They write, or call others of the class that do, and no root ran these.
    """
    below = _writers_below(item)
    returned = context.fuel.returned
    for method in order_of_methods(item):
        if key(method) not in returned and any(key(writer) not in returned for writer in below[method.name]):
            yield method


def _writers_below(item: Definition) -> dict[str, list[Definition]]:
    """Give for each method of a class those that write among itself and what it uses of the class."""
    uses = {method.name: method.attributes for method in item.methods}
    found: dict[str, list[Definition]] = {}
    for name in uses:
        below = {name}
        grew = True
        while grew:
            more = {other for other in uses if other not in below and any(other in uses[known] for known in below)}
            below |= more
            grew = bool(more)
        found[name] = [method for method in item.methods if method.writes and method.name in below]
    return found


def runs_unrecorded(context: Context, name: str, depth: int = 0) -> bool:
    """Say whether all of the file that uses a function or method of this name runs without recording gradients."""
    users = _users(context, name)
    return bool(users) and all(
        any(_stops_recording(context, decorator) for decorator in user.decorators)
        or (depth < _DEEPEST and bool(user.name) and runs_unrecorded(context, user.name, depth + 1))
        for user in users
    )


def only_sets_up(context: Context, name: str) -> bool:
    """Say whether all of the file that uses a function are constructors: what it is passed there has no history."""
    users = _users(context, name)
    return bool(users) and all(user.name == "__init__" for user in users)


def used(context: Context, name: str) -> bool:
    """Say whether something else in the file uses a function or method of this name."""
    return bool(_users(context, name))


def _users(context: Context, name: str) -> list[Definition]:
    return [
        user
        for item in context.outline.items
        for user in item.methods or (item,)
        if user.name != name and (name in user.reads or name in user.attributes)
    ]


def _stops_recording(context: Context, decorator: str) -> bool:
    root, _, rest = decorator.partition(".")
    if any(item.kind != "statement" for item in context.main.items(root)):
        return False  # one of the program, whatever it is called
    origins = [
        f"{node.module}.{original}" if isinstance(node, ir.ImportFrom) else original
        for node, original in context.main.imported.get(root, ())
    ] or [context.default().framework.name]
    forms = next(filter(None, (context.forms(f"{origin}.{rest}".strip(".")) for origin in origins)), ())
    return bool(forms) and forms[0].act in _UNRECORDED


def order_of_methods(item: Definition) -> list[Definition]:
    """Order the methods of a class so that those that call others come first."""
    by_name = {method.member: method for method in item.methods}
    uses = {
        name: {other for other in method.attributes if other in by_name and other != name}
        for name, method in by_name.items()
    }
    heights = _heights({name: method.slice.first for name, method in by_name.items()}, uses)
    return sorted(item.methods, key=lambda method: (-heights[method.member], method.slice.first))


def writers(outline: Outline) -> list[Definition]:
    """List the functions and methods of a file that write."""
    found = [item for item in outline.items if item.kind == "function" and item.writes]
    for item in outline.items:
        found.extend(method for method in item.methods if method.writes)
    return found
