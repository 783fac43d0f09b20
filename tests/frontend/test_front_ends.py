"""Python's own `ast` and LibCST give the same IR, ordinals included."""

from __future__ import annotations

import ast
import sys
import sysconfig
from pathlib import Path

import libcst as cst
import pytest

from inplace_lint.core.runtime_limits import deep_recursion
from inplace_lint.core.span import Slice
from inplace_lint.frontend.from_cst import expressions
from inplace_lint.frontend.from_cst.parse import parse, statements
from inplace_lint.frontend.lower import lower, lower_statements
from inplace_lint.frontend.numbering import Numbering
from inplace_lint.frontend.slices import cut
from inplace_lint.ir import nodes as ir

ROOT = Path(__file__).resolve().parents[2]
OURS = sorted({path.parent for part in ("inplace_lint", "fixtures", "tests") for path in (ROOT / part).rglob("*.py")})
PROGRAMS = {
    "and, or": "a or b or c; (a or b) or c; a or (b or c); a and b or c and d; not a or not (b and c)",
    "strings": "'a' f'b{c}' 'd{}' rf'\\e{f}' f'\\n{g:>3}' f'{{}}{h}'; b'i' b'j'; u'k' 'l'; 'a' f'{b!r}'",
    "f-strings": "f''; f'a'; f'{a:{b}}'; f'{a=:}'; f'{a:.2f}\\t{b}'; F'{a}' 'b'; f'{a=}'; f'{ a = :>3}'; f'{a!s}'",
    "escapes": "f'\\x7b{{b}}{c}'; rf'\\x7b{c}'; f'''\\\n{c}\\u00e9'''",
    "subscripts": "x[1]; x[1,]; x[(1, 2)]; x[1, 2]; x[a:b, ..., None]; x[(yield)]; x[()]",
    "calls": "f(a, *b, c=d, *e, **g); f(*a, b, *c); f(a for a in b); f(**a, b=c)",
    "targets": "a = b = c; a, = b; (a, b) = c; [a, *b] = c; a[0], b.c = d; del (a, b), c; del (a, b); del a,",
    "deleted": "del (a, b),; del ((a, b),); del [a, b]",
    "signs": "-1; -1.5; -2j; --1; -a; +1; not 1; ~1; 1 - -1; -1 ** 2; __debug__",
    "else": "if a:\n b\nelse:\n if c:\n  d\n e\nif a:\n b\nelse:\n if c:\n  d",
    "patterns": (
        "match a, b:\n case (c, d) | [c, d]: pass\n case {'e': f.g, **h}: pass\n case i.J(k, l=m): pass\n"
        " case ({'n': [*o]} as p): pass\n case -1: pass\n case q: pass"
    ),
}


if sys.version_info >= (3, 11):
    PROGRAMS["stars in subscripts"] = "x[*a]; x[*a, b]; x[c, *a]"


def both(path: str, source: str) -> tuple[ir.Code, ir.Code]:
    slice_ = Slice(path, 1, source.count("\n") + 1)
    cutout = cut(source, slice_)
    numbering = Numbering.of(slice_, cutout.text)
    with deep_recursion():
        body = lower_statements(numbering, cutout, statements(parse(cutout, slice_)))
    return lower(source, slice_), ir.Code(slice_, body, numbering.size)


def without_libcst(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make `lower` fail where it would fall back: then what it returns came from `ast`."""
    monkeypatch.setitem(sys.modules, "inplace_lint.frontend.from_cst.parse", None)


@pytest.mark.parametrize("source", [pytest.param(source, id=name) for name, source in PROGRAMS.items()])
def test_both_front_ends_agree_on_a_construct(source, monkeypatch):
    concrete = both("program.py", source)[1]
    without_libcst(monkeypatch)
    assert lower(source, concrete.slice) == concrete


@pytest.mark.parametrize("folder", OURS, ids=lambda folder: folder.relative_to(ROOT).as_posix())
def test_both_front_ends_agree_on_our_own_files(folder):
    for path in sorted(folder.glob("*.py")):
        abstract, concrete = both(str(path), path.read_text(encoding="utf-8"))
        assert abstract == concrete, path


def test_constants_have_the_same_types():
    abstract, concrete = both("program.py", "f(1, 1.0, True, 1j, 'a', b'a', None, ..., -1, -1.0, 0x10, 1_0)")
    assert repr(abstract) == repr(concrete)


def test_syntax_that_the_running_python_does_not_know_is_read_by_libcst(monkeypatch):
    monkeypatch.setattr(ast, "parse", refuse)
    source = "def f[T](x: T): return x\n"
    (definition,) = lower(source, Slice("program.py", 1, 1)).body
    assert isinstance(definition, ir.FunctionDef)


def test_an_expression_that_is_new_in_libcst_reads_its_parts(monkeypatch):
    monkeypatch.delitem(vars(expressions)["_EXPRESSIONS"], cst.Await)
    monkeypatch.setattr(ast, "parse", refuse)
    (definition,) = lower("async def f(): await g(x)\n", Slice("program.py", 1, 1)).body
    (statement,) = definition.function.body
    assert isinstance(statement.value, ir.Sequence)
    assert isinstance(statement.value.items[0], ir.Call)


def refuse(*_arguments: object) -> ast.Module:
    raise SyntaxError


@pytest.mark.slow
def test_both_front_ends_agree_on_the_standard_library():
    tried = 0
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py")):
        if {"site-packages", "lib2to3", "bad", "test"} & set(path.parts):
            continue
        try:
            source = path.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            continue
        abstract, concrete = both(str(path), source)
        assert abstract == concrete, path
        tried += 1
    assert tried > 500
