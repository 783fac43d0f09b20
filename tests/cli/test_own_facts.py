"""Facts of a project about operators that only its owners know."""

from __future__ import annotations

import json
import sys

import pytest

PROGRAM = """\
import torch
import my_ext
from my_ext import scale as by

w = torch.ones(3, requires_grad=True)
h = w.exp()
my_ext.fused(h, w)
z = w.exp()
by(z, 2)
(h + z).sum().backward()
"""
TABLE = """\
[ops]
"my_ext.fused" = { args = ["x", "other"], writes = ["x"], saves = ["result"] }
"my_ext.scale" = { args = ["x", "s"], writes = ["x"] }
"""
FULL = {"op": "my_ext.fused", "args": ["x", "other"], "writes": [{"to": "x", "counted": True}]}


def found(ran):
    return [line.partition(": ")[0].split(":")[1] for line in ran.out.splitlines() if ".py:" in line]


@pytest.fixture
def project(folder):
    (folder / "a.py").write_text(PROGRAM)
    return folder


def concise(lint, *words):
    return lint("--output-format=concise", *words, "a.py")


def test_what_a_table_says_of_a_call_is_known(lint, project):
    assert found(concise(lint)) == []
    (project / "inplace-lint.toml").write_text(TABLE)
    ran = concise(lint)
    assert (found(ran), ran.status) == (["7", "9"], 1)
    assert "`h` is overwritten, but backward of `exp` needs its old value" in ran.out


def test_files_of_facts_are_read_and_a_change_of_one_counts_at_once(lint, project):
    (project / "pyproject.toml").write_text('[tool.inplace-lint]\nfacts = ["ops/*.jsonl"]\n')
    (project / "ops").mkdir()
    (project / "ops" / "one.jsonl").write_text(json.dumps(FULL) + "\n")
    assert found(concise(lint)) == ["7"]
    (project / "ops" / "one.jsonl").write_text(json.dumps({**FULL, "writes": []}) + "\n")
    assert found(concise(lint)) == []
    (project / "ops" / "two.jsonl").write_text("\n" + json.dumps({**FULL, "op": "my_ext.scale"}) + "\n")
    assert found(concise(lint)) == ["9"]


def test_facts_reach_every_process_and_other_files(lint, project):
    (project / "inplace-lint.toml").write_text(TABLE)
    for number in range(8):
        (project / f"b{number}.py").write_text(PROGRAM + "# long\n" * 1000)
    ran = lint("--output-format=concise", "--jobs=2", ".")
    assert ran.out.count("error[IPL101]") == 18


def test_facts_of_the_command_line_are_added_to_those_of_the_file(lint, project):
    (project / "inplace-lint.toml").write_text(TABLE)
    (project / "one.jsonl").write_text(json.dumps({**FULL, "writes": []}))
    assert found(concise(lint, "--config", 'facts=["one.jsonl"]')) == ["7", "9"]
    assert found(concise(lint, "--config", 'facts=["one.jsonl"]', "--config", "ops={}")) == []


def test_a_file_that_extends_another_has_its_facts_unless_it_sets_the_key(lint, project):
    (project / "base").mkdir()
    (project / "base" / "inplace-lint.toml").write_text(f'facts = ["*.jsonl"]\n{TABLE}')
    (project / "base" / "one.jsonl").write_text(json.dumps({**FULL, "op": "my_ext.other"}))
    (project / "inplace-lint.toml").write_text('extend = "base/inplace-lint.toml"\n')
    assert found(concise(lint)) == ["7", "9"]
    (project / "inplace-lint.toml").write_text('extend = "base/inplace-lint.toml"\nops = {}\n')
    assert found(concise(lint)) == []


def test_a_fact_of_a_function_of_the_project_counts_in_place_of_its_code(lint, project):
    (project / "my_ext").mkdir()
    (project / "my_ext" / "__init__.py").write_text("from .ops import fused, scale\n")
    code = "from my_ext import _C\n\n\ndef fused(x, other):\n    _C.fused(x)\n\n\ndef scale(x, s):\n    fused(x, s)\n"
    (project / "my_ext" / "ops.py").write_text(code)
    assert found(concise(lint)) == []
    (project / "inplace-lint.toml").write_text(TABLE.replace("my_ext.scale", "no_ext.scale"))
    assert found(concise(lint)) == ["7"]
    (project / "inplace-lint.toml").write_text(TABLE.replace("my_ext.fused", "my_ext.ops.fused"))
    ran = lint("--output-format=concise", ".")
    assert "a.py:7:1: error[IPL101]" in ran.out
    assert "a.py:9:1: error[IPL101]" in ran.out


def test_an_argument_that_is_called_out_is_like_any_other(lint, project):
    (project / "inplace-lint.toml").write_text('[ops]\n"my_ext.into" = { args = ["x", "out"], writes = ["out"] }\n')
    call = "o = torch.empty(3)\nmy_ext.into(w.exp(), o)\n(w * o).sum().backward()\n"
    (project / "a.py").write_text(PROGRAM.partition("h = ")[0] + call)
    assert found(concise(lint)) == []


def test_a_project_says_more_than_the_tables_do(lint, project):
    (project / "a.py").write_text(PROGRAM.replace("my_ext.fused(h, w)", "torch.ops.mine.go(h)"))
    (project / "inplace-lint.toml").write_text('[ops]\n"torch.ops.mine.go" = { args = ["x"], writes = ["x"] }\n')
    assert found(concise(lint)) == ["7"]
    (project / "a.py").write_text(PROGRAM.replace("my_ext.fused(h, w)", "h.exp_()"))
    (project / "inplace-lint.toml").write_text('[ops]\n"torch.Tensor.exp_" = { args = ["self"] }\n')
    assert found(concise(lint)) == []


def test_the_schema_of_an_operator_says_what_it_takes_writes_and_returns(lint, project):
    fused = '"my_ext.fused" = { schema = "fused(Tensor(a!) x, Tensor y) -> ()" }\n'
    scale = '"my_ext.scale" = { schema = "(Tensor(a) x, float by=1.0, *, bool on=True) -> Tensor(a)" }\n'
    (project / "inplace-lint.toml").write_text(f"[ops]\n{fused}{scale}")
    assert found(concise(lint)) == ["7"]
    view = PROGRAM.replace("by(z, 2)", "v = by(z, by=2, on=False)\nv += 1")
    (project / "a.py").write_text(view)
    assert found(concise(lint)) == ["7", "10"]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('{ args = ["x"], wirtes = ["x"] }', '"wirtes" is not a key of an entry; did you mean "writes"?'),
        ('{ args = ["x"], writes = ["y"] }', '"y" is neither an argument nor a result of my_ext.f'),
        ('{ args = ["x"], history = "cutt" }', '"cutt" is not a history; did you mean "cut"?'),
        ('{ args = ["x"], writes = [{ to = "x" }] }', 'a write needs the key "counted"'),
        ('{ args = "x" }', '"args" of an entry is "x", not a list'),
        ("3", "3 is not a table of keys"),
        ('{ args = "x", writes = "x" }', '"args" of an entry is "x", not a list'),
        ('{ args = ["x"], writes = 3 }', '"writes" of an entry is 3, not a list'),
        ('{ args = ["n=foo("] }', 'the default in "n=foo(" is not a Python expression'),
        (
            '{ args = ["x"], saves = ["results"] }',
            '"results" is neither an argument nor a result of my_ext.f; did you mean "result"?',
        ),
        (
            '{ args = ["x"], returns = ["views of x"] }',
            '"views of x" is neither an argument nor a result of my_ext.f; did you mean "view of x"?',
        ),
        (
            '{ args = ["x"], saves = [{ of = "out9" }] }',
            '"out9" is not a result of my_ext.f, which returns 1; did you mean "out0"?',
        ),
        ('{ schema = "(Tensor x" }', '"schema" does not parse: expected `)`, not the end'),
        ('{ schema = "f(Tensr x) -> ()" }', '"schema" does not parse: expected a type, not `Tensr`'),
        ("{ schema = 3 }", '"schema" is 3, not a text'),
        ('{ schema = "(Tensor x) -> ()", writes = ["y"] }', '"y" is neither an argument nor a result of my_ext.f'),
    ],
)
def test_a_wrong_entry_of_the_table_is_one_line(lint, project, entry, message):
    (project / "pyproject.toml").write_text(f'[project]\n[tool.inplace-lint.ops]\n# mine\n"my_ext.f" = {entry}\n')
    ran = concise(lint)
    path = project / "pyproject.toml"
    assert (ran.status, ran.err) == (2, f"error: {path}:4: 'ops' for 'my_ext.f': {message}\n")


def test_an_entry_of_an_inline_table_has_a_line(lint, project):
    path = project / "pyproject.toml"
    path.write_text('[tool.inplace-lint]\njobs = 1\nops = { "my_ext.g" = { args = ["x"] }, "my_ext.f" = 3 }\n')
    ran = concise(lint)
    assert (ran.status, ran.err) == (2, f"error: {path}:3: 'ops' for 'my_ext.f': 3 is not a table of keys\n")


@pytest.mark.parametrize(
    "load",
    [
        'load(name="my_ext", sources=["a.cpp"])',
        'load_inline("my_ext", cpp_sources="", functions=["fused"])',
        'load(sources=["a.cpp"], name="my_" + "ext", verbose=True)',
    ],
)
def test_an_extension_that_the_program_compiles_is_called_by_its_name(lint, project, load):
    program = f"from torch.utils.cpp_extension import load, load_inline\n{PROGRAM}".replace("import my_ext\n", "")
    (project / "a.py").write_text(
        program.replace("from my_ext import scale as by", f"my_ext = {load}; by = my_ext.scale")
    )
    assert found(concise(lint)) == []
    (project / "inplace-lint.toml").write_text(TABLE)
    assert found(concise(lint)) == ["7", "9"]
    (project / "inplace-lint.toml").write_text(TABLE.replace("my_ext.", "other."))
    assert found(concise(lint)) == []


def test_a_call_becomes_one_that_is_known(lint, project):
    table = '[ops]\n"my_ext.f" = { args = ["x"], becomes = [{ op = "OP" }] }\n"my_ext.g" = { args = ["x"] }\n'
    for op in ("torch.exp", "my_ext.g"):
        (project / "inplace-lint.toml").write_text(table.replace("OP", op))
        assert concise(lint).err == ""
    (project / "inplace-lint.toml").write_text(table.replace("OP", "my_ext.h"))
    why = "'my_ext.f' becomes 'my_ext.h', of which nothing is known, did you mean 'my_ext."
    assert (concise(lint).status, why in concise(lint).err) == (2, True)
    (project / "inplace-lint.toml").write_text('facts = ["ops.jsonl"]\n')
    (project / "ops.jsonl").write_text('{"op": "my_ext.f", "args": ["x"], "becomes": [{"op": "torch.exq"}]}\n')
    assert "error: ops.jsonl:1: 'my_ext.f' becomes 'torch.exq', of which" in concise(lint).err


def test_a_word_may_stand_for_a_list_of_one(lint, project):
    entry = '{ args = ["x", "other"], writes = "x", saves = "result", returns = "fresh" }'
    (project / "inplace-lint.toml").write_text(f'[ops]\n"my_ext.fused" = {entry}\n')
    assert found(concise(lint)) == ["7"]


def test_a_file_of_facts_may_begin_with_a_byte_order_mark(lint, project):
    (project / "inplace-lint.toml").write_text('facts = ["ops.jsonl"]\n')
    (project / "ops.jsonl").write_text(json.dumps(FULL) + "\n", encoding="utf-8-sig")
    assert found(concise(lint)) == ["7"]


def test_a_name_without_quotes_is_told(lint, project):
    (project / "inplace-lint.toml").write_text('[ops]\nmy_ext.f = { args = ["x"] }\n')
    assert '"my_ext" is not a call of a package: write "package.function", in quotes' in concise(lint).err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"op": "my_ext.f", "arsg": []}', '"arsg" is not a key of an entry; did you mean "args"?'),
        ('{"op": "my_ext.f"', "not JSON: Expecting ',' delimiter at column 18"),
        ("[]", "a line holds one entry: {...}"),
        ('{"args": []}', 'an entry needs the key "op"'),
    ],
)
def test_a_wrong_line_of_a_file_is_one_line(lint, project, line, message):
    (project / "inplace-lint.toml").write_text('facts = ["ops.jsonl"]\n')
    (project / "ops.jsonl").write_text(f"{json.dumps(FULL)}\n{line}\n")
    ran = concise(lint)
    assert (ran.status, ran.err) == (2, f"error: ops.jsonl:2: {message}\n")


def test_files_and_packs_that_are_not_there_are_told(lint, project):
    (project / "inplace-lint.toml").write_text('facts = ["ops/*.jsonl"]\n')
    assert concise(lint).err.endswith("inplace-lint.toml:1: 'facts' names 'ops/*.jsonl', which is not a file\n")
    (project / "inplace-lint.toml").write_text('\nfact-packs = ["mine"]\n')
    assert "inplace-lint.toml:2: 'fact-packs' names 'mine', which no installed package has" in concise(lint).err
    (project / "inplace-lint.toml").write_text("facts = 3\n")
    assert concise(lint).err.endswith("'facts' must be a list of strings, not a number\n")


@pytest.fixture
def pack(tmp_path_factory):
    """Make a package with facts in a folder, as it is installed; importing it fails."""
    site = tmp_path_factory.mktemp("site")
    (site / "my_ext" / "facts").mkdir(parents=True)
    (site / "my_ext" / "__init__.py").write_text("raise RuntimeError\n")
    (site / "my_ext" / "facts" / "ops.jsonl").write_text(json.dumps(FULL) + "\n")
    (site / "my_ext-1.dist-info").mkdir()
    (site / "my_ext-1.dist-info" / "METADATA").write_text("Name: my-ext\nVersion: 1\n")
    (site / "my_ext-1.dist-info" / "entry_points.txt").write_text("[inplace_lint.facts]\nmy-ext = my_ext.facts\n")
    return site


def test_facts_of_an_installed_package_are_read_where_they_are_asked_for(lint, project, pack):
    path = ":".join([str(pack), *filter(None, sys.path)])
    assert found(lint("--output-format=concise", "a.py", PYTHONPATH=path)) == []
    (project / "inplace-lint.toml").write_text('fact-packs = ["my-ext"]\n')
    assert found(lint("--output-format=concise", "a.py", PYTHONPATH=path)) == ["7"]
    (project / "inplace-lint.toml").write_text('fact-packs = ["my-exd"]\n')
    assert "did you mean 'my-ext'?" in lint("a.py", PYTHONPATH=path).err
    (pack / "my_ext" / "facts" / "ops.jsonl").write_text('{"op": "my_ext.f", "histry": "cut"}\n')
    (project / "inplace-lint.toml").write_text('fact-packs = ["my-ext"]\n')
    message = 'my-ext: ops.jsonl:1: "histry" is not a key of an entry; did you mean "history"?'
    assert lint("a.py", PYTHONPATH=path).err == f"error: {message}\n"


def test_a_pack_of_the_scanned_folder_is_not_installed(lint, project, pack):
    (project / "inplace-lint.toml").write_text('fact-packs = ["my-ext"]\n')
    (pack / "inplace-lint.toml").write_text('fact-packs = ["my-ext"]\n')
    (pack / "a.py").write_text(PROGRAM)
    path = [*filter(None, sys.path)]
    ran = lint(str(pack / "a.py"), PYTHONPATH=":".join([*path, str(pack)]))
    assert "'fact-packs' names 'my-ext', which no installed package has" in ran.err
    (project / "my_ext").mkdir()
    (project / "my_ext" / "__init__.py").write_text("raise RuntimeError\n")
    assert found(lint("--output-format=concise", "a.py", PYTHONPATH=":".join([str(project), str(pack), *path]))) == [
        "7"
    ]


def test_the_settings_are_shown_as_toml(lint, project):
    (project / "inplace-lint.toml").write_text(TABLE)
    ran = lint("--show-settings")
    assert '"my_ext.fused" = { "args" = ["x", "other"], "writes" = ["x"], "saves" = ["result"] }\n' in ran.out
