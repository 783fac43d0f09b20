"""
One source file as a program: its outline, the code lowered from it so far, and its classes.

Nothing here depends on a path: what belongs to a path (module variables, class variables) is in the state.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from inplace_lint.domain.recording import Recording
from inplace_lint.domain.state import Symbols
from inplace_lint.domain.values import ClassValue, Dotted, Value
from inplace_lint.interp.budget import CONSTRUCTIONS, Budget
from inplace_lint.ir.nodes import ClassDef, Code, FunctionDef
from inplace_lint.knowledge.facts import Facts, Framework
from inplace_lint.knowledge.op import Op
from inplace_lint.lower.lower import lower
from inplace_lint.outline.outline import Definition, Outline
from inplace_lint.span import Slice


@dataclass(slots=True)
class Program:
    """A file under analysis: what was read of it, and the facts that it is judged by."""

    path: str
    source: str
    outline: Outline
    facts: Mapping[str, Facts]
    budget: Budget = field(default_factory=Budget)
    codes: dict[Slice, Code] = field(default_factory=dict)
    classes: dict[Slice, ClassValue] = field(default_factory=dict)
    running: set[str] = field(default_factory=set)
    by_name: dict[str, list[Definition]] = field(default_factory=dict)
    methods: dict[Slice, tuple[Slice, ...]] = field(default_factory=dict)
    roots: dict[str, Facts] = field(default_factory=dict)
    symbols: Symbols = field(default_factory=Symbols)
    memory: dict[Hashable, Recording] = field(default_factory=dict)
    library_methods: dict[tuple[str, str], Value | None] = field(default_factory=dict)
    met_calls: set[Hashable] = field(default_factory=set)
    constructed: dict[int, list[tuple[tuple[Value, ...], tuple[tuple[str, Value], ...]]]] = field(default_factory=dict)
    orders: dict[int, tuple[ClassValue, list[Value]]] = field(default_factory=dict)
    lower_seconds: float = 0.0

    def __post_init__(self) -> None:
        for item in self.outline.items:
            for name in item.binds:
                self.by_name.setdefault(name, []).append(item)
            self.methods[item.slice] = tuple(method.slice for method in item.methods)
        for facts in self.facts.values():
            for package in facts.framework.packages:
                self.roots[package] = facts

    def code(self, slice_: Slice) -> Code:
        """Give the lowered form of a slice; each is parsed once."""
        known = self.codes.get(slice_)
        if known is None:
            start = time.perf_counter()
            known = self.codes[slice_] = lower(self.source, slice_, self.holes(slice_))
            self.lower_seconds += time.perf_counter() - start
        return known

    def holes(self, slice_: Slice) -> tuple[Slice, ...]:
        """Give the methods of a class that are slices of their own."""
        if slice_.kind != "class":
            return ()
        return self.methods.get(slice_, ())

    def function(self, item: Definition) -> FunctionDef | None:
        """Give the definition node of a function item."""
        return next((node for node in self.code(item.slice).body if isinstance(node, FunctionDef)), None)

    def class_node(self, slice_: Slice, name: str) -> ClassDef | None:
        """Give the definition node of a class slice."""
        return next((node for node in self.code(slice_).body if isinstance(node, ClassDef) and node.name == name), None)

    def items(self, name: str) -> Sequence[Definition]:
        """List the top-level items that bind a name, in source order."""
        return self.by_name.get(name, ())

    def facts_of(self, name: str) -> Facts | None:
        """Give the facts of the framework that a dotted name belongs to; None for other libraries."""
        return self.roots.get(name.partition(".")[0])

    def forms(self, name: str) -> tuple[Op, ...]:
        """Give the op forms of a dotted name; empty when nothing is known of it."""
        facts = self.facts_of(name)
        return () if facts is None else facts.forms(facts.canonical(name))

    def met(self, cls: ClassValue, positional: tuple[Value, ...], keywords: tuple[tuple[str, Value], ...]) -> None:
        """Remember the arguments on which the program constructs a class, for running the class alone."""
        known = self.constructed.setdefault(id(cls), [])
        if (positional, keywords) not in known and len(known) < CONSTRUCTIONS:
            known.append((positional, keywords))

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
            self.orders[id(cls)] = (cls, found)
        return found
