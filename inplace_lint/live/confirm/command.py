"""The option `--confirm`: adds verdicts to the findings of a run, and reads the flagged files before they are run."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import click
from msgspec.structs import replace

from inplace_lint.config.settings import Settings
from inplace_lint.core.errors import InplaceLintError, UnreadableError
from inplace_lint.core.finding import Applicability, Finding, Proof
from inplace_lint.driver.session import Outcome
from inplace_lint.knowledge.locate import framework_names
from inplace_lint.live import launch
from inplace_lint.live.confirm import confirm
from inplace_lint.rules import RULE_OF
from inplace_lint.workspace import files, import_graph

Run = Callable[[Mapping[str, bytes]], tuple[Outcome, dict[str, bytes]]]
_HAS_CUDA = {
    "torch": "import torch; print(torch.cuda.is_available())",
    "paddle": "import paddle; print(paddle.device.cuda.device_count() > 0)",
}


def proved(outcome: Outcome, options: Mapping[str, Any], settings: Settings) -> dict[str, bytes]:
    """
    Add verdicts to the findings of an outcome, and return the texts that a report of them needs.

    The fix of advice that is confirmed is safe.

    Raises: `InplaceLintError` where the interpreter or the device is missing.
    """
    texts: dict[str, bytes] = {}
    for finding in outcome.findings:
        for path in {finding.span.path, *(item.span.path for item in finding.related)} - texts.keys():
            try:
                texts[path] = files.read(Path(path))
            except UnreadableError:
                continue  # standard input, or a cell: the report has their texts
    judged = confirm.confirmed(outcome.findings, _setup(outcome.findings, options, settings))
    outcome.findings = tuple(_released(one, one) if RULE_OF[one.code].unanimous else one for one in judged)
    return texts


def proving(run: Run, options: Mapping[str, Any], settings: Settings) -> Run:
    """Return the same run, where the fix of advice on unchanged files is safe if its proof is there."""
    done: dict[Finding, Finding] = {}

    def prove(texts: Mapping[str, bytes]) -> tuple[Outcome, dict[str, bytes]]:
        outcome, read = run(texts)
        if not texts:
            advice = [one for one in outcome.findings if RULE_OF[one.code].unanimous and one not in done]
            if advice:
                proofs = confirm.confirmed(advice, _setup(advice, options, settings))
                done.update(zip(advice, map(_released, advice, proofs), strict=True))
            outcome.findings = tuple(done.get(one, one) for one in outcome.findings)
        return outcome, read

    return prove


def _released(finding: Finding, proof: Finding) -> Finding:
    """Return a finding whose fix is safe, if it is confirmed."""
    is_proved = proof.verdict is not None and proof.verdict.proof is Proof.CONFIRMED
    if finding.fix is None or not is_proved:
        return finding
    return replace(finding, fix=replace(finding.fix, applicability=Applicability.SAFE))


def _setup(findings: Sequence[Finding], options: Mapping[str, Any], settings: Settings) -> confirm.Setup:
    python = launch.interpreter(options["python"], settings)
    if options["device"] == "cuda":
        _check_cuda(python, {finding.framework for finding in findings if finding.framework} or {"torch"})
    return confirm.Setup(
        python=python,
        device=options["device"],
        seconds=options["confirm_seconds"],
        memory=options["confirm_memory"],
        root=str(settings.root.absolute()),
        probes=settings.probes,
        callers_of=_callers(),
        root_of=_root,
        show_output=_show_output if options["confirm_output"] else lambda _what, _printed: None,
    )


def _show_output(what: str, printed: str) -> None:
    if printed:
        click.echo(f"{what} printed:\n{printed.rstrip()}", err=True)


def _check_cuda(python: str, frameworks: set[str]) -> None:
    for framework in sorted(frameworks):
        try:
            command = [python, "-c", _HAS_CUDA[framework]]
            said = subprocess.run(command, capture_output=True, text=True, check=False).stdout  # noqa: S603 - the user's own
        except OSError as error:
            msg = f"{python}: does not run as a Python interpreter"
            raise InplaceLintError(msg) from error
        if "True" not in said.split():
            msg = f"--device cuda: {framework} sees no CUDA device in {Path(python)}"
            raise InplaceLintError(msg)


def _root(path: str) -> str:
    return str(Path(import_graph.root_of(Path(path))).absolute())


def _callers() -> Callable[[str], Sequence[str]]:
    """Return what finds the files of a project that import something from one; each project is listed once."""
    graph_of = cache(lambda root: import_graph.Graph(root, framework_names(), {}, {}))
    return lambda path: graph_of(import_graph.root_of(Path(path))).callers(files.shown(Path(path)))
