"""A fact that does not follow `rules/ops/README.md` is an error that names its file, its line and the nearest word."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from inplace_lint.core.errors import FactError
from inplace_lint.knowledge import facts, packs, rows
from tests.pages.examples import ROOT

GOOD = '{"op": "torch.good", "args": ["self"], "returns": [{"is": "fresh"}], "source": "read"}'
PROGRAM = "import torch\n\nx = torch.mine(torch.rand(2))\nx += 1\n"


def entry(**keys: object) -> str:
    return json.dumps({"op": "torch.mine", "args": ["self", "other=None"], **keys})


def write(**keys: object) -> str:
    return entry(writes=[{"to": "self", "counted": True, **keys}])


def result(**keys: object) -> str:
    return entry(returns=[{"is": "fresh", **keys}])


BAD = {
    "a check": (write(checks=["laef"]), '"laef" is not a check; did you mean "leaf"?'),
    "a history": (entry(history="rebased"), '"rebased" is not a history; did you mean "rebase"?'),
    "a kind of result": (
        result(**{"is": "frehs"}),
        '"frehs" is {ANY}; did you mean "fresh"?',
    ),
    "a kind of result with keys": (
        result(**{"is": "frehs", "dtype": "int"}),
        '"frehs" is not a kind of result with these keys; did you mean "fresh"?',
    ),
    "a kind of view": (
        result(**{"is": "view", "kind": "multy"}),
        '"multy" is not a kind of view; did you mean "multi"?',
    ),
    "a kind of value": (
        result(**{"is": "value", "kind": "integer"}),
        '"integer" is not a kind of value; did you mean "int"?',
    ),
    "a dtype class": (result(dtype="flaot"), '"flaot" is not a dtype class; did you mean "float"?'),
    "a way to move memory": (write(moves="axis"), '"axis" is not a way to move memory; did you mean "axes"?'),
    "an act": (entry(act="backwards"), '"backwards" is not an act; did you mean "backward"?'),
    "a mode": (entry(act="mode:grads"), '"mode:grads" is not an act; did you mean "mode:grad"?'),
    "a device": (entry(device="cudda"), '"cudda" is not a device; did you mean "cuda"?'),
    "a test in a guard": (entry(**{"if": "pased(other)"}), '"pased" is not a test in a guard; did you mean "passed"?'),
    "a name in a guard": (
        entry(**{"if": "passed(othr)"}),
        '"othr" is {ANY}; did you mean "other"?',
    ),
    "a guard": (write(**{"if": "rg(other"}), '"rg(other" is not a guard'),
    "the arguments of a test": (write(**{"if": "same(other)"}), '"same(other)" is not a guard'),
    "a guard inside a list": (
        result(**{"is": "list", "item": {"is": "fresh", "if": "rg(self) +"}}),
        '"rg(self) +" is not a guard',
    ),
    "a key of an entry": (entry(returnes=[]), '"returnes" is not a key of an entry; did you mean "returns"?'),
    "a key of a write": (write(check=["leaf"]), '"check" is not a key of a write; did you mean "checks"?'),
    "a key of a save": (
        entry(saves=[{"of": "self", "copies": True}]),
        '"copies" is not a key of a save; did you mean "copy"?',
    ),
    "a key of a result": (result(shpae="axes(2)"), '"shpae" is not a key of a fresh result; did you mean "shape"?'),
    "a key of another kind of result": (result(of="self"), '"of" is not a key of a fresh result'),
    "a key of a state": (
        entry(state={"weight": {"parm": True}}),
        '"parm" is not a key of a part of a state; did you mean "param"?',
    ),
    "a key of what it becomes": (entry(becomes=[{"ops": "torch.relu_"}]), 'an item of "becomes" needs the key "op"'),
    "an argument that is written": (
        entry(writes=[{"to": "othr", "counted": True}]),
        '"othr" is {ANY}; did you mean "other"?',
    ),
    "a part of the state that is saved": (
        entry(state={"weight": {}}, saves=[{"of": "self.wieght"}]),
        '"self.wieght" is {ANY}; did you mean "self.weight"?',
    ),
    "an argument with a gradient": (
        entry(grads=["selv"]),
        '"selv" is {ANY}; did you mean "self"?',
    ),
    "a version range": (entry(versions="=>1.5"), '"=>1.5" is not a version range; write for example ">=1.5,<2.0"'),
    "an argument": (entry(args=["in put"]), '"in put" is not an argument: write "x", "x=1", "*", "*x" or "**x"'),
    "no op": ('{"args": []}', 'an entry needs the key "op"'),
    "no `counted`": (entry(writes=[{"to": "self"}]), 'a write needs the key "counted"'),
    "an op of another type": ('{"op": 1}', '"op" of an entry is 1, not a text'),
    "arguments of another type": (entry(args="self"), '"args" of an entry is "self", not a list'),
    "a source of another type": (entry(source=1), '"source" of an entry is 1, not a text'),
    "an argument of another type": (entry(args=[1]), '"args" of an entry is 1, not a text'),
    "spellings of another type": (entry(same="torch.other"), '"same" of an entry is "torch.other", not a list'),
    "a spelling of another type": (entry(same=[1]), '"same" of an entry is 1, not a text'),
    "a flag of another type": (write(counted="yes"), '"counted" of a write is "yes", not true or false'),
    "checks of another type": (write(checks="leaf"), '"checks" of a write is "leaf", not a list'),
    "a write of another type": (entry(writes=["self"]), '"writes" of an entry is "self", not an object'),
    "a shape of another type": (result(shape=2), '"shape" of a fresh result is 2, not a shape'),
    "a shape without a rule": (
        result(shape="self"),
        '"self" is not a shape: write a rule and its arguments, as "like(input)"',
    ),
    "a rule of a shape": (result(shape="lik(self)"), '"lik" is not a rule of a shape; did you mean "like"?'),
    "an argument of a shape": (result(shape="like(selv)"), '"selv" is {ANY}; did you mean "self"?'),
    "a guard of another type": (entry(**{"if": True}), '"if" of an entry is true, not a guard'),
    "a state of another type": (entry(state=["weight"]), '"state" of an entry is ["weight"], not an object'),
    "a version range of another type": (entry(versions=2), '"versions" of an entry is 2, not a version range'),
    "an entry of another type": ("[1]", "a line holds one entry: {...}"),
    "two entries": (GOOD + GOOD, "a line holds one entry: {...}"),
    "no JSON": ('{"op": "torch.mine",}', "not JSON: Expecting property name enclosed in double quotes at column 21"),
}  # fmt: skip


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the facts a copy that a test may change."""
    shutil.copytree(ROOT / "rules" / "ops", tmp_path / "rules" / "ops")
    for module in (facts, packs, rows):
        monkeypatch.setattr(module, "rules_dir", lambda: tmp_path / "rules")
    return tmp_path / "rules"


@pytest.mark.parametrize("wrong", BAD)
def test_a_bad_entry_names_its_line(wrong: str, rules: Path) -> None:
    line, message = BAD[wrong]
    (rules / "ops" / "torch" / "mine.jsonl").write_text(f"{GOOD}\n\n{line}\n", encoding="utf-8")
    named = message.replace("{ANY}", "neither an argument nor a result of torch.mine")
    for read in (lambda torch: torch.check(), lambda torch: torch.forms("torch.mine")):
        with pytest.raises(FactError) as error:
            read(facts.load("torch"))
        assert str(error.value) == f"rules/ops/torch/mine.jsonl:3: {named}"


@pytest.mark.parametrize("framework", facts.frameworks())
def test_all_entries_follow_the_format(framework: str) -> None:
    facts.load(framework).check()


def test_the_facts_of_a_library_are_checked_when_they_are_met(rules: Path) -> None:
    table = rules / "ops" / "libs" / "einops.jsonl"
    count = len(table.read_text(encoding="utf-8").splitlines())
    with table.open("a", encoding="utf-8") as file:
        file.write(entry(op="einops.mine", histori="cut") + "\n")
    torch = facts.load("torch")
    assert torch.forms("timm.layers.Mlp")
    assert torch.forms("einops.rearrange")
    with pytest.raises(FactError) as error:
        torch.forms("einops.mine")
    message = '"histori" is not a key of an entry; did you mean "history"?'
    assert str(error.value) == f"rules/ops/libs/einops.jsonl:{count + 1}: {message}"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"0.8.2"', '"0.8.2", "canonica": {}', '"canonica" is not a key of a pack; did you mean "canonical"?'),
        ('"packages"', '"package"', 'a pack needs the key "packages"'),
        ('"obtained": "run"', '"obtained": "ran"', '"ran" is not a way to obtain facts; did you mean "run"?'),
        ('"release": "0.8.2"', '"release": 0.8', '"release" of a pack is 0.8, not a text'),
        ('["einops"]', "}", "not JSON: Expecting value at column 72"),
    ],
)
def test_what_is_wrong_in_the_index_of_packs_names_its_line(old: str, new: str, message: str, rules: Path) -> None:
    index = rules / "ops" / "libs" / "packs.json"
    lines = index.read_text(encoding="utf-8").splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith('"einops"'))
    assert old in lines[at]
    lines[at] = lines[at].replace(old, new)
    index.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(FactError) as error:
        assert facts.load("torch").libraries
    assert str(error.value) == f"rules/ops/libs/packs.json:{at + 1}: {message}"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"rebases"', '"rebase"', 'a framework needs the key "rebases"'),
        ('"counts_steps"', '"count_steps"', '"count_steps" is not a key of a framework; did you mean "counts_steps"?'),
        ('">=1.5"', '"1.5+"', '"1.5+" is not a version range; write for example ">=1.5,<2.0"'),
        ('"negated": false', '"negated": 0', '"negated" of a framework is 0, not true or false'),
        ('"stale"', '"stail"', '"stail" is not a message of a framework; did you mean "stale"?'),
        ('"cut": "detach"', '"cuts": "detach"', '"cuts" is not a word for a cure; did you mean "cut"?'),
        ('"//": "__ifloordiv__"', '"///": "__ifloordiv__"', '"///" is not a binary operator; did you mean "//"?'),
        ('"~": "__invert__"', '"!": "__invert__"', '"!" is not a unary operator'),
        ('"<=": "__le__"', '"=<": "__le__"', '"=<" is not a comparison; did you mean "<"?'),
        ('"logabsdet": 1', '"logabsdet": "1"', '"fields" of a framework is "1", not a whole number'),
        ('"unary": {', '"unary": {,', "not JSON: Expecting property name enclosed in double quotes at column 13"),
    ],
)
def test_what_is_wrong_in_a_framework_names_its_line(old: str, new: str, message: str, rules: Path) -> None:
    path = rules / "ops" / "torch" / "framework.json"
    before, found, after = path.read_text(encoding="utf-8").partition(old)
    assert found
    path.write_text(before + new + after, encoding="utf-8")
    with pytest.raises(FactError) as error:
        facts.framework("torch")
    line, problem = str(error.value).removeprefix("rules/ops/torch/framework.json:").split(": ", 1)
    assert problem == message
    assert (
        message.startswith("a framework needs")
        or _quoted(message) in path.read_text("utf-8").splitlines()[int(line) - 1]
    )


def _quoted(message: str) -> str:
    return message.split('"')[1] if message.startswith('"') else "{,"


def test_a_flag_may_be_a_range_of_versions(rules: Path) -> None:
    assert rules
    assert facts.framework("torch", "1.5").counts_steps
    assert not facts.framework("torch", "1.4").counts_steps


@pytest.mark.parametrize(("line", "jobs"), [(write(checks=["laef"]), "1"), (entry(retruns=[]), "2")])
def test_the_command_line_ends_with_that_one_line(line: str, jobs: str, tmp_path: Path) -> None:
    for folder in ("inplace_lint", "rules"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "rules" / "ops" / "torch" / "mine.jsonl").write_text(line + "\n", encoding="utf-8")
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(PROGRAM + "# long enough for a process of its own\n" * 4000, encoding="utf-8")
    command = [sys.executable, "-m", "inplace_lint", "check", "a.py", "b.py", "--jobs", jobs, "--no-cache"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    word, near = ("laef", "leaf") if "laef" in line else ("retruns", "returns")
    what = "check" if word == "laef" else "key of an entry"
    message = f'error: rules/ops/torch/mine.jsonl:1: "{word}" is not a {what}; did you mean "{near}"?\n'
    assert (run.returncode, run.stdout, run.stderr) == (2, "", message)
