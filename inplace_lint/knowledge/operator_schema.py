"""
Schemas of operators, in the language in which frameworks write them.

    read("scale_(Tensor(a!) x, float by=1.0, *, Tensor? mask=None) -> Tensor(a!)")
    read("scale_(Tensor x -> Tensor")       # SchemaError: expected `)`, not `->`

What is refused here is refused by the framework. That refuses more: a default value of another type than its argument
has, or one before an argument without one. A type that begins with a small letter was a variable in former releases.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import NoReturn

from msgspec import Struct
from msgspec.structs import replace

from inplace_lint.core.errors import FactError

_TOKEN = re.compile(r"""\s*(?:#[^\n]*\s*)*(->|\.\.\.|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\d[\w.]*|\w+|\S)""")
_MEMORY = re.compile(r"\([^()A-Z]*\)|!")  # what a type says of memory; the types in a tuple have capital letters
_NAME = re.compile(r"[^\W\d]\w*")
_TYPES = frozenset((
    "Any", "AnyClassType", "AnyEnumType", "AnyListType", "AnyTupleType", "Await", "Capsule", "ConstQuantizerPtr",
    "DeviceObjType", "Device", "DeviceIndex", "Dict", "Dimname", "Future", "Generator", "InterfaceType", "Layout",
    "MemoryFormat", "None", "NoneType", "QScheme", "Quantizer", "RRef", "Scalar", "ScalarType", "Storage", "Stream",
    "SymBool", "SymFloat", "SymInt", "Tensor", "Union", "__torch__",
))  # fmt: skip
_OF_OTHERS = frozenset({"Await", "Dict", "Future", "RRef", "Union"})
_THE_END = ""
_APART = re.compile(r"\(.*\) -> .*")


class SchemaError(FactError):
    """A text is no schema: the message says what was expected, and what is there instead."""


class Parameter(Struct, frozen=True):
    """
    An argument or a result, and what its type says of memory.

    `alias` is the name of the memory, which an argument and a result may share; `writes`: a call writes it.
    """

    name: str
    type: str
    alias: str = ""
    writes: bool = False
    keyword: bool = False
    optional: bool = False


class OperatorSchema(Struct, frozen=True):
    """The name of an operator, empty where the text has none, what it takes, and what it returns."""

    name: str
    parameters: tuple[Parameter, ...]
    results: tuple[Parameter, ...]


def read(text: str, *, named: bool = True) -> OperatorSchema:
    """
    Return what a schema says; one that is not `named` begins with its arguments.

    Raises: `SchemaError` where it does not parse.
    """
    reader = _Reader([match[1] for match in _TOKEN.finditer(text)])
    name = reader.operator() if named else ""
    parameters = reader.parameters()
    reader.take("->")
    results = reader.results()
    if reader.next != _THE_END:
        reader.fail("the end")
    return OperatorSchema(name, parameters, results)


def read_apart(text: str) -> OperatorSchema:
    """
    Return what a schema says that is defined for a name beside it.

    Raises: `SchemaError` where it does not parse, or is not spaced as the framework asks for.
    """
    schema = read(text, named=False)
    if not _APART.fullmatch(text):
        msg = "expected `(...) -> ...`, in one line"
        raise SchemaError(msg)
    return schema


class _Reader(Struct):
    """Reads tokens from the left."""

    tokens: list[str]
    at: int = 0
    keyword: bool = False

    @property
    def next(self) -> str:
        """The next token; empty at the end."""
        return self.tokens[self.at] if self.at < len(self.tokens) else _THE_END

    def fail(self, what: str) -> NoReturn:
        """
        Refuse the next token, which is not what it has to be.

        Raises: `SchemaError`.
        """
        found = f"`{self.next}`" if self.next else "the end"
        msg = f"expected {what}, not {found}"
        raise SchemaError(msg)

    def took(self, *tokens: str) -> bool:
        """Move over the next token if it is one of these; say whether it was."""
        found = self.next in tokens
        self.at += found
        return found

    def take(self, token: str) -> None:
        """Move over a token; raise `SchemaError` where another one comes next."""
        if not self.took(token):
            self.fail(f"`{token}`")

    def word(self, what: str = "a name", known: Collection[str] = ()) -> str:
        """Move over a name and return it."""
        found = self.next
        if not _NAME.fullmatch(found) or (known and found not in known and not found[0].islower()):
            self.fail(what)
        self.at += 1
        return found

    def items(self, close: str, item: Callable[[], None]) -> None:
        """Read items between commas up to a closing bracket, the opening one of which was read."""
        if self.took(close):
            return
        item()
        while self.took(","):
            item()
        self.take(close)

    def operator(self) -> str:
        """Read the name of an operator, with its namespace and overload where it has these."""
        name = self.word()
        if self.took(":"):
            self.take(":")
            name += f"::{self.word()}"
        return f"{name}.{self.word()}" if self.took(".") else name

    def parameters(self) -> tuple[Parameter, ...]:
        """Read the arguments in their brackets."""
        found: list[Parameter] = []

        def item() -> None:
            if self.took("*"):
                self.keyword = True
            elif not self.took("..."):
                typed = self.type()
                name = self.word()
                optional = self.took("=")
                if optional:
                    self.default()
                found.append(replace(typed, name=name, keyword=self.keyword, optional=optional))

        self.take("(")
        self.items(")", item)
        return tuple(found)

    def results(self) -> tuple[Parameter, ...]:
        """Read one result, or several in brackets; each may have a name."""
        found: list[Parameter] = []

        def item() -> None:
            if not self.took("..."):
                typed = self.type()
                found.append(replace(typed, name=self.word() if _NAME.fullmatch(self.next) else ""))

        if self.took("("):
            self.items(")", item)
        else:
            item()
        return tuple(found)

    def type(self) -> Parameter:
        """Read a type; return what has no name yet."""
        start, typed = self.at, Parameter("", "")
        if self.took("("):
            self.items(")", self._inner_type)
        else:
            name = self.word("a type", _TYPES)
            while self.took("."):
                self.word()
            if name in _OF_OTHERS:
                self.take("(")
                self.items(")", self._inner_type)
            typed = self.alias()
        while self.next in {"[", "?"}:
            if self.took("["):
                self.at += self.next[:1].isdecimal()
                self.take("]")
                listed = self.alias()
                typed = listed if listed.alias or listed.writes else typed
            self.took("?")
        spelled = "".join(self.tokens[start : self.at])
        return replace(typed, type=_MEMORY.sub("", spelled))

    def _inner_type(self) -> None:
        self.type()

    def alias(self) -> Parameter:
        """Read what a type says of memory: `(a)`, `(a!)`, `(a -> *)`, `!`."""
        if not self.took("("):
            return Parameter("", "", writes=self.took("!"))
        name = self._aliases()
        writes = self.took("!")
        if self.took("->"):
            self._aliases()
        self.take(")")
        return Parameter("", "", name, writes)

    def _aliases(self) -> str:
        """Read the names of memory; return one that stands alone."""
        names: list[str] = []
        while self.next not in {")", "!", "->", _THE_END}:
            names.append("*" if self.took("*") else self.word())
            if not self.took("|"):
                break
        return names[0] if len(names) == 1 and names != ["*"] else ""

    def default(self) -> None:
        """Read a default value, whatever it is, up to the comma or the bracket after it."""
        start, depth = self.at, 0
        while self.next != _THE_END and (depth or self.next not in {",", ")"}):
            depth += (self.next in {"(", "["}) - (self.next in {")", "]"})
            self.at += 1
        if self.at == start:
            self.fail("a value")
