"""Every help has a proof: a program that follows it trains, on the numbers of the program that was meant."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from inplace_lint.core.finding import Finding, Severity
from inplace_lint.driver.merge_findings import is_agreed
from inplace_lint.report.i18n import catalogue
from inplace_lint.rules import RULE_OF
from tests.fix import mending
from tests.lang import texts
from tests.pages.examples import EXAMPLES, ROOT, Example
from tests.pages.real import Real

SAME = (ROOT / "tests" / "fix" / "same_values.py").read_text(encoding="utf-8")
TEMPLATES = catalogue("zh")  # its entries tell which helps are one text
_WRONG = re.compile(r"^assert .*\n", re.MULTILINE)  # what a faulty example says of its wrong values
OTHER = "; or "  # what divides the choices that a help gives


@dataclass(slots=True)
class Proof:
    """A faulty example, its cures, and for each the program that was meant; a cure of "" is what the fix makes."""

    fault: Example
    pairs: list[tuple[str, str]] = field(default_factory=list)


def _proofs() -> Iterator[Proof]:
    open_, waiting = Proof(EXAMPLES[0]), list[str]()
    for example in EXAMPLES:
        if not example.is_cure:
            assert not waiting, f"{open_.fault.name}: no program that was meant follows the last cure"
            if open_.pairs:
                yield open_
            open_ = Proof(example)
        elif example.behaviour == "cure":
            waiting.append(example.program)
        else:
            open_.pairs.extend((cure, example.program) for cure in waiting or [""])
            waiting = []


PROOFS = tuple(_proofs())


def told(example: Example, *, fixes: bool) -> tuple[Finding, ...]:
    opinions = {code for _, code in example.lines_of("info")}
    advice = any(RULE_OF[code].unanimous for code in opinions)
    found = filter(is_agreed, mending.found(example.program, opinions=bool(opinions), advice=advice, fixes=fixes))
    asked = (one for one in found if one.severity is not Severity.INFO or one.code in opinions)
    return tuple(one for one in asked if (one.span.line, one.code) not in example.lines_of("false-positive"))


def entry(text: str) -> str:
    """Give the entry of the catalogue that a help is made from."""
    found = TEMPLATES.match(text)
    return found[0].english if found is not None else ""


def helps(example: Example, *, fixes: bool) -> set[tuple[str, str]]:
    """Give the rule and the text of each help about an example."""
    return {(one.code, entry(one.help)) for one in told(example, fixes=fixes) if one.help}


def _proved() -> set[tuple[str, str]]:
    return {one for proof in PROOFS for fixes in (True, False) for one in helps(proof.fault, fixes=fixes)}


@pytest.mark.parametrize("proof", [pytest.param(proof, id=proof.fault.name) for proof in PROOFS])
def test_each_choice_of_a_help_is_followed(proof: Proof) -> None:
    assert len(helps(proof.fault, fixes=True)) == 1, "a proof is about one help"
    choices = {one.help.count(OTHER) + 1 for one in told(proof.fault, fixes=True)}
    assert choices == {len(proof.pairs)}
    for cure, meant in proof.pairs:
        for text in (cure, meant):
            assert not [one for one in mending.found(text) if one.severity is Severity.ERROR]


@pytest.mark.parametrize("proof", [pytest.param(proof, id=proof.fault.name) for proof in PROOFS])
def test_a_cured_program_trains_as_it_was_meant(proof: Proof, real: Callable[[str], Real], tmp_path: Path) -> None:
    for cure, meant in proof.pairs:
        cured = cure or _WRONG.sub("", mending.fixed(proof.fault.program).text)
        assert cured != _WRONG.sub("", proof.fault.program), "there is no fix: write the cure"
        program = tmp_path / "example.py"
        head = f"FRAMEWORK = {proof.fault.framework!r}\nCURED = {cured!r}\nMEANT = {meant!r}\n"
        tail = (
            "meant = run(MEANT)\nassert any(one is not ... for one in meant.values())\nassert_same(run(CURED), meant)\n"
        )
        if ".backward()" in proof.fault.program:
            tail += "assert gradients(list(meant.values()))\n"
        program.write_text(f"{head}{SAME}\n{tail}", encoding="utf-8")
        outcome = real(proof.fault.framework).run(program)
        assert (outcome.verdict, outcome.message) == ("ran", "")


def test_every_help_is_proved() -> None:
    proved = _proved()
    missing: dict[tuple[str, str], str] = {}
    for example in EXAMPLES:
        for one in helps(example, fixes=True) - proved:
            missing.setdefault(one, example.name)
    assert missing == {}


def test_every_text_of_a_help_is_proved() -> None:
    proved = {text for _, text in _proved()}
    instances = [list(texts.instances(form)) for forms in _of_helps() for form in forms]
    assert [some for some in instances if not any(entry(text) in proved for text in some)] == []


def _of_helps() -> Iterator[tuple[str, ...]]:
    """Give the texts of helps that stand in the rules, and those of fixes."""
    for path in sorted((ROOT / "inplace_lint" / "rules").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            yield from (
                texts.forms(text) for text in _helps_in(node) if any(form != "{}" for form in texts.forms(text))
            )
    yield from texts.of_fixes()


def _helps_in(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.Call(func=ast.Name(id="Refusal"), args=args, keywords=keywords):
            yield from args[2:3]
            yield from (one.value for one in keywords if one.arg == "cure")
        case ast.Call(func=ast.Name(id="Draft"), keywords=keywords):
            yield from (one.value for one in keywords if one.arg == "help" and isinstance(one.value, ast.Constant))
        case ast.Assign(targets=[ast.Name(id="_CURES")], value=ast.Dict(values=values)):
            yield from values
        case ast.Assign(targets=[ast.Name(id="cure" | "NEW_TENSOR" | "_CURE")], value=value):
            yield value
        case ast.FunctionDef(name="cure" | "flag_cure"):
            yield from (
                part.value for part in ast.walk(node) if isinstance(part, ast.Return) and part.value is not None
            )
        case _:
            return
