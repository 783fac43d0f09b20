"""
A program: the file whose roots are run, the files that it imports, and what was learned of their classes and calls.

Nothing here depends on a path: what belongs to a path (module variables, class variables) is in the state.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from inplace_lint.core.span import Place, Slice
from inplace_lint.domain.state import State, Symbols
from inplace_lint.domain.values import ClassValue, Dotted, Sym, Value
from inplace_lint.effects.summary import Outline
from inplace_lint.interp.fuel import CONSTRUCTIONS, Fuel
from inplace_lint.interp.holders import Holding
from inplace_lint.ir.nodes import ClassDef, Code, For, FunctionDef, If, Stmt, Try, While, With
from inplace_lint.knowledge.facts import Facts, Framework
from inplace_lint.knowledge.op import Op
from inplace_lint.workspace.module_store import Module, Project, alone

if TYPE_CHECKING:
    from inplace_lint.interp.frame import Frame
    from inplace_lint.interp.interpreter import Interpreter


Observer = Callable[["Interpreter", "Frame", State, Stmt], None]


@dataclass(slots=True)
class Context:
    """
    A file under analysis, with the `project` that it may import from, and the facts that it is judged by.

    `opinions`: what is no fault is looked for as well. `under_way` are the statements that the script runs in order,
    `ran` the blocks of statements (by identity) that some path has run. The `observer` is called before each statement.
    """

    main: Module
    facts: Mapping[str, Facts]
    project: Project = field(default_factory=alone)
    opinions: bool = False
    fuel: Fuel = field(default_factory=Fuel)
    classes: dict[Slice, ClassValue] = field(default_factory=dict)
    running: set[tuple[str, str]] = field(default_factory=set)
    under_way: set[Slice] = field(default_factory=set)
    roots: dict[str, Facts] = field(default_factory=dict)
    symbols: Symbols = field(default_factory=Symbols)
    library_methods: dict[tuple[str, str], Value | None] = field(default_factory=dict)
    constructed: dict[int, list[tuple[Hashable, ...] | None]] = field(default_factory=dict)
    raising: dict[int, tuple[object, bool]] = field(default_factory=dict)
    base: State | None = None
    bound: list[tuple[str, str]] = field(default_factory=list)
    orders: dict[int, tuple[ClassValue, list[Value]]] = field(default_factory=dict)
    ran: set[int] = field(default_factory=set)
    watched: frozenset[Place] = frozenset()
    holdings: dict[Place, set[Holding]] = field(default_factory=dict)
    observer: Observer | None = None

    def __post_init__(self) -> None:
        self.project.add(self.main)
        for facts in self.facts.values():
            for package in (*facts.framework.packages, *sorted(facts.libraries)):
                self.roots.setdefault(package, facts)

    @property
    def path(self) -> str:
        """The path of the file whose roots are run."""
        return self.main.path

    @property
    def outline(self) -> Outline:
        """The outline of the file whose roots are run."""
        return self.main.outline

    def module(self, path: str) -> Module:
        """
        Give a file that was read.

        Raises: KeyError for one that was not.
        """
        found = self.project.modules[path]
        if found is None:
            raise KeyError(path)
        return found

    def code(self, slice_: Slice) -> Code:
        """Give the lowered form of a slice."""
        return self.module(slice_.path).code(slice_)

    def class_node(self, slice_: Slice, name: str) -> ClassDef | None:
        """Give the definition node of a class slice."""
        return self.module(slice_.path).class_node(slice_, name)

    def definition(self, cls: ClassValue) -> ClassDef | None:
        """Return the definition node of a class, wherever in its slice it stands."""
        return self.class_node(cls.slice, cls.name) or nested_class(self.code(cls.slice).body, cls.name)

    def facts_of(self, name: str) -> Facts | None:
        """Give the facts of the framework that a dotted name belongs to; None for other libraries."""
        return self.roots.get(name.partition(".")[0])

    def forms(self, name: str) -> tuple[Op, ...]:
        """Give the op forms of a dotted name; empty when nothing is known of it."""
        facts = self.facts_of(name)
        return () if facts is None else facts.forms(facts.canonical(name))

    def met(self, cls: ClassValue, arguments: tuple[Hashable, ...] | None) -> None:
        """Remember the arguments on which the program constructs a class; None when they live on one path only."""
        known = self.constructed.setdefault(id(cls), [])
        if arguments not in known and len(known) < CONSTRUCTIONS:
            known.append(arguments)

    def default(self) -> Facts:
        """Give the facts of the framework that the file mentions first: what an unknown tensor is taken for."""
        return next(iter(self.facts.values()))

    def is_module(self, cls: Value) -> Framework | None:
        """Give the framework whose module class this class derives from, if any."""
        for base in self.mro(cls):
            if isinstance(base, Dotted):
                facts = self.facts_of(base.name)
                if facts is not None and self._is_module_name(facts, base.name):
                    return facts.framework
        return None

    def _is_module_name(self, facts: Facts, name: str) -> bool:
        canonical = facts.canonical(name)
        if canonical == facts.framework.module:
            return True
        forms = facts.forms(canonical)
        return bool(forms) and (forms[0].init is not None or forms[0].act == "container")

    def mro(self, cls: Value) -> list[Value]:
        """List a class and its bases, each before its own bases and after all classes that derive from it."""
        known = self.orders.get(id(cls)) if isinstance(cls, ClassValue) else None
        if known is not None:
            return known[1]
        order: list[Value] = [cls]
        if isinstance(cls, ClassValue):
            for base in cls.bases:
                order.extend(self.mro(base))
        last = {id(entry) if isinstance(entry, ClassValue) else entry: position for position, entry in enumerate(order)}
        found = [order[position] for position in sorted(last.values())]
        if isinstance(cls, ClassValue):
            module = self._module_guessed(cls, found)
            if module is not None:
                found.append(module)
            self.orders[id(cls)] = (cls, found)
        return found

    def _module_guessed(self, cls: ClassValue, order: list[Value]) -> Dotted | None:
        """
        Give the module class of the framework for a class that has what a call of a module runs, and an unknown base.

        UNSOUND: a class of another kind with such a method would be called another way.
        """
        framework = self.default().framework
        if framework.calls not in cls.methods or "backward" in cls.methods:
            return None
        unknown = any(
            isinstance(base, Sym) or (isinstance(base, Dotted) and not _is_plain(base) and not self.knows_base(base))
            for base in order
        )
        return Dotted(framework.module) if unknown and Dotted(framework.module) not in order else None

    def knows_base(self, base: Dotted) -> bool:
        """Say whether all that a base from outside of the program gives to a class is known."""
        facts = self.facts_of(base.name)
        package = base.name.partition(".")[0]
        return facts is not None and (package in facts.framework.packages or base.name in facts.rows)


def _is_plain(base: Dotted) -> bool:
    """Say whether a base is of the standard library, where no modules are."""
    return base.name.partition(".")[0] in sys.stdlib_module_names


def nested_class(body: Sequence[Stmt], name: str) -> ClassDef | None:
    """Find a class definition inside other statements."""
    for node in body:
        match node:
            case ClassDef() if node.name == name:
                return node
            case ClassDef() | If() | For() | While() | With() | Try():
                found = nested_class((*node.body, *getattr(node, "orelse", ())), name)
            case FunctionDef():
                found = nested_class(node.function.body, name)
            case _:
                found = None
        if found is not None:
            return found
    return None
