"""Which parts of a file lead to a write, and in which order they are run: the outermost first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from inplace_lint.interp.budget import CALLERS
from inplace_lint.interp.program import Program
from inplace_lint.outline.outline import Definition, Outline

_UNRECORDED = frozenset({"mode:grad=False", "mode:inference"})
_DEEPEST = 2


@dataclass(frozen=True, slots=True)
class Units:
    """The functions and classes to run, in order; `script` when the module's own statements lead to a write."""

    items: tuple[Definition, ...]
    script: bool
    uses: Mapping[str, frozenset[str]]
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


def units(outline: Outline, imported: frozenset[str] = frozenset()) -> Units:
    """
    Order the functions and classes that reach a write so that what runs others comes before them.

    `imported` are names of other files that lead to a write.
    """
    named = {item.name: item for item in outline.items if item.name}
    uses = {name: _used(item, named) for name, item in named.items()}
    for name, parts in _used_through_parts(named).items():
        uses[name] |= parts
    reaching = {name for name, item in named.items() if writes(item) or reads(item) & imported}
    grew = True
    while grew:
        more = {name for name, used in uses.items() if name not in reaching and used & reaching}
        reaching |= more
        grew = bool(more)
    height = _heights(reaching, uses)
    order = sorted(reaching, key=lambda name: (-height[name], named[name].slice.first))
    script = any(
        item.kind == "statement" and (item.writes or (item.calls and item.reads & (reaching | imported)))
        for item in outline.items
    )
    shared = {name: frozenset(used & reaching) for name, used in uses.items()}
    return Units(tuple(named[name] for name in order), script, shared)


def writes(item: Definition) -> bool:
    """Say whether something in a definition, methods included, may write in place."""
    return item.writes or any(method.writes for method in item.methods)


def reads(item: Definition) -> set[str]:
    """Give the names that a definition reads, its methods included."""
    found = set(item.reads)
    for method in item.methods:
        found |= method.reads
    return found


def _used(item: Definition, named: dict[str, Definition]) -> set[str]:
    return {name for name in reads(item) if name in named and name != item.name}


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


def _heights(reaching: set[str], uses: dict[str, set[str]]) -> dict[str, int]:
    """Give each name the length of the longest chain of uses below it; a cycle counts once."""
    heights: dict[str, int] = {}

    def height(name: str, active: frozenset[str]) -> int:
        if name in heights:
            return heights[name]
        below = [height(used, active | {name}) for used in uses[name] if used in reaching and used not in active]
        heights[name] = 1 + max(below, default=0)
        return heights[name]

    for name in sorted(reaching):
        height(name, frozenset())
    return heights


def key(item: Definition) -> str:
    """Name a definition as the budget's lists of functions do."""
    return f"{item.slice.path}:{item.slice.first}:{item.name}"


def pending(program: Program, item: Definition) -> bool:
    """Say whether a unit, or a method of it, is to be run as a root of its own."""
    if item.kind == "function":
        return key(item) not in program.budget.returned
    # A class is run alone even if an outer root ran it: what is wrong in it whatever its inputs are is then an error,
    # where the way to the outer root's result may lead through unknown calls.
    calls = program.default().framework.calls
    called = next((method for method in item.methods if method.name == calls), None)
    if called is not None:
        return writes(item) or key(called) not in program.budget.returned
    # Without a method of its own for it, a call runs that of a base, on what this class constructs.
    if item.bases and (writes(item) or _constructs_unseen(program, item)):
        return True
    return any(method_pending(program, method) for method in item.methods)


def _constructs_unseen(program: Program, item: Definition) -> bool:
    """Say whether a class has a constructor of its own that no root ran yet."""
    return any(method.name == "__init__" and key(method) not in program.budget.returned for method in item.methods)


def unseen(program: Program, item: Definition) -> bool:
    """Say whether a method that writes, or what a call of the class runs, was not run by any root yet."""
    calls = program.default().framework.calls
    return any(
        key(method) not in program.budget.returned for method in item.methods if method.writes or method.name == calls
    )


def method_pending(program: Program, method: Definition) -> bool:
    """Say whether a method writes and was not run yet."""
    return method.writes and key(method) not in program.budget.returned


def runs_unrecorded(program: Program, name: str, depth: int = 0) -> bool:
    """Say whether all of the file that uses a function or method of this name runs without recording gradients."""
    users = _users(program, name)
    return bool(users) and all(
        any(_stops_recording(program, decorator) for decorator in user.decorators)
        or (depth < _DEEPEST and bool(user.name) and runs_unrecorded(program, user.name, depth + 1))
        for user in users
    )


def only_sets_up(program: Program, name: str) -> bool:
    """Say whether all of the file that uses a function are constructors: what it is passed there has no history."""
    users = _users(program, name)
    return bool(users) and all(user.name == "__init__" for user in users)


def used(program: Program, name: str) -> bool:
    """Say whether something else in the file uses a function or method of this name."""
    return bool(_users(program, name))


def _users(program: Program, name: str) -> list[Definition]:
    return [
        user
        for item in program.outline.items
        for user in item.methods or (item,)
        if user.name != name and (name in user.reads or name in user.attributes)
    ]


def _stops_recording(program: Program, decorator: str) -> bool:
    framework = program.default().framework.name
    forms = program.forms(f"{framework}.{decorator.rpartition('.')[2]}")
    return bool(forms) and forms[0].act in _UNRECORDED


def order_of_methods(item: Definition) -> list[Definition]:
    """Order the methods of a class so that those that call others come first."""
    by_name = {method.member: method for method in item.methods}
    uses = {
        name: {other for other in method.attributes if other in by_name and other != name}
        for name, method in by_name.items()
    }
    heights = _heights(set(by_name), uses)
    return sorted(item.methods, key=lambda method: (-heights[method.member], method.slice.first))


def writers(outline: Outline) -> list[Definition]:
    """List the functions and methods of a file that write."""
    found = [item for item in outline.items if item.kind == "function" and item.writes]
    for item in outline.items:
        found.extend(method for method in item.methods if method.writes)
    return found
