"""
Notebooks: all code cells form one module. What only IPython reads is blanked, and places name the cell.

    In [1]: %matplotlib inline        # blanked
            !pip install timm         # blanked
            files = !ls               # files = None
    In [2]: x += 1                    # notebook.ipynb:cell 2:1:1
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from inplace_lint.core.errors import UnreadableError
from inplace_lint.core.finding import Finding
from inplace_lint.core.span import Span

SUFFIX = ".ipynb"
_FORMAT = 4
_KEEPS_BODY = frozenset({"time", "timeit", "capture", "prun"})
_MAGIC = re.compile(r"(?P<indent>[ \t]*)(?:[%!?,;/].*|[\w.%!]+\?{1,2}[ \t]*)$")
_LEXEME = re.compile(r'''#.*|"""|\'{3}|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|[()\[\]{}]|\\$''')
_ENDS = {quote: re.compile(rf"(?:\\.|(?!{quote})[^\\])*{quote}") for quote in ('"""', "'''")}
_ASSIGNED = re.compile(r"(?P<target>[ \t]*[\w][\w.\[\], \t]*=)[ \t]*[%!](?!=).*$")


class Notebook(Struct, frozen=True):
    """The code of a notebook as one module; `cells` are the numbers of its code cells, `starts` their first lines."""

    path: str
    source: str
    cells: tuple[int, ...]
    starts: tuple[int, ...]

    def place(self, span: Span) -> Span:
        """Return the span within a cell for a span of the module; spans of other files stay as they are."""
        if span.path != self.path:
            return span
        index = max(bisect_right(self.starts, span.line) - 1, 0)
        shift, cell = self.starts[index] - 1, self.cells[index]
        return replace(
            span, path=named(self.path, cell), line=span.line - shift, end_line=span.end_line - shift, cell=cell
        )

    def texts(self) -> dict[str, bytes]:
        """Return the text of each code cell by the path that its spans carry."""
        if not self.cells:
            return {}
        lines = self.source.split("\n")
        ends = [*(start - 1 for start in self.starts[1:]), len(lines)]
        return {
            named(self.path, cell): "\n".join(lines[start - 1 : end]).encode("utf-8", "surrogatepass")
            for cell, start, end in zip(self.cells, self.starts, ends, strict=True)
        }


def named(path: str, cell: int) -> str:
    """Return the path that spans in a cell of a notebook carry."""
    return f"{path}:cell {cell}"


def file_of(span: Span) -> str:
    """Return the file that a span is in: for a cell, its notebook."""
    return span.path if span.cell is None else span.path.removesuffix(f":cell {span.cell}")


def within(span: Span) -> str:
    """Return `cell 2: ` for a span of a notebook: the start of a message in formats that have no field for cells."""
    return "" if span.cell is None else f"cell {span.cell}: "


def parse(path: str, data: bytes) -> Notebook:
    """
    Return the code of a notebook of format 4; one in another language has none.

    Raises: `UnreadableError` for what is no notebook, or one of before 2015.
    """
    try:
        whole = json.loads(data.decode("utf-8-sig"))
        old = whole.get("nbformat")
        if isinstance(old, int) and old < _FORMAT:
            msg = f"a notebook of format {old}: only format {_FORMAT} is read"
            raise UnreadableError(msg)
        cells = whole["cells"]
        sources = [(number, _text(cell["source"])) for number, cell in enumerate(cells, 1) if _is_code(cell)]
    except (UnicodeDecodeError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        msg = "not a notebook of format 4"
        raise UnreadableError(msg) from error
    language = _language(whole)
    texts: list[str] = []
    numbers: list[int] = []
    starts: list[int] = []
    line = 1
    for number, source in sources if language.lower() in {"python", "ipython"} else ():
        text = blanked(source)
        numbers.append(number)
        starts.append(line)
        texts.append(text)
        line += text.count("\n") + 1
    return Notebook(path, "\n".join(texts) + "\n" if texts else "", tuple(numbers), tuple(starts))


def _language(whole: dict[str, object]) -> str:
    """Return the language that the metadata of a notebook names; Python where these are missing or of another form."""
    for outer, inner in (("language_info", "name"), ("kernelspec", "language")):
        info = whole.get("metadata")
        part = info.get(outer) if isinstance(info, dict) else None
        named = part.get(inner) if isinstance(part, dict) else None
        if isinstance(named, str) and named:
            return named
    return "python"


def _is_code(cell: dict[str, object]) -> bool:
    return cell.get("cell_type") == "code"


def _text(source: object) -> str:
    if isinstance(source, list):
        return "".join(map(str, source))
    if isinstance(source, str):
        return source
    raise TypeError


def blanked(source: str) -> str:
    """Return the text of a cell as Python: the same lines, those that only IPython reads as `pass`."""
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    first = re.match(r"\s*%%(\w+)", source)
    if first is not None and first[1] not in _KEEPS_BODY:
        return "\n" * source.count("\n")
    out: list[str] = []
    inside, magic = _START, False
    for line in source.split("\n"):
        if magic:
            blank = ""
        elif inside == _START:
            blank = _blanked_line(line)
        else:
            blank = line
        out.append(blank)
        if magic or blank != line:
            magic = line.endswith("\\")  # what a shell is told may go on
        else:
            inside = _after(line, inside)
    return "\n".join(out)


class _Inside(NamedTuple):
    """What the end of a line leaves open: brackets, a long string, or a backslash; if nothing, a statement begins."""

    depth: int = 0
    quote: str = ""
    goes_on: bool = False


_START = _Inside()


def _after(line: str, inside: _Inside) -> _Inside:
    """Return what is open after a line; without a parser, since a notebook is read even in a warm run."""
    depth, quote, goes_on, at = inside.depth, inside.quote, False, 0
    while True:
        if quote:
            end = _ENDS[quote].match(line, at)
            if end is None:
                return _Inside(depth, quote)
            quote, at = "", end.end()
        lexeme = _LEXEME.search(line, at)
        if lexeme is None:
            return _Inside(depth, quote, goes_on)
        at = lexeme.end()
        match lexeme[0]:
            case "(" | "[" | "{":
                depth += 1
            case ")" | "]" | "}":
                depth = max(depth - 1, 0)
            case "\\":
                goes_on = True
            case text:
                quote = text if text in _ENDS else ""


def _blanked_line(line: str) -> str:
    if (match := _MAGIC.match(line)) is not None:
        return f"{match['indent']}pass"
    if (match := _ASSIGNED.match(line)) is not None:
        return f"{match['target']} None"
    return line


def placed(finding: Finding, notebooks: dict[str, Notebook]) -> Finding:
    """Return a finding with each span that is in a notebook replaced by one in its cell."""

    def place(span: Span) -> Span:
        return notebooks[span.path].place(span) if span.path in notebooks else span

    related = tuple(replace(item, span=place(item.span)) for item in finding.related)
    fix = finding.fix
    if fix is not None:
        fix = replace(fix, edits=tuple(replace(edit, span=place(edit.span)) for edit in fix.edits))
    return replace(finding, span=place(finding.span), related=related, fix=fix)
