"""Every syntax of Python 3.8 to 3.14 lowers; what the IR does not model is an `Unknown`."""

from __future__ import annotations

import pickle
import sysconfig
from pathlib import Path

import pytest

from inplace_lint.core.span import Slice
from inplace_lint.frontend.lower import lower
from inplace_lint.ir import nodes as ir

PROGRAMS = {
    "augmented": "x += 1\nx.a @= y\nx[i, ..., None] **= z",
    "walrus": "if (n := len(a)) > 1: print(n)",
    "star targets": "a, *b = c\n[d, (e, *f)] = g\nfor i, *j in k: pass",
    "star index": "x[*a, 1]\nreturn_ = *a, 1",
    "positional only": "def f(a, /, b, *c, d=1, **e): return a, *c",
    "type parameters": (
        "def f[T: int = str, *Ts, **P](x: T) -> T: ...\nclass A[T](B, metaclass=M): x: T\ntype X[T] = list[T]"
    ),
    "f-strings": "f'{a!r:>{w}} {b=}' f\"{f'{c['d']}'}\" 'e'",
    "decorators": "@a.b(c)\n@(d := e)\nasync def f(): pass\n@g\nclass H: pass",
    "async": (
        "async def f():\n async with a as b, c: pass\n async for x in y: await x\n else: pass\n"
        " return [z async for z in w if await z]"
    ),
    "lambda": "f = lambda a, /, *b, c=lambda: 1, **d: (yield)",
    "comprehensions": "[a for b in c for a in b if a if b]; {a: b for a, b in c}; {a for a in b}; (a for a in b)",
    "nested": (
        "def f():\n def g():\n  nonlocal x\n  global y\n"
        "  class H:\n   def i(self): return super().i()\n  return H\n return g"
    ),
    "match": (
        "match a:\n case 1 | 'b' | None: pass\n case A.B: pass\n case C(): pass\n case D(e, f=g): pass\n"
        " case [h, *i] if h: pass\n case {'j': k, **l}: pass\n case (m as n): pass\n"
        " case -1 | 2+3j: pass\n case _: pass"
    ),
    "exceptions": "try: a\nexcept B as c: d\nexcept: e\nelse: f\nfinally: g\ntry: a\nexcept* B: raise C from d",
    "small statements": (
        "del a, b[c], d.e; assert f, g; import h.i as j, k; from .. import l\n"
        "from .m import (n as o, p)\nfrom q import *"
    ),
    "numbers and strings": "0x_ff, 1_000, 1e3, 2j, b'\\x00', r'\\d', 'a' 'b', '''c\nd''', ..., -1, -x, +x, ~x, not x",
    "slices": "x[a:b:c], x[:, ::2], x[::], x[(1, 2)], x[1,]",
    "chained": "a < b <= c is not d not in e; a if b else c; a or b and c",
    "yield": "def f():\n x = yield\n yield from y\n return (yield z)",
    "with parentheses": "with (a as b, c as (d, e)): pass",
    "semicolons and blocks on one line": "if a: b; c\nelse: d\nwhile e: f; break\nfor g in h: continue",
    "dict displays": "{**a, 'b': c, **d}; {*e, f}; [*g, h]; (*i, j); f(*k, l=m, **n)",
    "annotations": "x: int\ny: list[int] = []\nself.z: 'A' = b",
}


def whole(source: str) -> Slice:
    return Slice("program.py", 1, source.count("\n") + 1)


@pytest.mark.parametrize("source", [pytest.param(source, id=name) for name, source in PROGRAMS.items()])
def test_a_construct_lowers_and_survives_pickling(source: str) -> None:
    code = lower(source, whole(source))
    assert code.body
    assert pickle.loads(pickle.dumps(code)) == code


@pytest.mark.parametrize("source", [pytest.param(source, id=name) for name, source in PROGRAMS.items()])
def test_only_what_the_ir_does_not_model_is_unknown(source: str) -> None:
    unknown = {node.reason for node in nodes_of(lower(source, whole(source)).body) if isinstance(node, ir.Unknown)}
    assert unknown <= {"MatchClass", "MatchList", "MatchMapping", "TypeAlias", "MatchSequence"}


def nodes_of(part: object) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    waiting = [part]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            found.append(node)
            waiting.extend(node)
    return found


def test_an_augmented_assignment_keeps_operator_target_and_value() -> None:
    (statement,) = lower("x[0] += y", whole("x")).body
    assert isinstance(statement, ir.AugAssign)
    assert statement.op == "+"
    assert isinstance(statement.target, ir.Subscript)
    assert isinstance(statement.value, ir.Name)


def test_ordinals_are_distinct_and_counted() -> None:
    source = PROGRAMS["nested"]
    code = lower(source, whole(source))
    assert code.size > 0
    assert all(0 <= node.at < code.size for node in nodes_of(code.body) if hasattr(node, "at"))


def test_the_names_of_a_function_leave_out_global_and_nonlocal_ones() -> None:
    source = (
        "def f(a, *b):\n global c\n c = d = 1\n for e, (g, *h) in a: pass\n"
        " with i as j: pass\n def k(): l = 1\n [m for m in a]"
    )
    (definition,) = lower(source, whole(source)).body
    assert isinstance(definition, ir.FunctionDef)
    assert definition.function.local == {"a", "b", "d", "e", "g", "h", "j", "k"}


def test_an_await_is_what_it_waits_for() -> None:
    (definition,) = lower("async def f():\n return await g(1)", whole("\n")).body
    assert isinstance(definition, ir.FunctionDef)
    (returned,) = definition.function.body
    assert isinstance(returned, ir.Return)
    assert isinstance(returned.value, ir.Call)


def test_a_long_chain_of_elif_lowers() -> None:
    source = "if a0: pass\n" + "".join(f"elif a{n}: pass\n" for n in range(900))
    assert lower(source, whole(source)).size > 900


def test_a_method_lowers_alone_at_its_indentation() -> None:
    source = "class A:\n\tx = 1\n\n\t@d\n\tdef f(self):\n\t\treturn 1\n"
    (definition,) = lower(source, Slice("p", 4, 6)).body
    assert isinstance(definition, ir.FunctionDef)
    assert definition.name == "f"


def test_the_methods_of_a_class_can_be_left_out() -> None:
    source = "class A:\n    x = 1\n    def f(self):\n        return 1\n    def g(self): pass\n"
    (definition,) = lower(source, Slice("p", 1, 5, "class"), (Slice("p", 3, 4), Slice("p", 5, 5))).body
    assert isinstance(definition, ir.ClassDef)
    assert [type(statement) for statement in definition.body] == [ir.Assign, ir.Jump]


@pytest.mark.parametrize(
    "source", ["x = 1 \\\n\ny = 2\n", "x = 1; \\\ny = 2\n", "if a:\n    x = 1 \\\r\n\r\n    y = 2\n"]
)
def test_a_line_that_goes_on_to_an_empty_one_or_to_another_statement_ends_its_slice(source: str) -> None:
    last = next(number for number, line in enumerate(source.splitlines(), 1) if line.endswith("\\"))
    assert isinstance(lower(source, Slice("program.py", last, last)).body[0], ir.Assign)


def test_a_syntax_error_names_the_line_of_the_file() -> None:
    source = "\n\ndef f():\n    x = = 1\n"
    with pytest.raises(SyntaxError) as caught:
        lower(source, Slice("p", 3, 4))
    assert caught.value.lineno == 4


@pytest.mark.slow
def test_the_whole_standard_library_lowers() -> None:
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py"))
    tried = 0
    for path in files:
        if {"site-packages", "lib2to3", "bad", "test"} & set(path.parts):
            continue
        source = path.read_bytes()
        try:
            text = source.decode("utf-8")
        except UnicodeDecodeError:
            continue
        tried += 1
        assert lower(text, Slice(str(path), 1, text.count("\n") + 1)) is not None
    assert tried > 500
