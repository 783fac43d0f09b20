"""What a text says that `import *` may take: all names and more, but for few of the files that a name leads past."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

from inplace_lint.effects.summary import outline
from inplace_lint.workspace.call_graph import file_effects
from inplace_lint.workspace.claims import reader
from inplace_lint.workspace.import_resolver import Lookup
from inplace_lint.workspace.module import Module
from inplace_lint.workspace.module_store import Project
from inplace_lint.workspace.top_level import bound

OURS = sorted((Path(__file__).resolve().parents[2] / "inplace_lint").rglob("*.py"))
STDLIB = sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py"))

SOURCE = '''\
"""A text.

class InText: of which nothing is bound
"""
import a.b.c, d as e
from f import (
    g,
    h as i,
)
@decorated
def run(
    first, second=third(4),
):
    local = 1
# a comment
    later = 2

async def wait(): pass
class Block(Base):
    size = 3

    def method(self): inner = 1
if x := run():
    branch, *rest = y = [n for n in range(3)]
else:
    def nested(): pass
try: import json
except ImportError as error: json = None
TEXT = """
class Fake:
    """; HIDDEN = 1
'''


def _exact(source: str) -> tuple[set[str], set[tuple[str, int]]]:
    read = outline("p", source, [])
    module = Module("p", source, read)
    return {name for item in read.items for name in item.binds}, {(star.module, star.level) for star in module.stars}


def _is_covered(source: str) -> bool:
    names, stars = _exact(source)
    found = bound(source)
    exported = {name for name in names if name != "*" and not name.startswith("_")}
    return exported <= set(found.names) and (found.stars is None or stars <= set(found.stars))


def test_all_names_that_a_module_binds_are_given() -> None:
    assert {"a", "e", "g", "i", "run", "wait", "Block", "x", "rest", "nested", "json", "HIDDEN"} <= _exact(SOURCE)[0]
    assert _is_covered(SOURCE)
    assert _is_covered(SOURCE.replace("\n", "\r"))
    assert _is_covered(SOURCE.replace("\n", "\r\n"))


def test_names_inside_of_functions_and_classes_are_not() -> None:
    source = "def run(first):\n    local = 1\n\nclass Block:\n    def go(self):\n        pass\nlast = a.part"
    assert set(bound(source).names) == {"run", "Block", "last", "a"}


def test_what_is_only_called_or_remarked_is_not() -> None:
    source = (
        "# modules may follow\nif here():\n    def run(): pass\n    class\\\n  Block (Base): pass\n_own = there (1)\n"
    )
    assert set(bound(source).names) == {"if", "def", "run", "pass", "class", "Block", "Base"}
    assert {"there", "_own"} & set(bound(f"{source}__all__ = [*names]\n").names) == {"_own"}
    assert "later" in bound('"""\n# a text """; later = 1\n').names


def test_identifiers_are_read_as_python_reads_them() -> None:
    assert "file" in bound("\N{LATIN SMALL LIGATURE FI}le = 1\n").names


@pytest.mark.parametrize(
    ("text", "stars"),
    [
        ("from .a import *\nfrom ..b.c import *\nimport d\n", ((("a", 1), ("b.c", 2)))),
        ("from . import *\n", (("", 1),)),
        ("if x:\n    from a \\\n        import *\n", (("a", 0),)),
        ("from . a import *\n", (("a", 1),)),
        ("from . \\\n  import *", (("", 1),)),
        ("from .. . a . b import *\n", None),
    ],
)
def test_modules_that_all_is_imported_from_are_given_or_said_to_be_unknown(
    text: str, stars: tuple[tuple[str, int], ...] | None
) -> None:
    assert bound(text).stars == stars


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("__all__ = ['b', \"c\",  # d\n]\na = b = c = 1\n", {"b", "c"}),
        ("__all__: list[str] = ('b',)\na = b = 1\n", {"b"}),
        ("__all__ = ['b']\n__all__ += ['a']\na = b = 1\n", None),
        ("__all__ = ['b', *other]\na = b = 1\n", None),
        ("__all__ = ['b'] + a\nb = 1\n", None),
        ('"""\n__all__ = ["b"]\n"""\na = 1\n', None),
        ("if x:\n    __all__ = ['b']\na = 1\n", None),
    ],
)
def test_a_list_of_what_is_exported_counts_where_it_is_plain(text: str, names: set[str] | None) -> None:
    found = set(bound(text).names)
    assert found == names if names is not None else {"a"} <= found


@pytest.mark.parametrize(
    "paths", [pytest.param(OURS, id="ours"), pytest.param(STDLIB, id="stdlib", marks=pytest.mark.slow)]
)
def test_no_file_binds_more_than_its_text_says(paths: list[Path]) -> None:
    missing = []
    for path in paths:
        try:
            source = path.read_text(encoding="utf-8")
            covered = bound(source).names == () or "__all__" in source or _is_covered(source)
        except (SyntaxError, UnicodeDecodeError):
            continue
        if not covered:
            missing.append(path)
    assert not missing


def test_a_name_is_looked_for_only_in_the_files_of_a_package_that_may_have_it() -> None:
    texts = {f"p/m{number}.py": f"import torch\nclass M{number}:\n    model = 1\n" for number in range(100)}
    texts["p/__init__.py"] = "".join(f"from .m{number} import *\n" for number in range(100))
    texts["p/m7.py"] += "def bump(x):\n    x += 1\n"
    project = Project(Lookup(texts.__contains__, frameworks=frozenset({"torch"})), reader(texts))
    source = "import p\ndef use(x, model): p.bump(x)\n"
    main = Module("main.py", source, outline("main.py", source, ["torch"]))
    project.add(main)
    assert file_effects(project, main).known["p/m7.py", "bump"].calls == 0
    assert file_effects(project, main).summary("use").calls == 1
    assert {path for path, read in project.modules.items() if read} == {"main.py", "p/__init__.py", "p/m7.py"}


def test_methods_are_looked_for_in_what_an_import_runs_and_only_where_a_text_has_them() -> None:
    texts = {f"p/m{number}.py": f"class M{number}:\n    def run{number % 3}(self): pass\n" for number in range(9)}
    texts["p/__init__.py"] = "from . import m0, m1, m3\nrun0 = 'def run0'\n"
    texts["main.py"] = "import p\nclass Main:\n    @property\n    def run0(self): pass\n"
    project = Project(Lookup(texts.__contains__), reader(texts))
    assert project.defining("main.py", "run0") == ["main.py", "p/m0.py", "p/m3.py"]
    found = map(project.module, project.defining("main.py", "run0"))
    assert [module.having("run0") for module in found if module] == [[], ["M0"], ["M3"]]
