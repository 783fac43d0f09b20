"""
The operators that C++ and CUDA sources register with the framework, by the schemas in them.

    TORCH_LIBRARY(my_ext, m) {
      m.def("fused_add_(Tensor(a!) x, Tensor other) -> Tensor(a!)");
    }

is `Registration(2, "my_ext", "fused_add_(Tensor(a!) x, …")`. A name without a schema (`m.def("relu", &relu)`) says
nothing of memory and is left out. The text is split into tokens and not preprocessed: what `#if` leaves out counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

SUFFIXES = frozenset({".c", ".cc", ".cpp", ".cu", ".cuh", ".cxx", ".h", ".hpp", ".mm"})
_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<delimiter>[^()\\\s]{0,16})\((?P<raw>.*?)\)(?P=delimiter)"|"""
    r""""(?P<text>(?:\\.|[^"\\\n])*)"|'(?:\\.|[^'\\\n])*'|(?P<word>\w+)|(?P<sign>[^\s\w])""",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "\n": ""}
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


class Registration(NamedTuple):
    """A schema that a source registers in a namespace, and the line on which it begins."""

    line: int
    namespace: str
    schema: str


class _Token(NamedTuple):
    """A word or sign of a source, or a text: the text of a literal may be empty, that of others is not."""

    at: int
    text: str
    literal: bool = False


def registrations(source: str, macro: str) -> Iterator[Registration]:
    """Yield the operators with a schema in blocks `MACRO(namespace, variable) { … }`, `MACRO_FRAGMENT(…)` and so on."""
    if macro not in source:
        return
    tokens = list(_tokens(source))
    opens = re.compile(rf"\w*{macro}(_\w+)?")
    for at, token in enumerate(tokens):
        if not token.literal and opens.fullmatch(token.text):
            words = [one.text for one in tokens[at + 1 : at + 7]]
            if len(words) == 6 and (words[0], words[2], *words[4:]) == ("(", ",", ")", "{"):  # noqa: PLR2004 - `(a, b) {`
                yield from _inside(source, _balanced(tokens, at + 6), words[1], words[3])


def _inside(source: str, block: Sequence[_Token], namespace: str, variable: str) -> Iterator[Registration]:
    """Yield what a block registers: the first text in the brackets after `variable.def`."""
    for at, token in enumerate(block):
        call = [one.text for one in block[at : at + 4]]
        if not token.literal and call == [variable, ".", "def", "("]:
            given = _balanced(block, at + 3)
            start = next((number for number, one in enumerate(given) if one.literal), len(given))
            end = next((number for number in range(start, len(given)) if not given[number].literal), len(given))
            schema = "".join(one.text for one in given[start:end])
            if "(" in schema:
                line = source.count("\n", 0, given[start].at) + 1
                yield Registration(line, namespace, schema)


def _tokens(source: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(source):
        if match["raw"] is not None:
            yield _Token(match.start(), match["raw"], literal=True)
        elif match["text"] is not None:
            plain = _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[1]), match["text"])
            yield _Token(match.start(), plain, literal=True)
        elif match["word"] or match["sign"]:
            yield _Token(match.start(), match[0])


def _balanced(tokens: Sequence[_Token], opening: int) -> Sequence[_Token]:
    """Return the tokens between a bracket and the one that closes it; all that follow where none does."""
    depth = 0
    for at in range(opening, len(tokens)):
        if not tokens[at].literal:
            depth += (tokens[at].text in _OPENING) - (tokens[at].text in _CLOSING)
            if depth == 0:
                return tokens[opening + 1 : at]
    return tokens[opening + 1 :]
