"""
Examples in Markdown: what is read from a page, before anything is run.

An example is a fenced block of Python that holds one whole program. Its info string says what the real framework does
(`runs`, `raises: TEXT`, `silent`), trailing comments in it say what the analyzer finds:

    # error: IPL101            a finding of that severity and code on this line
    # warning: IPL301          likewise
    # info: IPL501             likewise, where opinions are asked for
    # missed: IPL101           there should be one, and there is none yet
    # false-positive: IPL101   there is one, and there should not be

Below a faulty example, `cure` is the program after its help was followed, one block for each choice that the help
gives, and `intended` the program that was meant: it computes what the cures between it and the last such program
compute. Without a `cure` between them, what `--fix --unsafe-fixes` makes of the faulty one is the cure.

`library: NAME==VERSION`, before the rest of the info string, says that the program calls this version of a library: the
program is run only where that is installed.

`reveal(x)  # reveal: TEXT` says what is known of a value there: one text for each way to get there, with ` | ` between.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILE_PAGES = frozenset({"invalid-syntax", "unused-suppression"})  # rules about files, not about what a program does
RULE_PAGES = tuple(page for page in sorted((ROOT / "rules").glob("*.md")) if page.stem not in FILE_PAGES)
SEMANTICS_PAGES = tuple(sorted((ROOT / "tests" / "semantics").glob("*.md")))

_FENCE = re.compile(r"^```(\S*)[ \t]*(.*)$")
_EXPECTATION = re.compile(r"# (error|warning|info|missed|false-positive): (IPL\d{3}(?:, IPL\d{3})*)(?= #|$| \()")
_REVEALED = re.compile(r"^\s*reveal\(.*\)  # reveal: (\S.*)$")
_MENTION = re.compile(r"# ?(error|warning|info|missed|false-positive)\b")
_IMPORT = re.compile(r"^\s*(?:import|from)\s+(torch|paddle)\b", re.MULTILINE)
_BEHAVIOUR = re.compile(r"^(?:library: (\S+==\S+) )?(?:(runs|silent|cure|intended)|raises: (\S.*))$")
_TALKS_OF_WRITES = re.compile(r"in-?place|leaf Variable", re.IGNORECASE)


class PageError(Exception):
    """A page that cannot be understood; says where."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """One word about one line of an example; `line` counts from 1 in the example."""

    line: int
    kind: str
    code: str


@dataclass(frozen=True, slots=True)
class Example:
    """
    One program of a page; `line` is that of its first line on the page, `raises` a part of the framework's error.

    `library` is the requirement of a library that the program calls, or empty.
    """

    page: str
    line: int
    program: str
    framework: str
    behaviour: str
    raises: str
    expectations: tuple[Expectation, ...]
    introduced: bool
    library: str

    @property
    def revealed(self) -> dict[int, str]:
        """Give what is expected to be known of the values that lines of the program reveal."""
        lines = enumerate(self.program.splitlines(), 1)
        return {number: found[1] for number, line in lines if (found := _REVEALED.match(line))}

    @property
    def is_cure(self) -> bool:
        """Say whether the program belongs to the faulty one above it: cured, or as it was meant."""
        return self.behaviour in {"cure", "intended"}

    @property
    def has_library(self) -> bool:
        """Say whether the library that the program calls is installed, in the version that it names."""
        name, _, version = self.library.partition("==")
        try:
            return not name or metadata.version(name) == version
        except metadata.PackageNotFoundError:
            return False

    @property
    def name(self) -> str:
        """Name the example as an editor finds it."""
        return f"{self.page}:{self.line}"

    def lines_of(self, *kinds: str) -> frozenset[tuple[int, str]]:
        """Give the lines and codes of the expectations of these kinds."""
        return frozenset((item.line, item.code) for item in self.expectations if item.kind in kinds)


def examples_of(page: Path) -> tuple[Example, ...]:
    """
    Give the examples of a page in order.

    Raises: `PageError` for a fence, an info string or a comment that says nothing we know.
    """
    return tuple(_examples(page.name, page.read_text(encoding="utf-8").splitlines()))


def _examples(page: str, lines: list[str]) -> Iterator[Example]:
    number = 0
    while number < len(lines):
        opened = _FENCE.match(lines[number])
        number += 1
        if opened is None:
            continue
        start = number
        if opened[1] != "python" and opened[1].startswith("python"):
            msg = f"{page}:{start}: a space stands between `python` and what the framework does"
            raise PageError(msg)
        while number < len(lines) and lines[number] != "```":
            number += 1
        if number == len(lines):
            msg = f"{page}:{start}: the fence is not closed"
            raise PageError(msg)
        if opened[1] == "python":
            introduced = _is_introduced(lines[: start - 1])
            yield _example(page, start + 1, opened[2].strip(), lines[start:number], introduced=introduced)
        number += 1


def _is_introduced(before: list[str]) -> bool:
    """Say whether the last line before a fence is a sentence that leads to it."""
    text = [line for line in before if line.strip()]
    return bool(text) and text[-1].endswith(":")


def _example(page: str, line: int, info: str, body: list[str], *, introduced: bool) -> Example:
    program = "\n".join(body) + "\n"
    where = f"{page}:{line}"
    behaviour = _BEHAVIOUR.match(info)
    if behaviour is None:
        msg = f"{where}: {info!r} is none of `runs`, `silent`, `raises: TEXT`, `cure`, `intended`"
        raise PageError(msg)
    imported = _IMPORT.search(program)
    if imported is None:
        msg = f"{where}: the program imports neither torch nor paddle"
        raise PageError(msg)
    library, word, raises = behaviour.groups(default="")
    example = Example(
        page=page,
        line=line,
        program=program,
        framework=imported[1],
        behaviour="raises" if raises else word,
        raises=raises,
        expectations=tuple(_expectations(where, body)),
        introduced=introduced,
        library=library,
    )
    _check(example)
    return example


def _expectations(where: str, body: list[str]) -> Iterator[Expectation]:
    for number, line in enumerate(body, 1):
        found = list(_EXPECTATION.finditer(line))
        if len(found) != len(_MENTION.findall(line)):
            msg = f"{where}: line {number} of the program has a comment that says nothing we know: {line.strip()!r}"
            raise PageError(msg)
        for match in found:
            for code in match[2].split(", "):
                yield Expectation(number, match[1], code)


def _check(example: Example) -> None:
    """Refuse examples whose two sides contradict each other: errors are right, and a raise is found or known missed."""
    right = example.lines_of("error", "warning", "missed")
    about_writes = _TALKS_OF_WRITES.search(example.raises) is not None
    if example.lines_of("error") and example.behaviour != "raises":
        msg = f"{example.name}: an error is expected of a program that does not raise; say `false-positive`"
        raise PageError(msg)
    if about_writes and not right and not example.library:
        msg = f"{example.name}: the program raises, but no line of it is expected or said to be missed"
        raise PageError(msg)
    if example.behaviour == "silent" and "assert " not in example.program:
        msg = f"{example.name}: a silent example asserts the wrong value"
        raise PageError(msg)
    if not example.introduced:
        msg = f"{example.name}: a sentence that ends in a colon introduces each example"
        raise PageError(msg)


# All of them, in the order of the pages.
EXAMPLES = tuple(example for page in (*RULE_PAGES, *SEMANTICS_PAGES) for example in examples_of(page))
