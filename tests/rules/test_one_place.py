"""A rule is one place: what other code must know is a field of its `Rule`, and no code spells its name or code."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from inplace_lint.core.finding import Severity
from inplace_lint.fix.fixers import FIXERS
from inplace_lint.live.child.variants import forms, rewrite
from inplace_lint.rules import RULE_OF, RULES, TEXT_RULES
from inplace_lint.rules.draft import Repair
from inplace_lint.rules.rule import Harm, Rule, Variant

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "inplace_lint"
FOLDERS = {"1": "backward", "2": "at_write", "3": "silent", "4": "modes", "5": "style", "6": "style", "9": "at_import"}
HARMS = {
    "raises in backward": Harm.BACKWARD,
    "raises at the write": Harm.AT_WRITE,
    "silent": Harm.SILENT,
    "style": Harm.STYLE,
    "the file cannot be imported": Harm.IMPORT,
}
_CODE = re.compile(r"IPL\d")
EVERY = [pytest.param(rule, id=rule.name) for rule in RULE_OF.values()]


def strings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and text of each string of a module that is no documentation."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) and id(node) not in documents:
            yield node.lineno, node.value if isinstance(node.value, str) else node.value.decode("latin-1")


def test_no_code_outside_the_rules_spells_the_code_or_name_of_a_rule() -> None:
    names = {rule.name for rule in RULE_OF.values()}
    found = [
        f"{path.relative_to(PACKAGE)}:{line}: {text}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if PACKAGE / "rules" not in path.parents
        for line, text in strings(path)
        if _CODE.search(text) or text in names
    ]
    assert found == []


def test_a_rule_refers_to_other_rules_by_codes_that_there_are() -> None:
    codes = {code for rule in RULE_OF.values() for code in (rule.supersedes, rule.traced_as) if code}
    assert codes <= set(RULE_OF)
    assert len(RULE_OF) == len({rule.name for rule in RULE_OF.values()}) == len(RULES) + len(TEXT_RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_is_the_module_of_its_name_in_the_folder_of_its_group(rule: Rule) -> None:
    module = f"inplace_lint.rules.{FOLDERS[rule.code[3]]}.{rule.name.replace('-', '_')}"
    found = importlib.import_module(module)
    assert found.RULE is rule
    assert (found.__doc__ or "").startswith(f"{rule.code}: ")


@pytest.mark.parametrize("rule", EVERY)
def test_the_harm_of_a_rule_is_that_of_its_page_and_bounds_its_severity(rule: Rule) -> None:
    head = (ROOT / "rules" / f"{rule.name}.md").read_text(encoding="utf-8").splitlines()[2].split(" · ")
    assert HARMS[head[0].removeprefix("harm: ")] is rule.harm
    if rule in RULES:  # unused-suppression is style and a warning, as in other linters
        assert Severity(head[1].removeprefix("severity: ")) is rule.harm.severity


def test_every_repair_has_a_fixer() -> None:
    assert set(FIXERS) == set(Repair)


def test_every_variant_can_be_made_beside_the_program_of_a_user() -> None:
    assert {variant.value for variant in Variant} == {*rewrite.EDITS, *forms.UNDOING, Variant.UNCOMPILED.value}


def test_a_silent_rule_that_is_proven_has_a_variant_without_the_fault() -> None:
    silent = [rule for rule in RULES if rule.harm is Harm.SILENT and rule.provable]
    assert [rule.name for rule in silent if not rule.variants] == []
