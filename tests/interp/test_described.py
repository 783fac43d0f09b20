"""What the text of a function says that it does with an argument."""

import pytest

from inplace_lint.core.span import Slice
from inplace_lint.frontend.lower import lower
from inplace_lint.ir import described
from inplace_lint.ir import nodes as ir

READS = described.Read(described.OTHER)


def read_of(body: str) -> described.Read | None:
    lines = [f"    {line}" for line in body.splitlines()]
    source = "\n".join(("def decorate(cls, other=None):", *lines, ""))
    code = lower(source, Slice("a.py", 1, len(lines) + 1))
    node = code.body[0]
    assert isinstance(node, ir.FunctionDef)

    def callee(func: ir.Expr, _: described.Key) -> described.Read | None:
        return READS if isinstance(func, ir.Name) and func.id == "describe" else None

    return described.read(node.function, "cls", callee)


@pytest.mark.parametrize(
    "body",
    [
        "return cls",
        "cls.__doc__ = describe(cls)\nreturn cls",
        "cls.__init__.__doc__ += 'x'\nreturn cls",
        "for base in cls.__mro__:\n    print(base.__name__)\nreturn cls",
        "if other is None:\n    raise ValueError\nelse:\n    return cls",
        "try:\n    describe(cls)\nexcept KeyError:\n    pass\nreturn cls",
        "names = [name for name in cls.names if name]\nreturn cls",
        "def inner(cls):\n    return cls\nreturn inner(cls)",
        "if cls:\n    return cls\nreturn other",
        "same = cls\ndescribe(same)\nreturn cls",
        "names = set()\nnames |= {key for key in cls.__annotations__}\nreturn cls",
    ],
)
def test_it_is_read_and_returned(body: str) -> None:
    found = read_of(body)
    assert found is not None
    assert found.values == described.ITSELF


@pytest.mark.parametrize(
    "body",
    [
        "cls.flag = True\nreturn cls",
        "cls = cls or other\ncls.flag = True\nreturn cls",
        "cls += 1\nreturn cls",
        "cls.__init__.flag = True\nreturn cls",
        "setattr(cls, 'flag', True)\nreturn cls",
        "KNOWN[cls.__name__] = cls\nreturn cls",
        "KNOWN.append((1, cls))\nreturn cls",
        "same = cls\nsame.flag = True\nreturn cls",
        "pair = (cls, 1)\npair[0].flag = True\nreturn cls",
        "for one in (cls, other):\n    one.flag = True\nreturn cls",
        "del cls.forward\nreturn cls",
        "def wrap():\n    return cls()\nreturn cls",
        "made = lambda: cls()\nreturn cls",
        "class Derived(cls):\n    pass\nreturn cls",
        "with describe(cls) as cls.flag:\n    pass\nreturn cls",
        "for cls.flag in other:\n    pass\nreturn cls",
        "global last\nlast = cls\nreturn cls",
        "unknown(*[cls])\nreturn cls",
        "unknown(**{'a': cls})\nreturn cls",
        "cls()\nreturn cls",
        "cls.flags.append('adds')\nreturn cls",
        "flags = cls.flags\nflags['adds'] = True\nreturn cls",
        "for one in cls.fields.values():\n    one.adds = True\nreturn cls",
        "for base in cls.__mro__:\n    base.adds = True\nreturn cls",
        "same = cls\nsame.prepare()\nreturn cls",
        "wrap(cls.forward)\nreturn cls",
        "flags = cls.flags\nflags += ['adds']\nreturn cls",
        "known = KNOWN\nknown += [cls]\nreturn cls",
        "known = []\nknown += [cls]\nfor one in known:\n    one.adds = True\nreturn cls",
        "describe = other\ndescribe(cls)\nreturn cls",
        "other(cls)\nreturn cls",
        "yield cls",
    ],
)
def test_it_may_be_changed_or_kept(body: str) -> None:
    assert read_of(body) is None


@pytest.mark.parametrize(
    "body",
    [
        "return other",
        "return other or cls",
        "cls = other\nreturn cls",
        "cls = cls or other\nreturn cls",
        "import cls\nreturn cls",
        "return [cls]",
        "if other:\n    return cls",
        "return describe(cls)",
    ],
)
def test_something_else_may_be_returned(body: str) -> None:
    found = read_of(body)
    assert found is not None
    assert found.values != described.ITSELF


def test_methods_that_are_called_are_named() -> None:
    assert read_of("cls.prepare()\nreturn cls") == described.Read(described.ITSELF, frozenset({"prepare"}))
